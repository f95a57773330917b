// SPDX-License-Identifier: Apache-2.0
// The best that a fixed sharing of the GPU can do: [Warped-Slicer] Sec. V-A calls it Oracle.
#pragma once

#include <string>
#include <vector>

#include "run/runner.h"

namespace smk::sim {

inline constexpr const char* kOracle = "oracle";

// The policies of which it is the best: left-over, even, spatial, and each number of TBs per SM of
// each kernel that fits. Throws InputError when they are more than 5,000, or no table fits.
std::vector<Policy> OracleCandidates(const Experiment& experiment);

// Runs all of them, and the one with the highest STP once more with `recording`. The policy of the
// result is named "oracle:" and the best, "oracle:table:3,4".
Results RunOracle(const Experiment& experiment, const Recording& recording, Runner* runner);

}  // namespace smk::sim
