// SPDX-License-Identifier: Apache-2.0
// Where the scheduler cycles of one SM go.
#pragma once

#include <array>
#include <cstdint>

#include "machine/lanes.h"
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

// The reasons in the order in which they are looked for.
inline constexpr unsigned kNumReasons = 7;
inline constexpr std::array<Stall, kNumReasons + 1> kReasons = {
    Stall::kQuota,   Stall::kPipeline, Stall::kDataShort,  Stall::kDataMemory,
    Stall::kControl, Stall::kBarrier,  Stall::kPreemption, Stall::kEmpty};

// What one cycle looks like: warps with each reason or one before it, so that each mask has all of
// the one before. `fetched`: of `memory`, those that have their instruction.
struct StallMasks {
  typedef LaneMask Pair __attribute__((vector_size(16)));
  Pair ready_pipe, data_short_memory, control_fetched;
};

// Counts for all schedulers at once in how many cycles a mask had none of their lanes. What has the
// first of two masks empty and not the second has the reason of the second.
class StallTally {
 public:
  // So many cycles can be noted until the counts must be taken.
  static constexpr unsigned kRoom = 0x7fff;

  unsigned room() const { return room_; }
  // Schedulers without a runnable warp, and those without one that has not exited.
  struct Idle {
    unsigned halted = 0, empty = 0;
  };
  // From now on.
  void SetIdle(const Idle& idle) {
    CountIdle();
    idle_ = idle;
  }
  // So many schedulers have ready warps and grant none.
  void NoteUngranted(unsigned schedulers, unsigned cycles) {
    ungranted_ += schedulers * std::uint64_t{cycles};
  }
  // `cycles`: at most room(). Returns the lanes of schedulers whose warps wait for data, and have
  // no instruction yet.
  template <unsigned Warps>
  [[gnu::always_inline]] LaneMask Note(const StallMasks& m, unsigned cycles) {
    using Field = std::conditional_t<LaneLayout(Warps).lanes_per_scheduler() == 16, std::int16_t,
                                     std::int32_t>;
    using Pair = StallMasks::Pair;
    typedef Field Fields __attribute__((vector_size(16)));
    const auto note = [this, cycles](unsigned i, Pair pair) {
      const Fields none = (Fields)pair == 0;  // -1 in a field that is empty
      without_[i] = (Pair)((Fields)without_[i] + (none & static_cast<Field>(-cycles)));
      return (Pair)none;
    };
    note(0, m.ready_pipe);
    const Pair data = note(1, m.data_short_memory);
    const Pair rest = note(2, m.control_fetched);
    room_ -= cycles;
    return (rest & ~data)[1];
  }
  // Scheduler cycles by reason, without the schedulers that do not exist; and begins anew.
  std::array<std::uint64_t, kNumReasons + 1> Take(const LaneLayout& layout, unsigned schedulers);

 private:
  static constexpr unsigned kPairs = sizeof(StallMasks) / sizeof(StallMasks::Pair);
  std::array<StallMasks::Pair, kPairs>
      without_{};  // fields of counts: minus the cycles without a lane
  // Of the cycles that were noted since.
  void CountIdle() {
    const std::uint64_t cycles = idle_counted_ - room_;
    halted_ += idle_.halted * cycles;
    empty_ += idle_.empty * cycles;
    idle_counted_ = room_;
  }

  std::uint64_t ungranted_ = 0, halted_ = 0, empty_ = 0;
  Idle idle_;
  unsigned idle_counted_ = kRoom;  // room_ when they were counted
  unsigned room_ = kRoom;
};

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
