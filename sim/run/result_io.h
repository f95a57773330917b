// SPDX-License-Identifier: Apache-2.0
// RunResult as JSON and back, without loss: between processes and in the cache. Not an output
// format.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/run.h"

namespace smk::sim {

nlohmann::json ToJson(const RunResult& result);

// Throws nlohmann::json::exception when `json` is not what ToJson gives.
RunResult FromJson(const nlohmann::json& json);

}  // namespace smk::sim
