// SPDX-License-Identifier: Apache-2.0
// How long the TBs of a kernel are beside each other, found without a machine.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/workload.h"

namespace smk {

// Warp instructions of the first warp of each TB, with the same draws for all. Empty: nothing in
// the program depends on which TB it is, or the kernel is a trace or has no program.
std::vector<std::uint64_t> TbLengths(const KernelSpec& kernel);

}  // namespace smk
