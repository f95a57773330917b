// SPDX-License-Identifier: Apache-2.0
// Parts of a plan: by experiment, by a list of ids, by shard.
#pragma once

#include <string>
#include <vector>

#include "sweep/plan.h"

namespace smk::sim {

// Keeps the runs of some experiments and the isolated runs that they need. Throws InputError for a
// name that is not in the plan.
void KeepExperiments(const std::vector<std::string>& names, SweepPlan* plan);

// Keeps the runs whose ids the file lists. Throws InputError for one that is not in the plan.
void KeepListed(const std::string& path, SweepPlan* plan);

// Indices of the runs of part K of N, of `text` "K/N" ("": all of them): every N-th run.
std::vector<std::size_t> ShardRuns(const SweepPlan& plan, const std::string& text);

}  // namespace smk::sim
