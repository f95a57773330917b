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
inline LaneMask Sm::Skipped() const {
  if (!gated_) return 0;
  LaneMask lanes = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) lanes |= kernel_lanes_[k] & spent_lanes_[k];
  return lanes;
}

inline void Sm::ChargeStalls(unsigned schedulers, LaneMask ready, LaneMask busy, Cycle cycles) {
  if (sole_kernel_ != kMaxKernels && !skips_) {
    ChargeSoleKernel(schedulers, ready, busy, cycles);
  } else {
    ChargeOldest(schedulers, ready, busy, cycles);
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

// For all schedulers at once, when there is no choice whom to charge and no warp is skipped.
[[gnu::noinline]] void Sm::ChargeSoleKernel(unsigned schedulers, LaneMask ready, LaneMask busy,
                                            Cycle cycles) {
  LaneMask rest = FieldsOf(schedulers);  // lanes of schedulers without a reason yet
  const auto take = [&](Stall reason, LaneMask lanes) __attribute__((always_inline)) {
    if ((lanes & rest) == 0) return;
    const LaneMask having = FieldsIn(lanes & rest);
    stalls_.Charge(reason, sole_kernel_, FieldCount(having) * cycles);
    rest &= ~having;
  };
  take(Stall::kQuota, ready);
  take(Stall::kPipeline, busy);
  if (rest == 0) return;
  const LaneMask before_data = rest;
  const LaneMask waiting = runnable_ & ~data_ready_;
  take(Stall::kDataShort, waiting & reason_lanes_[kShort]);
  take(Stall::kDataMemory, waiting & reason_lanes_[kMemory]);
  LaneMask unsure = before_data & ~rest;
  if ((unsure & unfetched_) != 0) {
    unsure &= ~FieldsIn(waiting & ~unfetched_ & (reason_lanes_[kShort] | reason_lanes_[kMemory]));
  } else {
    unsure = 0;
  }
  if (rest != 0) {
    take(Stall::kControl, runnable_ & reason_lanes_[kControl]);
    take(Stall::kBarrier, runnable_);
    take(Stall::kPreemption, live_);
    stalls_.Charge(Stall::kEmpty, StallAccount::kNobody, FieldCount(rest) * cycles);
  }
  if (unsure != 0) MoveStalls(unsure, 0, runnable_, cycles);
}

inline void Sm::Charge(unsigned scheduler, Stall reason, LaneMask lanes, Cycle cycles) {
  stalls_.Charge(reason, OldestKernel(scheduler, lanes), cycles);
}

// The same, to the oldest warp's kernel. Each mask is a part of the executable warps, so that the
// first one with a warp of the scheduler decides. `sure`: the papers' simulator has the reason that
// goes with ours.
[[gnu::noinline]] void Sm::ChargeOldest(unsigned schedulers, LaneMask ready, LaneMask busy,
                                        Cycle cycles) {
  const LaneMask executable = runnable_;
  const LaneMask waiting = executable & ~data_ready_;
  const LaneMask memory = waiting & reason_lanes_[kMemory];
  const LaneMask wait = waiting & reason_lanes_[kShort];
  const LaneMask control = executable & reason_lanes_[kControl];
  const LaneMask seen = executable & ~Skipped();
  const LaneMask sure_pipe = (ready | busy) & seen;
  const LaneMask sure_data = (memory | wait) & seen & ~unfetched_;
  LaneMask unsure = 0;  // schedulers
  for (; schedulers != 0; schedulers &= schedulers - 1) {
    const unsigned s = LowestLane(schedulers);
    const LaneMask field = SchedulerField(s);
    if ((ready & field) != 0) {
      Charge(s, Stall::kQuota, ready & field, cycles);
      if ((sure_pipe & field) == 0) unsure |= field;
    } else if ((busy & field) != 0) {
      Charge(s, Stall::kPipeline, busy & field, cycles);
      if ((sure_pipe & field) == 0) unsure |= field;
    } else if ((wait & field) != 0) {
      Charge(s, Stall::kDataShort, wait & field, cycles);
      if ((sure_data & field) == 0) unsure |= field;
    } else if ((memory & field) != 0) {
      Charge(s, Stall::kDataMemory, memory & field, cycles);
      if ((sure_data & field) == 0) unsure |= field;
    } else if ((control & field) != 0) {
      Charge(s, Stall::kControl, control & field, cycles);
    } else if ((executable & field) != 0) {
      Charge(s, Stall::kBarrier, executable & field, cycles);
    } else if ((live_ & field) != 0) {
      Charge(s, Stall::kPreemption, live_ & field, cycles);
    } else {
      stalls_.Charge(Stall::kEmpty, StallAccount::kNobody, cycles);
    }
  }
  if (unsure != 0) MoveStalls(unsure, ready | busy, seen, cycles);
}

unsigned Sm::OldestKernel(unsigned scheduler, LaneMask lanes) const {
  const unsigned kernel = warps_[LowestLane(lanes)].kernel;
  if ((lanes & ~kernel_lanes_[kernel]) == 0) return kernel;
  for (unsigned i = 0; i < warps_on_[scheduler]; ++i) {
    const unsigned lane = scheduler * kLanesPerScheduler + age_order_[scheduler][i];
    if ((lanes & LaneBit(lane)) != 0) return warps_[lane].kernel;
  }
  return kernel;
}

}  // namespace smk
