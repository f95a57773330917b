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
#include "machine/sm.h"

namespace smk {

// Warps that the schedulers do not look at, besides those of stopped TBs.
inline LaneMask Sm::Skipped() {
  if (!gated_) return 0;
  if (skipped_stale_) FindSkipped();
  return skipped_;
}

// For all schedulers at once; each takes the first mask that has one of its lanes. `sure`: the
// papers' simulator has the reason that goes with ours. `Sole`: there is no choice whom to charge,
// and no warp is skipped. `Warps`: of a scheduler at most, so that the masks are constants.
template <bool Sole, unsigned Warps>
[[gnu::noinline]] void Sm::ChargeAll(unsigned schedulers, LaneMask ready, LaneMask busy,
                                     Cycle cycles) {
  constexpr LaneLayout kLayout(Warps);
  LaneMask rest = kLayout.LastLanesOf(schedulers);  // of the schedulers without a reason yet
  const auto take = [&](Stall reason, LaneMask lanes) __attribute__((always_inline)) {
    const LaneMask having = kLayout.LastLanesIn(lanes) & rest;
    if (having == 0) return;
    rest ^= having;
    if (Sole) {
      stalls_.Charge(reason, sole_kernel_, kLayout.CountOf(having) * cycles);
    } else {
      ChargeOldest(kLayout, reason, lanes, having, cycles);
    }
  };
  const LaneMask seen = Sole ? runnable_ : runnable_ & ~Skipped();
  const LaneMask all = rest;
  take(Stall::kQuota, ready);
  take(Stall::kPipeline, busy);
  LaneMask unsure = 0;
  if (!Sole && skips_ && rest != all)
    unsure = (all ^ rest) & ~kLayout.LastLanesIn((ready | busy) & seen);
  if (rest != 0) {
    const LaneMask waiting = runnable_ & ~data_ready_;
    const LaneMask before = rest;
    take(Stall::kDataShort, waiting & reason_lanes_[kShort]);
    take(Stall::kDataMemory, waiting & reason_lanes_[kMemory]);
    const LaneMask data = waiting & seen & (reason_lanes_[kShort] | reason_lanes_[kMemory]);
    unsure |= (before ^ rest) & ~kLayout.LastLanesIn(data & ~unfetched_);
    if (rest != 0) {
      take(Stall::kControl, runnable_ & reason_lanes_[kControl]);
      take(Stall::kBarrier, runnable_);
      take(Stall::kPreemption, live_);
      stalls_.Charge(Stall::kEmpty, StallAccount::kNobody, kLayout.CountOf(rest) * cycles);
    }
  }
  if (unsure != 0) MoveStalls(unsure, ready | busy, seen, cycles);
}

inline void Sm::ChargeStalls(unsigned schedulers, LaneMask ready, LaneMask busy, Cycle cycles) {
  const bool sole = sole_kernel_ != kNumKernels && !skips_;
  if (layout_.lanes_per_scheduler() == 16) {
    sole ? ChargeAll<true, 16>(schedulers, ready, busy, cycles)
         : ChargeAll<false, 16>(schedulers, ready, busy, cycles);
  } else {
    sole ? ChargeAll<true, 32>(schedulers, ready, busy, cycles)
         : ChargeAll<false, 32>(schedulers, ready, busy, cycles);
  }
}

void Sm::Account(std::uint8_t grants) {
  const unsigned stalled = ((1u << config_.schedulers) - 1) & ~grants;
  if (stalled != 0) ChargeStalls(stalled, ready_, busy_, 1);
}

void Sm::AccountSleep(Cycle cycles) {
  accounted_ += cycles;
  const unsigned all = (1u << config_.schedulers) - 1;
  ChargeStalls(all, 0, data_ready_ & runnable_, cycles);  // those that wait for a port
}

// To the kernel of the oldest of the lanes, for each of the schedulers `having` them.
[[gnu::always_inline]] inline void Sm::ChargeOldest(LaneLayout layout, Stall reason, LaneMask lanes,
                                                    LaneMask having, Cycle cycles) {
  lanes &= layout.FieldsOf(having);
  const unsigned kernel = warps_[LowestLane(lanes)].kernel;
  if ((lanes & ~kernel_lanes_[kernel]) == 0) {
    stalls_.Charge(reason, kernel, layout.CountOf(having) * cycles);
  } else if ((having & (having - 1)) == 0) {
    stalls_.Charge(reason, OldestKernel(layout.SchedulerOf(LowestLane(having)), lanes), cycles);
  } else {
    ChargeEach(reason, lanes, having, cycles);
  }
}

[[gnu::noinline]] void Sm::ChargeEach(Stall reason, LaneMask lanes, LaneMask having, Cycle cycles) {
  for (; having != 0; having &= having - 1) {
    const unsigned s = layout_.SchedulerOf(LowestLane(having));
    const LaneMask mine = lanes & layout_.SchedulerField(s);
    const unsigned kernel = warps_[LowestLane(mine)].kernel;
    const bool alone = (mine & ~kernel_lanes_[kernel]) == 0;
    stalls_.Charge(reason, alone ? kernel : OldestKernel(s, mine), cycles);
  }
}

[[gnu::noinline]] unsigned Sm::OldestKernel(unsigned scheduler, LaneMask lanes) const {
  const unsigned first = layout_.LaneOf(scheduler, 0);
  const std::uint8_t* age = age_order_[scheduler].data();
  while ((lanes & LaneBit(first + *age)) == 0) ++age;  // one of them is the oldest
  return warps_[first + *age].kernel;
}

}  // namespace smk
