// SPDX-License-Identifier: Apache-2.0
// Writes a workload as an Accel-Sim trace: version 5, opcodes of compute capability 6.1.
#pragma once

#include <cstdint>
#include <string>

#include "workload/workload.h"

namespace smk {

// What is written.
struct TraceExport {
  std::string folder;                  // created if it is not there
  std::uint32_t tbs = 0;               // the first TBs of each launch; 0: all
  std::size_t launches = 0;            // the first launches; 0: until each kernel was launched once
  std::uint64_t max_instructions = 0;  // of a warp, its exit besides; 0: all
  std::uint64_t seed = 1;              // of the draws
};

// What was written.
struct TraceExported {
  std::size_t kernels = 0;
  std::uint64_t tbs = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t bytes = 0;
};

// Writes kernelslist.g and one file per launch. Read back, the trace gives the same statistics as
// the workload does with the same TBs: the instructions, their places in the code, their registers
// and the lines and bank conflicts of their accesses are the same. Throws InputError, and
// std::system_error when writing fails: what was half written is removed then, and there is no
// kernelslist.g.
TraceExported ExportTrace(const Workload& workload, const TraceExport& options);

// The number of launches that `launches` = 0 stands for.
std::size_t LaunchesOfAllKernels(const Workload& workload);

}  // namespace smk
