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
namespace {

// Number of ones in four bits.
constexpr unsigned BitCount4(unsigned bits) { return 0x4332322132212110 >> (bits * 4) & 15; }

}  // namespace

void Sm::Account(std::uint8_t grants) {
  const unsigned stalled = ((1u << config_.schedulers) - 1) & ~grants;
  if (stalled != 0) ChargeStalls(stalled, ready_, busy_, 1);
}

void Sm::AccountSleep(Cycle cycles) { ChargeStalls((1u << config_.schedulers) - 1, 0, 0, cycles); }

// The same as ChargeStalls for all schedulers at once, when there is no choice whom to charge.
void Sm::ChargeSoleKernel(unsigned schedulers, LaneMask ready, LaneMask busy, Cycle cycles) {
  LaneMask rest = FieldsOf(schedulers);  // lanes of schedulers without a reason yet
  const auto take = [&](Stall reason, LaneMask lanes) {
    if ((lanes & rest) == 0) return;
    const unsigned having = SchedulersIn(lanes & rest);
    stalls_.Charge(reason, sole_kernel_, BitCount4(having) * cycles);
    rest &= ~FieldsOf(having);
  };
  take(Stall::kQuota, ready);
  take(Stall::kPipeline, busy);
  if (rest == 0) return;
  const LaneMask waiting = runnable_ & ~data_ready_;
  take(Stall::kDataShort, waiting & reason_lanes_[kShort]);
  take(Stall::kDataMemory, waiting & reason_lanes_[kMemory]);
  if (rest == 0) return;
  take(Stall::kControl, runnable_ & reason_lanes_[kControl]);
  take(Stall::kBarrier, runnable_);
  take(Stall::kPreemption, live_);
  stalls_.Charge(Stall::kEmpty, StallAccount::kNobody, BitCount4(SchedulersIn(rest)) * cycles);
}

inline void Sm::Charge(unsigned scheduler, Stall reason, LaneMask lanes, Cycle cycles) {
  stalls_.Charge(reason, OldestKernel(scheduler, lanes), cycles);
}

// Each mask is a part of the executable warps, so that the first one with a warp of the scheduler
// decides.
void Sm::ChargeStalls(unsigned schedulers, LaneMask ready, LaneMask busy, Cycle cycles) {
  if (sole_kernel_ != kMaxKernels) {
    ChargeSoleKernel(schedulers, ready, busy, cycles);
    return;
  }
  const LaneMask executable = runnable_;
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
    } else if ((wait & field) != 0) {
      Charge(s, Stall::kDataShort, wait & field, cycles);
    } else if ((memory & field) != 0) {
      Charge(s, Stall::kDataMemory, memory & field, cycles);
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
