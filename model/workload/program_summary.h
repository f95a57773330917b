// SPDX-License-Identifier: Apache-2.0
// What a kernel's program will execute, computed without running it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "workload/workload.h"

namespace smk {

extern const std::array<const char*, kNumOpClasses> kOpClassNames;  // as in workload files

// One memory instruction of the program.
struct AccessSummary {
  OpClass op = OpClass::kLoadGlobal;
  std::string array;
  int line = 0;           // of the workload file
  double executions = 0;  // per warp
  double lines = 0;       // distinct 128-byte lines per execution, mean of sampled warps and trips
};

// Expected values over all warps of a launch.
struct ProgramSummary {
  double warp_instructions = 0;                  // per warp
  std::array<double, kNumOpClasses> by_class{};  // per warp
  std::vector<AccessSummary> accesses;           // in program order
  double lines_per_warp = 0;                     // global memory, all accesses
  double load_use_distance = 0;  // instructions from a global load to its first use; 0: no load
  double alu_use_distance = 0;   // the same from ALU, integer-multiply and SFU instructions

  double OfClass(OpClass op) const { return by_class[static_cast<unsigned>(op)]; }
};

ProgramSummary Summarise(const KernelSpec& kernel);

}  // namespace smk
