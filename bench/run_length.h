// SPDX-License-Identifier: Apache-2.0
// How long a run of a benchmark is.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace smk {

// What the environment variable SMK_BENCH_CYCLES says, or `usual`.
inline std::uint64_t RunLength(std::uint64_t usual) {
  const char* cycles = std::getenv("SMK_BENCH_CYCLES");
  return cycles == nullptr ? usual : std::stoull(cycles);
}

}  // namespace smk
