// SPDX-License-Identifier: Apache-2.0
// Sm: the part of stall attribution that every cycle has; see sm_stalls.cc.
#pragma once

#include "machine/sm/sm.h"

namespace smk {

// Cycles in which there is no choice whom to charge, and no warp is skipped. `Warps`: of a
// scheduler at most, so that the masks are constants. `Ordinary`: all runnable warps that have
// their data are in `ready` or `busy`, and each scheduler with ready ones grants one (Finish()
// finds it where one does not). In any other cycle some may have become runnable since.
template <unsigned Warps, bool Ordinary>
[[gnu::always_inline]] inline void Sm::AccountSole(LaneMask granted, LaneMask ready, LaneMask busy,
                                                   unsigned cycles) {
  constexpr LaneLayout kLayout(Warps);
  if (!Ordinary) {
    const LaneMask none = kLayout.LastLanesIn(ready) & ~kLayout.LastLanesIn(granted);
    tally_.NoteUngranted(kLayout.CountOf(none), cycles);
  }
  // Two masks at a time, in one register of the host.
  using Pair = StallMasks::Pair;
  const LaneMask pipe = ready | busy;
  const Pair first = {pipe, pipe};
  const LaneMask may = Ordinary ? runnable_ : runnable_ & ~data_ready_;
  const Pair reasons = {reason_lanes_[kShort], reason_lanes_[kMemory]};
  const Pair short_first = {0, reasons[0]};
  const Pair waiting = Pair{may, may} & (reasons | short_first);
  const Pair others = Ordinary ? Pair{reason_lanes_[kAtBarrier], unfetched_}
                               : Pair{~(waiting[1] | ForInstruction()), unfetched_};
  const StallMasks masks = {Pair{ready, pipe}, first | waiting,
                            first | (Pair{runnable_, waiting[1]} & ~others)};
  LaneMask unsure = tally_.Note<Warps>(masks, cycles);
  while (__builtin_expect(unsure != 0, 0)) {
    const LaneMask field = kLayout.SchedulerField(kLayout.SchedulerOf(LowestLane(unsure)));
    MoveStalls(SimStall::kData, waiting[1] & field, cycles);
    unsure &= ~field;
  }
  if (__builtin_expect(tally_.room() == 0, 0)) TakeTally();
}

template <bool Ordinary>
[[gnu::always_inline]] inline void Sm::AccountInline(LaneMask granted, LaneMask ready,
                                                     LaneMask busy, unsigned cycles) {
  if (tallied_warps_ == 16) {
    AccountSole<16, Ordinary>(granted, ready, busy, cycles);
  } else if (tallied_warps_ == 32) {
    AccountSole<32, Ordinary>(granted, ready, busy, cycles);
  } else {
    AccountEach(granted, ready, busy, cycles);
  }
}

}  // namespace smk
