// SPDX-License-Identifier: Apache-2.0
// Counts the warp instructions that an SM issues.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "machine/lanes.h"
#include "workload/program.h"

namespace smk {

// By kernel slot, class of instruction, and threads that a warp lacks to be full: a warp keeps
// where its own are counted, so that a count is one addition.
class Issues {
 public:
  // Where those of a warp are.
  static std::uint16_t Account(unsigned kernel, unsigned missing) {
    return static_cast<std::uint16_t>((kernel * kWarpThreads + missing) * kRow);
  }
  void Count(std::uint16_t account, unsigned op) { ++counts_[account + op]; }

  std::uint64_t Of(unsigned kernel, unsigned missing) const {
    const auto row = counts_.begin() + Account(kernel, missing);
    return std::accumulate(row, row + kRow, std::uint64_t{0});
  }
  std::uint64_t Of(unsigned kernel, OpClass op) const {
    std::uint64_t sum = 0;
    for (unsigned missing = 0; missing < kWarpThreads; ++missing) {
      sum += counts_[Account(kernel, missing) + static_cast<unsigned>(op)];
    }
    return sum;
  }

 private:
  static constexpr unsigned kRow = 16;
  static_assert(kNumOpClasses <= kRow && kNumKernels * kWarpThreads * kRow <= 0xffff);
  alignas(64) std::array<std::uint64_t, kNumKernels * kWarpThreads * kRow> counts_{};
};

}  // namespace smk
