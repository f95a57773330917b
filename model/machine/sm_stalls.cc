// SPDX-License-Identifier: Apache-2.0
// Sm: why schedulers do not issue.
//
// A scheduler cycle without an issue gets the first reason of this list that holds:
//   quota       a warp was ready and the control plane granted none
//   pipeline    a warp has its instruction and operands, but the port is busy
//   data        a warp waits for an operand: short if any waits for such a result, else memory
//   control     a warp waits for its next instruction
//   barrier     a warp waits at a barrier
//   preemption  there are warps, all of TBs that are stopped or not yet activated
//   empty       no warp on the scheduler that has not exited
// The kernel charged is that of the oldest warp to which the reason applies. How the simulator that
// the papers use counts the same cycles: sm_sim_stalls.cc.
#include "machine/sm_account.h"

namespace smk {

std::array<std::uint64_t, kNumReasons + 1> StallTally::Take(const LaneLayout& layout,
                                                            unsigned schedulers) {
  std::array<std::uint64_t, kNumReasons + 1> empty{}, cycles{};
  for (unsigned i = 0; i < empty.size(); ++i) {
    const LaneMask counts = empty_[i / 2][i % 2];
    for (unsigned s = 0; s < schedulers; ++s) {
      empty[i] += (counts >> layout.LaneOf(s, 0)) & layout.SchedulerField(0);
    }
  }
  for (unsigned r = 0; r < kNumReasons; ++r) cycles[r] = empty[r] - empty[r + 1];
  cycles[kNumReasons] = empty[kNumReasons];
  *this = StallTally{};
  return cycles;
}

// All warps were of one kernel.
[[gnu::noinline]] void Sm::TakeTally() {
  if (tally_.room() == StallTally::kRoom) return;
  const auto cycles = tally_.Take(layout_, config_.schedulers);
  for (unsigned r = 0; r < kNumReasons; ++r) {
    stalls_.Charge(kReasons[r], sole_kernel_, cycles[r]);
  }
  stalls_.Charge(Stall::kEmpty, StallAccount::kNobody, cycles[kNumReasons]);
}

// Scheduler by scheduler. `seen`: what the papers' simulator looks at.
template <unsigned Warps>
[[gnu::always_inline]] inline void Sm::ChargeEach(LaneMask granted, LaneMask ready, LaneMask busy,
                                                  Cycle cycles) {
  constexpr LaneLayout kLayout(Warps);
  const LaneMask seen = gated_ ? runnable_ & ~Skipped() : runnable_;
  const LaneMask waiting = runnable_ & ~data_ready_;
  const LaneMask data = waiting & (reason_lanes_[kShort] | reason_lanes_[kMemory]) & seen;
  const std::array<LaneMask, kNumReasons + 1> having = {ready,
                                                        busy,
                                                        waiting & reason_lanes_[kShort],
                                                        waiting & reason_lanes_[kMemory],
                                                        runnable_ & reason_lanes_[kControl],
                                                        runnable_,
                                                        live_,
                                                        ~LaneMask{0}};
  const unsigned all = (1u << config_.schedulers) - 1;
  LaneMask stalled = kLayout.LastLanesOf(all) & ~kLayout.LastLanesIn(granted);
  for (; stalled != 0; stalled &= stalled - 1) {
    const LaneMask field = kLayout.FieldsOf(stalled & -stalled);
    unsigned r = 0;
    while ((having[r] & field) == 0) ++r;
    const unsigned kernel =
        r == kNumReasons ? StallAccount::kNobody : kernel_of_[Oldest(having[r] & field)];
    stalls_.Charge(kReasons[r], kernel, cycles);
    if (r < 2) {
      if (skips_ && ((ready | busy) & seen & field) == 0) {
        MoveStalls(SimStall::kPipeline, data & field, cycles);
      }
    } else if (r < 4 && (data & field & ~unfetched_) == 0) {
      MoveStalls(SimStall::kData, data & field, cycles);
    }
  }
}

// Who may be charged differs from scheduler to scheduler.
[[gnu::noinline]] void Sm::AccountEach(LaneMask granted, LaneMask ready, LaneMask busy,
                                       Cycle cycles) {
  if (layout_.lanes_per_scheduler() == 16) {
    ChargeEach<16>(granted, ready, busy, cycles);
  } else {
    ChargeEach<32>(granted, ready, busy, cycles);
  }
}

void Sm::Account(LaneMask granted) { AccountInline(granted, ready_, busy_, 1); }

void Sm::AccountSleep(Cycle cycles) {
  const LaneMask busy = data_ready_ & runnable_;  // those that wait for a port
  for (; cycles > StallTally::kRoom; cycles -= StallTally::kRoom) {
    accounted_ += StallTally::kRoom;
    AccountInline(0, 0, busy, StallTally::kRoom);
  }
  accounted_ += cycles;
  AccountInline(0, 0, busy, static_cast<unsigned>(cycles));
}

}  // namespace smk
