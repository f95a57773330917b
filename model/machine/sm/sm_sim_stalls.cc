// SPDX-License-Identifier: Apache-2.0
// Sm: stalls as the papers' simulator counts them.
//
// A scheduler cycle without an issue has one of three reasons there (GPGPU-Sim of November 2014,
// scheduler_unit::cycle). The scheduler looks at its warps, but not at those of a TB that is
// stopped or not activated, nor at those whose kernel has spent its quota: they are skipped.
//   control   no warp that it looks at has a valid instruction: all have exited, wait at a barrier,
//             or have an empty instruction buffer; or it looks at none
//   data      some have one, and no such instruction passes the scoreboard
//   pipeline  one passes, but its pipe is busy
// Our own reasons (sm_stalls.cc) look at all warps, and a warp whose operands come after its
// instruction waits for data from the start. Where neither matters each of ours is one of the three
// (SimStallOf); so only the cycles that differ are counted here, as moved from one to another.
#include "machine/sm/sm.h"

namespace smk {

// Since quotas were spent or loaded, or warps placed.
LaneMask Sm::FindSkipped() {
  static_assert(kMaxKernels == 8 && kMaxSchedulers == 4, "bit 8 s + k of with_quota_");
  skipped_ = 0;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    LaneMask spent = ~(with_quota_ >> k) & 0x01010101u;  // bits 0, 8, 16 and 24
    spent = spent * 0x204081 >> 21 & 0xf;                // bits 0 to 3
    skipped_ |=
        kernel_lanes_[k] & layout_.FieldsOf(layout_.LastLanesOf(static_cast<unsigned>(spent)));
  }
  skipped_stale_ = false;
  return skipped_;
}

// Of a scheduler that may have another reason than ours, which is pipeline or data. `waiting`: its
// warps that wait for data and are looked at.
void Sm::MoveStalls(SimStall ours, LaneMask waiting, Cycle cycles) {
  const Cycle control = Unfetched(waiting, cycles);
  stalls_.Move(ours, SimStall::kControl, control);
  stalls_.Move(ours, SimStall::kData, cycles - control);
}

// In how many of the cycles, the last that are accounted for, none of the warps has its
// instruction.
Cycle Sm::Unfetched(LaneMask lanes, Cycle cycles) {
  if ((lanes & ~unfetched_) != 0) return 0;
  const Cycle from = accounted_ - cycles;
  Cycle first = kNever;
  for (; lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = LowestLane(lanes);
    const Cycle earliest = warps_[lane].earliest;
    if (earliest <= from) unfetched_ &= ~LaneBit(lane);
    first = std::min(first, earliest);
  }
  return first <= from ? 0 : std::min(first - from, cycles);
}

}  // namespace smk
