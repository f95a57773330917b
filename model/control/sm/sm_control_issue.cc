// SPDX-License-Identifier: Apache-2.0
// SmControl: the warp schedulers, and what counts their grants.
#include "control/sm/sm_control.h"

namespace smk {

// What the schedulers need to know besides their warps.
inline QuotaScheduler::Inputs SmControl::SchedulerInputs(unsigned scheduler,
                                                         const Quotas& quotas) const {
  QuotaScheduler::Inputs q;
  q.stop = state_.stop[scheduler];
  q.gated = quotas.gated;
  q.quota = &quotas.quota;
  q.policy = warp_policy_;
  q.epoch_end = epoch_end_;
  return q;
}

void SmControl::LoadJoint() {
  joint_.Load(schedulers_, state_.stop, state_.quotas.gated, warps_stale_);
  warps_stale_ = false;
}

[[gnu::noinline]] Grants SmControl::GrantUnusual(LaneMask ready) {
  if (!joint_.loaded()) LoadJoint();
  return CountReady(joint_.Grant(ready));
}

// A JointSchedulers::Choice, in registers.
[[gnu::noinline]] Grants SmControl::GrantUnsure(LaneMask again, LaneMask rest, LaneMask kept,
                                                LaneMask oldest) {
  return CountReady(joint_.Take({again, rest, kept, joint_.SureOf(oldest, rest)}));
}

[[gnu::noinline]] Grants SmControl::CountReady(LaneMask granted) {
  std::uint64_t notes = joint_.gated() ? Grants::kGated : 0;
  if (joint_.counting() && CountGrants(granted)) notes |= Grants::kLeft;
  if (state_.samples) SampleJoint(granted, 0);
  return {granted, notes};
}

// Whether quotas have been spent or loaded.
inline bool SmControl::CountGrants(LaneMask granted) {
  const LaneMask spent = joint_.CountGrants(granted);
  if (__builtin_expect(spent != 0, 0)) EndQuotas(spent);
  return spent != 0;
}

// Of these warps, one for each scheduler, the kernel has spent its quota.
void SmControl::EndQuotas(LaneMask spent) {
  joint_.Store(&schedulers_, &profile_);
  for (; spent != 0; spent &= spent - 1) {
    const unsigned lane = LowestLane(spent);
    const unsigned s = joint_.layout().SchedulerOf(lane);
    schedulers_[s].EndQuota(joint_.KernelOf(lane), SchedulerInputs(s, state_.quotas));
  }
  with_quota_stale_ = true;
  LoadJoint();
}

// The warp schedulers in an ordinary cycle: only those with ready warps can change state.
inline void SmControl::GrantQuiet(const SmInputs& in, SmOutputs* out) {
  const LaneLayout& layout = joint_.layout();
  LaneMask ready = 0;
  for (unsigned s = 0; s < kLanes / layout.lanes_per_scheduler(); ++s) {
    ready |= LaneMask{in.ready[s]} << layout.LaneOf(s, 0);
  }
  if (__builtin_expect(!joint_.loaded(), 0)) LoadJoint();
  const LaneMask granted = joint_.Grant(ready);
  if (joint_.counting()) CountGrants(granted);
  for (LaneMask m = granted; m != 0; m &= m - 1) {
    const unsigned lane = LowestLane(m);
    const unsigned s = layout.SchedulerOf(lane);
    out->grant_valid |= static_cast<std::uint8_t>(1u << s);
    out->grant_warp[s] = static_cast<std::uint8_t>(layout.IndexOf(lane));
  }
  if (state_.samples) SampleJoint(granted, in.memory[Index(state_.sample_kernel)]);
}

void SmControl::SampleJoint(LaneMask granted, std::uint8_t memory) {
  std::uint8_t valid = 0;
  GrantedKernels kernels{};
  for (; granted != 0; granted &= granted - 1) {
    const unsigned lane = LowestLane(granted);
    const unsigned s = joint_.layout().SchedulerOf(lane);
    valid |= static_cast<std::uint8_t>(1u << s);
    kernels[s] = joint_.KernelOf(lane);
  }
  Sample(valid, kernels, memory);
}

// What the sampled kernel does in this cycle: grants by scheduler, and on which schedulers one of
// its warps waits for memory.
void SmControl::Sample(std::uint8_t grant_valid, const GrantedKernels& kernels,
                       std::uint8_t memory) {
  SampleCounters::Inputs sample;
  sample.grant_valid = grant_valid;
  sample.grant_kernel = kernels;
  sample.kernel = static_cast<std::uint8_t>(Index(state_.sample_kernel));
  sample.memory = state_.sample_stalls ? memory : 0;
  sample.window = state_.samples;
  sample_.Tick(sample);
}

// The warp schedulers in a cycle in which anything else may happen, too. Grants are counted one
// cycle later than this, and so does a tick come: the same window.
void SmControl::Issue(const SmInputs& in, bool tick, SmOutputs* out) {
  ProfileCounters::Inputs profile;
  profile.tick = tick;
  for (unsigned s = 0; s < config_.num_schedulers; ++s) {
    QuotaScheduler::Inputs q = SchedulerInputs(s, state_.used);
    q.ready = in.ready[s];
    q.leave = state_.leave[s];
    q.load = state_.used.load;
    q.tick = tick;
    if (state_.start.valid && Index(state_.start.warp) % config_.num_schedulers == s) {
      q.start_valid = true;
      q.start_warp = static_cast<std::uint8_t>(Index(state_.start.warp) / config_.num_schedulers);
      q.start_kernel = state_.start.kernel;
      warps_stale_ = true;
    }
    const QuotaScheduler::Outputs grant = schedulers_[s].Eval(q);
    schedulers_[s].Tick(q, grant);
    out->grant_valid |= static_cast<std::uint8_t>((grant.grant_valid ? 1u : 0u) << s);
    out->grant_warp[s] = grant.grant_warp;
    profile.grant_kernel[s] = grant.grant_kernel;
  }
  profile.grant_valid = out->grant_valid;
  profile_.Tick(profile);
  if (state_.samples || state_.sample_ends != 0) {
    Sample(out->grant_valid, profile.grant_kernel, in.memory[Index(state_.sample_kernel)]);
  }
}

void SmControl::Step(const SmInputs& in, const DriverToSm& from_driver, bool speaks,
                     const KernelViews& kernels, SmOutputs* out) {
  Clear(out);
  const bool quiet = !busy_ && in.tb_finished == 0 && in.context_done == 0 && !speaks;
  if (quiet) {
    GrantQuiet(in, out);
  } else {
    StepTables(in, from_driver, kernels, out);
    with_quota_stale_ = true;
  }
  out->samples = state_.samples && state_.sample_stalls;
  if (state_.used.gated) ShowQuotas(out);
}

void SmControl::ShowQuotas(SmOutputs* out) {
  if (joint_.loaded()) {
    out->quota_left = joint_.left(0);
  } else {
    out->quota_left = schedulers_[0].state().left;
  }
  out->gated = true;
  if (with_quota_stale_) {
    with_quota_ = 0;
    for (unsigned s = 0; s < kMaxSchedulers; ++s) {
      with_quota_ |= std::uint32_t{schedulers_[s].state().some_left} << (s * kMaxKernels);
    }
    with_quota_stale_ = false;
  }
  out->with_quota = with_quota_;
}

}  // namespace smk
