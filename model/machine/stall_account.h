// SPDX-License-Identifier: Apache-2.0
// Where the scheduler cycles of one SM go.
#pragma once

#include <array>
#include <cstdint>

#include "machine/run.h"

namespace smk {

// What the papers' simulator calls a cycle of this reason when it looks at all warps of the
// scheduler and their instructions are fetched.
constexpr SimStall SimStallOf(Stall reason) {
  switch (reason) {
    case Stall::kPipeline:
    case Stall::kQuota:
      return SimStall::kPipeline;
    case Stall::kDataMemory:
    case Stall::kDataShort:
      return SimStall::kData;
    default:
      return SimStall::kControl;
  }
}

// Counts stalled scheduler cycles by reason and kernel; issues are counted by the SM itself. Of the
// simulator's reasons it keeps only where they differ from SimStallOf(): see sm_sim_stalls.cc.
class StallAccount {
 public:
  static constexpr unsigned kNobody = kNumKernels;  // no kernel to charge: the scheduler is empty

  void Charge(Stall reason, unsigned kernel, Cycle cycles) {
    cycles_[kernel][static_cast<unsigned>(reason) - 1] += cycles;
  }
  // The simulator calls so many of the cycles something else.
  void Move(SimStall from, SimStall to, Cycle cycles) {
    moved_[static_cast<unsigned>(from)] -= cycles;
    moved_[static_cast<unsigned>(to)] += cycles;
  }
  std::uint64_t of_kernel(unsigned kernel, Stall reason) const {
    return reason == Stall::kIssued ? 0 : cycles_[kernel][static_cast<unsigned>(reason) - 1];
  }
  std::uint64_t total(Stall reason) const {
    std::uint64_t sum = 0;
    for (unsigned k = 0; k < cycles_.size(); ++k) sum += of_kernel(k, reason);
    return sum;
  }
  std::array<std::uint64_t, kNumSimStalls> sim() const {
    auto sum = moved_;
    for (unsigned r = 0; r < kNumStalls; ++r) {
      const auto reason = static_cast<Stall>(r);
      sum[static_cast<unsigned>(SimStallOf(reason))] += total(reason);
    }
    return sum;
  }

 private:
  static_assert(static_cast<unsigned>(Stall::kIssued) == 0);
  // A row is a cache line of the host: without issues.
  alignas(64) std::array<std::array<std::uint64_t, kNumStalls - 1>, kNumKernels + 1> cycles_{};
  std::array<std::uint64_t, kNumSimStalls> moved_{};  // differences, modulo 2^64
};

}  // namespace smk
