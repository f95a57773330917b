// SPDX-License-Identifier: Apache-2.0
// Where the scheduler cycles of one SM go.
#pragma once

#include <array>
#include <cstdint>

#include "machine/run.h"

namespace smk {

// Counts stalled scheduler cycles by reason and kernel; issues are counted by the SM itself.
class StallAccount {
 public:
  static constexpr unsigned kNobody = kMaxKernels;  // no kernel to charge: the scheduler is empty

  void Charge(Stall reason, unsigned kernel, Cycle cycles) {
    cycles_[kernel][static_cast<unsigned>(reason)] += cycles;
  }
  std::uint64_t of_kernel(unsigned kernel, Stall reason) const {
    return cycles_[kernel][static_cast<unsigned>(reason)];
  }
  std::uint64_t total(Stall reason) const {
    std::uint64_t sum = 0;
    for (const auto& row : cycles_) sum += row[static_cast<unsigned>(reason)];
    return sum;
  }

 private:
  std::array<std::array<std::uint64_t, kNumStalls>, kMaxKernels + 1> cycles_{};
};

}  // namespace smk
