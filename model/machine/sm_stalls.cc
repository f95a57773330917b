// SPDX-License-Identifier: Apache-2.0
// Sm: why schedulers do not issue.
//
// A scheduler cycle without an issue gets the first reason of this list that holds:
//   empty       no warp on the scheduler that has not exited
//   preemption  all warps belong to TBs that are stopped or not yet activated
//   quota       a warp was ready and the control plane granted none
//   pipeline    a warp has its instruction and operands, but the port is busy
//   data        a warp waits for an operand: memory or short, whichever most of these warps wait
//   for,
//               memory when equal
//   control     a warp waits for its next instruction
//   barrier     all warps wait at a barrier
// This is the order in which GPGPU-Sim, which the papers use, tells pipeline, data and control
// stalls apart. The kernel charged is that of the oldest warp to which the reason applies.
#include "machine/sm.h"

namespace smk {

void Sm::Account(std::uint8_t grants) {
  const unsigned stalled = ((1u << config_.schedulers) - 1) & ~grants;
  if (stalled != 0) ChargeStalls(stalled, ready_, busy_, 1);
}

void Sm::AccountSleep(Cycle cycles) { ChargeStalls((1u << config_.schedulers) - 1, 0, 0, cycles); }

inline void Sm::Charge(unsigned scheduler, Stall reason, LaneMask lanes, Cycle cycles) {
  const unsigned kernel =
      sole_kernel_ != kMaxKernels ? sole_kernel_ : OldestKernel(scheduler, lanes);
  stalls_.Charge(reason, kernel, cycles);
}

// Each mask is a part of the executable warps, so that the first one with a warp of the scheduler
// decides.
void Sm::ChargeStalls(unsigned schedulers, LaneMask ready, LaneMask busy, Cycle cycles) {
  const LaneMask executable = active_ & ~stopped_;
  const LaneMask waiting = executable & ~data_ready_;
  const LaneMask memory = waiting & reason_lanes_[kMemory];
  const LaneMask wait = waiting & reason_lanes_[kShort];
  const LaneMask control = executable & reason_lanes_[kControl];
  for (; schedulers != 0; schedulers &= schedulers - 1) {
    const unsigned s = LowestLane(schedulers);
    const LaneMask field = SchedulerField(s);
    if ((ready & field) != 0) {
      Charge(s, Stall::kQuota, ready & field, cycles);
    } else if ((busy & field) != 0) {
      Charge(s, Stall::kPipeline, busy & field, cycles);
    } else if (((memory | wait) & field) != 0) {
      const LaneMask m = memory & field;
      const LaneMask w = wait & field;
      const bool more = w == 0 || (m != 0 && __builtin_popcountll(m) >= __builtin_popcountll(w));
      Charge(s, more ? Stall::kDataMemory : Stall::kDataShort, more ? m : w, cycles);
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
