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
#include "machine/sm.h"

namespace smk {

// A cycle in which quotas are in force, or in which something else may be skipped.
[[gnu::noinline]] void Sm::AccountSkipping(std::uint8_t grants, const SmOutputs* out) {
  if (out != nullptr) gated_ = out->gated;
  Account(grants);
  skips_ = gated_;
  if (out == nullptr || !gated_ || out->with_quota == with_quota_) return;
  with_quota_ = out->with_quota;
  spent_lanes_.fill(0);
  for (unsigned s = 0; s < kMaxSchedulers; ++s) {
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      const bool some = (with_quota_ >> (s * kMaxKernels + k) & 1) != 0;
      if (!some) spent_lanes_[k] |= SchedulerField(s);
    }
  }
}

// Of `schedulers` (the last lane of each) that may have another reason than ours, which is pipeline
// or data. `at_pipe`: warps that are ready, whether or not their pipe is free; `seen`: executable
// warps that are looked at.
void Sm::MoveStalls(LaneMask schedulers, LaneMask at_pipe, LaneMask seen, Cycle cycles) {
  const LaneMask data = reason_lanes_[kShort] | reason_lanes_[kMemory];
  const LaneMask waiting = runnable_ & ~data_ready_ & data & seen;
  for (; schedulers != 0; schedulers &= schedulers - 1) {
    const LaneMask field = SchedulerField(LowestLane(schedulers) / kLanesPerScheduler);
    const SimStall ours = (at_pipe & field) != 0 ? SimStall::kPipeline : SimStall::kData;
    const Cycle control = Unfetched(waiting & field, cycles);
    stalls_.Move(ours, SimStall::kControl, control);
    stalls_.Move(ours, SimStall::kData, cycles - control);
  }
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
