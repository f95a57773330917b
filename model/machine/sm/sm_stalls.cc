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
#include "machine/sm/sm_account.h"

namespace smk {

std::array<std::uint64_t, kNumReasons + 1> StallTally::Take(const LaneLayout& layout,
                                                            unsigned schedulers) {
  CountIdle();
  // By reason: cycles without a warp that has it or one before it. The last two are idle_.
  std::array<std::uint64_t, kNumReasons> without{};
  for (unsigned i = 0; i < kNumReasons - 2; ++i) {
    const LaneMask counts = without_[i / 2][i % 2];
    for (unsigned s = 0; s < schedulers; ++s) {
      without[i] += -(counts >> layout.LaneOf(s, 0)) & layout.SchedulerField(0);
    }
  }
  without[kNumReasons - 2] = halted_;
  without[kNumReasons - 1] = empty_;
  std::array<std::uint64_t, kNumReasons + 1> cycles{};
  cycles[0] = ungranted_;
  for (unsigned r = 1; r < kNumReasons; ++r) cycles[r] = without[r - 1] - without[r];
  cycles[kNumReasons] = empty_;
  const Idle idle = idle_;
  *this = StallTally{};
  idle_ = idle;
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

// One scheduler, of which no warp is ready or waits for a port or for data; `field` are its lanes.
[[gnu::noinline]] void Sm::ChargeWaiting(LaneMask field, Cycle cycles) {
  const LaneMask runnable = runnable_ & field;
  if (const LaneMask lanes = runnable & ForInstruction(); lanes != 0) {
    stalls_.Charge(Stall::kControl, kernel_of_[Oldest(lanes)], cycles);
  } else if (runnable != 0) {
    stalls_.Charge(Stall::kBarrier, kernel_of_[Oldest(runnable)], cycles);
  } else if (const LaneMask lanes = live_ & field; lanes != 0) {
    stalls_.Charge(Stall::kPreemption, kernel_of_[Oldest(lanes)], cycles);
  } else {
    stalls_.Charge(Stall::kEmpty, StallAccount::kNobody, cycles);
  }
}

// Who may be charged differs from scheduler to scheduler.
template <unsigned Warps>
[[gnu::always_inline]] inline void Sm::ChargeEach(LaneMask granted, LaneMask ready, LaneMask busy,
                                                  Cycle cycles) {
  constexpr LaneLayout kLayout(Warps);
  const LaneMask at_pipe = ready | busy;
  const LaneMask at_short = runnable_ & ~data_ready_ & reason_lanes_[kShort];
  const LaneMask at_data = at_short | (runnable_ & ~data_ready_ & reason_lanes_[kMemory]);
  const LaneMask seen = at_data & Seen();
  const LaneMask fetched = seen & ~unfetched_;
  LaneMask stalled = shape_.all_schedulers & ~kLayout.LastLanesIn(granted);
  for (; stalled != 0; stalled &= stalled - 1) {
    const LaneMask field = kLayout.FieldsOf(stalled & -stalled);
    if (const LaneMask lanes = at_pipe & field; lanes != 0) {
      if (const LaneMask granting = ready & field; granting != 0) {
        stalls_.Charge(Stall::kQuota, kernel_of_[Oldest(granting)], cycles);
      } else {
        stalls_.Charge(Stall::kPipeline, kernel_of_[Oldest(lanes)], cycles);
      }
      if (skips_ && (lanes & Seen()) == 0) MoveStalls(SimStall::kPipeline, seen & field, cycles);
    } else if ((at_data & field) != 0) {
      if (const LaneMask shorts = at_short & field; shorts != 0) {
        stalls_.Charge(Stall::kDataShort, kernel_of_[Oldest(shorts)], cycles);
      } else {
        stalls_.Charge(Stall::kDataMemory, kernel_of_[Oldest(at_data & field)], cycles);
      }
      if ((fetched & field) == 0) MoveStalls(SimStall::kData, seen & field, cycles);
    } else {
      ChargeWaiting(field, cycles);
    }
  }
}

// Warps have come or exited. Those that exit in this cycle belong to it.
void Sm::AccountChanged(LaneMask granted, LaneMask ready, LaneMask busy, unsigned cycles) {
  const LaneMask pipe = ready | busy;
  lanes_changed_ = false;
  FindTallied();
  tally_.SetIdle({Without(runnable_ | pipe), Without(live_ | pipe)});
  AccountInline<false>(granted, ready, busy, cycles);
  tally_.SetIdle({Without(runnable_), Without(live_)});
}

[[gnu::noinline]] void Sm::AccountEach(LaneMask granted, LaneMask ready, LaneMask busy,
                                       unsigned cycles) {
  if (lanes_changed_) return AccountChanged(granted, ready, busy, cycles);
  if (layout_.lanes_per_scheduler() == 16) {
    ChargeEach<16>(granted, ready, busy, cycles);
  } else {
    ChargeEach<32>(granted, ready, busy, cycles);
  }
}

void Sm::Account(LaneMask granted) { AccountInline<false>(granted, ready_, busy_, 1); }

void Sm::AccountSleep(Cycle cycles) {
  const LaneMask busy = data_ready_ & runnable_;  // those that wait for a port
  while (cycles != 0) {
    const auto some = static_cast<unsigned>(std::min<Cycle>(cycles, tally_.room()));
    accounted_ += some;
    cycles -= some;
    AccountInline<true>(0, 0, busy, some);
  }
}

}  // namespace smk
