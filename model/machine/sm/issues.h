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
// where its own are counted, so that a count is one addition. So it stays where it is.
class Issues {
 public:
  Issues() = default;
  Issues(const Issues&) = delete;
  Issues& operator=(const Issues&) = delete;

  // Where those of a warp are, by class.
  std::uint64_t* Account(unsigned kernel, unsigned missing) {
    return &counts_[Row(kernel, missing)];
  }

  std::uint64_t Of(unsigned kernel, unsigned missing) const {
    const auto row = counts_.begin() + Row(kernel, missing);
    return std::accumulate(row, row + kRow, std::uint64_t{0});
  }
  std::uint64_t Of(unsigned kernel, OpClass op) const {
    std::uint64_t sum = 0;
    for (unsigned missing = 0; missing < kWarpThreads; ++missing) {
      sum += counts_[Row(kernel, missing) + static_cast<unsigned>(op)];
    }
    return sum;
  }

 private:
  static constexpr unsigned kRow = 16;
  static_assert(kNumOpClasses <= kRow);
  static unsigned Row(unsigned kernel, unsigned missing) {
    return (kernel * kWarpThreads + missing) * kRow;
  }
  alignas(64) std::array<std::uint64_t, kNumKernels * kWarpThreads * kRow> counts_{};
};

}  // namespace smk
