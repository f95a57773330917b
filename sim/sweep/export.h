// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/database.h"
#include "sweep/store.h"

namespace smk::sim {

// One column of the row: a whole number, a number, a text or null.
nlohmann::ordered_json JsonCell(const Statement& row, int column);

// Writes the runs of the store, failed ones too, in an order that does not depend on when they were
// made. `runs` are the ids to write; without it, all.

// One row for each run: the columns of the view `results`, and some of each kernel.
void ExportCsv(SweepStore* store, const std::optional<std::vector<std::string>>& runs,
               std::FILE* out);
// Everything: each run with its kernels, SMs, stalls and preemptions.
void ExportJson(SweepStore* store, const std::optional<std::vector<std::string>>& runs,
                std::FILE* out);

}  // namespace smk::sim
