// SPDX-License-Identifier: Apache-2.0
// Sm: the part of stall attribution that every cycle has; see sm_stalls.cc.
#pragma once

#include "machine/sm.h"

namespace smk {

// Cycles in which there is no choice whom to charge, and no warp is skipped. `Warps`: of a
// scheduler at most, so that the masks are constants.
template <unsigned Warps>
[[gnu::always_inline]] inline void Sm::AccountSole(LaneMask granted, LaneMask ready, LaneMask busy,
                                                   unsigned cycles) {
  constexpr LaneLayout kLayout(Warps);
  if (__builtin_expect(tally_.room() < cycles, 0)) TakeTally();
  const LaneMask at_pipe = ready | busy;
  const LaneMask short_lanes = reason_lanes_[kShort];
  const LaneMask waiting = runnable_ & ~data_ready_ & (short_lanes | reason_lanes_[kMemory]);
  ReasonUnions unions;
  unions[0] = granted;
  unions[1] = ready;
  unions[2] = at_pipe;
  unions[3] = at_pipe | (waiting & short_lanes);
  unions[4] = at_pipe | waiting;
  unions[5] = unions[4] | (runnable_ & reason_lanes_[kControl]);
  unions[6] = unions[5] | runnable_;
  unions[7] = unions[6] | live_;
  tally_.Note<Warps>(unions, cycles);
  if ((waiting & unfetched_) == 0) return;
  const LaneMask fetched = at_pipe | (waiting & ~unfetched_);
  LaneMask unsure = kLayout.LastLanesIn(unions[4]) & ~kLayout.LastLanesIn(fetched);
  for (; unsure != 0; unsure &= unsure - 1) {
    MoveStalls(SimStall::kData, waiting & kLayout.FieldsOf(unsure & -unsure), cycles);
  }
}

[[gnu::always_inline]] inline void Sm::AccountInline(LaneMask granted, LaneMask ready,
                                                     LaneMask busy, unsigned cycles) {
  if (sole_kernel_ == kNumKernels || skips_) return AccountEach(granted, ready, busy, cycles);
  if (layout_.lanes_per_scheduler() == 16) {
    AccountSole<16>(granted, ready, busy, cycles);
  } else {
    AccountSole<32>(granted, ready, busy, cycles);
  }
}

}  // namespace smk
