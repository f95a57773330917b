// SPDX-License-Identifier: Apache-2.0
#include "control/driver.h"

namespace smk {

Driver::Driver(const ControlConfig& config, const PolicyConfig& policy)
    : config_(config),
      policy_(policy),
      kernels_({config.limits, ShareWeights::Of(config.limits)}),
      assign_({config.num_sms}),
      drf_({config.num_sms, config.limits, ShareWeights::Of(config.limits),
            policy.kernels_per_sm < kMaxKernels}),
      dispatch_({config.num_sms, config.limits}),
      planner_({config.limits}),
      queue_({config.num_sms, config.preempted_depth}),
      quota_({config.num_sms}) {
  state_.views = kernels_.Views();
}

Driver::Events Driver::Collect(const Inputs& in) {
  Events e;
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    const SmToDriver& s = (*in.sm)[sm];
    if (s.command_ready) e.command_ready.Set(sm);
    if (!s.event.valid) continue;
    e.any.Set(sm);
    drf_in_.event[sm] = s.event;
    if (NeedsAck(s.event.kind)) {
      e.to_queue.Set(sm);
      queue_in_.event[sm] = s.event;
    }
    if (s.event.kind == EventKind::kSettled) e.settled.Set(sm);
    if (s.event.kind == EventKind::kFinished) ++e.finished[Index(s.event.kernel)];
  }
  return e;
}

KernelTable::Inputs Driver::KernelInputs(const HostInputs& host) const {
  const TbDispatch::Pulses& p = dispatch_.state().pulses;
  KernelTable::Inputs k;
  k.launch_valid = host.launch_valid;
  k.launch_kernel = host.launch_kernel;
  k.launch = host.launch;
  k.dispatch_new_valid = p.dispatch_new;
  k.dispatch_new_kernel = p.kernel;
  k.finished = state_.finished;
  k.tick = host.tick;
  k.linger_ticks = policy_.linger_ticks;
  return k;
}

void Driver::SetDrfInputs(const Events& events, KernelMask kernel_done) {
  const TbDispatch::State& d = dispatch_.state();
  DrfTracker::Inputs& in = drf_in_;
  in.kernel_table = &kernels_.state();
  in.kernel_done = kernel_done;
  in.dispatch_valid = d.pulses.dispatch;
  in.dispatch_reserved = d.pulses.dispatch_reserved;
  in.dispatch_kernel = d.pulses.kernel;
  in.dispatch_sm = d.pulses.sm;
  in.reserve_valid = d.pulses.reserve;
  in.cancel_valid = d.pulses.cancel;
  in.reserve_kernel = d.pulses.kernel;
  in.preempt_valid = d.pulses.preempt;
  in.preempt_kernel = d.pulses.victim;
  in.preempt_count = d.pulses.victim_tbs;
  in.event_mask = events.any;
  in.shortfall_mask = d.victims_valid;
  for (const unsigned sm : events.settled) in.shortfall_kernel[sm] = d.reservation[sm].victim;
}

void Driver::SetQueueInputs(const Inputs& in, const Events& events) {
  PreemptedQueue::Inputs& q = queue_in_;
  q.request_mask = SmMask();
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    const SmToDriver& s = (*in.sm)[sm];
    if (!s.buffer_request) continue;
    q.request_mask.Set(sm);
    q.request_kernel[sm] = s.buffer_kernel;
  }
  q.event_mask = events.to_queue;
  q.pop_valid = dispatch_.state().pulses.pop;
  q.pop_kernel = dispatch_.state().pulses.kernel;
}

// SMs whose partition covers the kernels that may run there and is in force.
SmMask Driver::Settled() const {
  SmMask mask;
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    const KernelMask wanted = assign_.state().allowed[sm] & kernels_.active();
    if ((wanted & ~dispatch_.state().planned[sm]) == 0) mask.Set(sm);
  }
  return mask - dispatch_.state().busy;
}

// The i-th member's window comes from SM i, in the cycle in which it ends.
void Driver::HearProfile(const Inputs& in) {
  state_.profile_valid = 0;
  if (!policy_.quota_enable || !policy_.quota_gate) return;
  unsigned rank = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if ((kernels_.members() >> k & 1) == 0) continue;
    const SmToDriver& s = (*in.sm)[rank++];
    if (!s.profile_valid) continue;
    state_.profile_valid |= static_cast<KernelMask>(1u << k);
    state_.profile_issued[k] = s.profile_issued[k];
  }
}

QuotaCalculator::Inputs Driver::QuotaInputs(const Events& events) const {
  QuotaCalculator::Inputs q;
  q.members = state_.members;
  q.epoch_length = policy_.epoch_length;
  q.profile_valid = state_.profile_valid;
  q.profile_issued = state_.profile_issued;
  q.partition = &dispatch_.state().partition;
  if (quota_.busy()) q.settled = Settled();
  q.command_ready = state_.quota_owns_bus && events.command_ready.Test(quota_.state().sm);
  return q;
}

TbDispatch::Inputs Driver::DispatchInputs(const Events& events) const {
  TbDispatch::Inputs t;
  t.kernels = &kernels_.state();
  t.drf = &drf_;
  t.queue = &queue_;
  t.planner = &planner_.state();
  t.assign = &assign_.state();
  t.assign_busy = state_.assign_pending || assign_.state().busy;
  t.policy = &policy_;
  t.active = kernels_.active();
  t.need_changed = state_.need_changed;
  t.kernel_done = kernel_done_;
  t.member_expired = member_expired_;
  t.event_mask = events.any;
  t.settled_mask = events.settled;
  if (!state_.quota_owns_bus) t.command_ready = events.command_ready;
  return t;
}

// Registers that said something before, and those that do now.
void Driver::DriveSms(bool tick) {
  const PreemptedQueue::State& q = queue_.state();
  const TbDispatch::State& d = dispatch_.state();
  SmMask look = tick ? SmMask::First(config_.num_sms) : q.ack | q.grant;
  for (const unsigned sm : state_.look | look) {
    DriverToSm& out = state_.to_sm[sm];
    out.tick = tick;
    out.event_ack = q.ack.Test(sm);
    out.buffer_valid = q.grant.Test(sm);
    out.buffer = q.grant_buffer;
    out.command_valid = false;
  }
  if (state_.quota_owns_bus || d.command_valid) {
    const unsigned sm = state_.quota_owns_bus ? quota_.state().sm : d.command_sm;
    state_.to_sm[sm].command_valid = true;
    state_.to_sm[sm].command = state_.quota_owns_bus ? quota_.state().command : d.command;
    look.Set(sm);
  }
  state_.look = look;
}

Driver::Outputs Driver::ToHost(const KernelTable::Outputs& kernels) {
  return {kernels.launch_ready, kernels.launch_error, kernels.kernel_done};
}

// All blocks see the registers as they were when the cycle began: inputs are gathered first, and
// tb_dispatch, which reads the others directly, is clocked before them.
void Driver::Step(const Inputs& in, Cycle now, Outputs* out, std::vector<Decision>* log) {
  const Events events = Collect(in);
  const KernelTable::Inputs k = KernelInputs(in.host);
  const KernelTable::Outputs kernels = kernels_.Eval(k);
  kernel_done_ = kernels.kernel_done;
  member_expired_ = kernels.member_expired;
  *out = ToHost(kernels);

  SetDrfInputs(events, kernel_done_);
  SetQueueInputs(in, events);
  const QuotaCalculator::Inputs quota = QuotaInputs(events);
  const TbDispatch::Pulses pulses = dispatch_.state().pulses;
  const SmAssign::Inputs assign{state_.assign_pending, kernels_.members(),
                                policy_.dispatch == DispatchMode::kSpatial, policy_.quota_enable,
                                policy_.kernels_per_sm};
  const PartitionPlanner::Inputs planner{pulses.plan_start, pulses.plan_kernels,
                                         pulses.sm,         policy_.dispatch,
                                         policy_.table,     &state_.planned_kernels};

  quota_.Tick(quota);
  dispatch_.Tick(DispatchInputs(events));
  if (log != nullptr && dispatch_.state().decision) {
    log->push_back(*dispatch_.state().decision);
    log->back().cycle = now;
  }
  drf_.Tick(drf_in_);
  queue_.Tick(queue_in_);
  planner_.Tick(planner);
  assign_.Tick(assign);
  HearProfile(in);
  state_.members = kernels_.members();
  state_.planned_kernels = kernels_.state();
  kernels_.Tick(k);
  state_.finished = events.finished;
  state_.some_finished = state_.finished != std::array<std::uint8_t, kMaxKernels>{};

  const bool launch_new = kernels.launch_fire && !kernels.launch_same;
  state_.assign_pending = launch_new || member_expired_ != 0;
  state_.need_changed =
      launch_new ? static_cast<KernelMask>(1u << Index(in.host.launch_kernel)) : 0;
  if (kernels.launch_fire) state_.views = kernels_.Views();
  state_.quota_owns_bus =
      quota_.state().command_valid && (state_.quota_owns_bus || !dispatch_.state().command_valid);
  DriveSms(in.host.tick);
  const PreemptedQueue::State& q = queue_.state();
  awake_ = state_.look.Any() || state_.profile_valid != 0 || state_.some_finished ||
           state_.assign_pending || state_.need_changed != 0 || kernels_.state().done_pulse != 0 ||
           kernels_.state().expired_pulse != 0 || assign_.state().busy ||
           assign_.state().changed.Any() || planner_.state().busy || planner_.state().done ||
           q.pending.Any() || q.ack.Any() || q.grant.Any() || quota_.busy() || drf_.busy() ||
           dispatch_.state().pulses.any() || dispatch_.Awake(DispatchInputs(events));
}

}  // namespace smk
