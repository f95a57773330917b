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
  for (unsigned s = 0; s < config_.schedulers; ++s) {
    if ((grants >> s & 1) == 0) ChargeStall(s, ready_, busy_, 1);
  }
}

void Sm::AccountSleep(Cycle cycles) {
  for (unsigned s = 0; s < config_.schedulers; ++s) ChargeStall(s, 0, 0, cycles);
}

void Sm::ChargeStall(unsigned scheduler, LaneMask ready, LaneMask busy, Cycle cycles) {
  const LaneMask field = SchedulerField(scheduler);
  LaneMask lanes = live_ & field;
  Stall reason = Stall::kPreemption;
  if (lanes == 0) {
    stalls_.Charge(Stall::kEmpty, StallAccount::kNobody, cycles);
    return;
  }
  const LaneMask executable = active_ & ~stopped_ & field;
  if (executable != 0) {
    const LaneMask memory = executable & reason_lanes_[kMemory] & ~data_ready_;
    const LaneMask wait = executable & reason_lanes_[kShort] & ~data_ready_;
    if ((ready & field) != 0) {
      reason = Stall::kQuota;
      lanes = ready & field;
    } else if ((busy & field) != 0) {
      reason = Stall::kPipeline;
      lanes = busy & field;
    } else if ((memory | wait) != 0) {
      const bool more =
          wait == 0 || (memory != 0 && __builtin_popcountll(memory) >= __builtin_popcountll(wait));
      reason = more ? Stall::kDataMemory : Stall::kDataShort;
      lanes = more ? memory : wait;
    } else {
      const LaneMask control = executable & reason_lanes_[kControl];
      reason = control != 0 ? Stall::kControl : Stall::kBarrier;
      lanes = control != 0 ? control : executable;
    }
  }
  stalls_.Charge(reason, KernelOfOldest(scheduler, lanes), cycles);
}

unsigned Sm::KernelOfOldest(unsigned scheduler, LaneMask lanes) const {
  const unsigned kernel = warps_[LowestLane(lanes)].kernel;
  if ((lanes & ~kernel_lanes_[kernel]) == 0) return kernel;
  for (unsigned i = 0; i < warps_on_[scheduler]; ++i) {
    const unsigned lane = scheduler * kLanesPerScheduler + age_order_[scheduler][i];
    if ((lanes & LaneBit(lane)) != 0) return warps_[lane].kernel;
  }
  return kernel;
}

}  // namespace smk
