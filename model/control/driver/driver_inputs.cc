// SPDX-License-Identifier: Apache-2.0
// The part of Driver that is wires: what each of its blocks hears.
#include "control/driver/driver.h"

namespace smk {

KernelTable::Inputs Driver::KernelInputs(const HostInputs& host) const {
  const TbDispatch::Pulses& p = dispatch_.state().pulses;
  KernelTable::Inputs k;
  k.launch_valid = host.launch_valid;
  k.launch_kernel = host.launch_kernel;
  k.launch = host.launch;
  const TbStream::State& s = stream_.state();
  k.dispatch_new_valid = p.dispatch_new || (s.send && !s.pop);
  k.dispatch_new_kernel = p.dispatch_new ? p.kernel : static_cast<KernelId>(s.send_kernel);
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
  const TbStream::State& s = stream_.state();
  in.dispatch_valid = d.pulses.dispatch || s.send;
  in.dispatch_reserved = d.pulses.dispatch_reserved;
  in.dispatch_kernel = s.send ? static_cast<KernelId>(s.send_kernel) : d.pulses.kernel;
  in.dispatch_sm = s.send ? static_cast<SmId>(s.send_sm) : d.pulses.sm;
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
  q.request_mask = q.withdraw_mask = SmMask();
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    const SmToDriver& s = (*in.sm)[sm];
    if (s.buffer_withdraw) q.withdraw_mask.Set(sm);
    if (!s.buffer_request) continue;
    q.request_mask.Set(sm);
    q.request_kernel[sm] = s.buffer_kernel;
  }
  q.event_mask = events.to_queue;
  const TbDispatch::Pulses& pulses = dispatch_.state().pulses;
  q.pop_valid = pulses.pop || stream_.state().pop;
  q.pop_kernel = pulses.pop ? pulses.kernel : static_cast<KernelId>(stream_.state().send_kernel);
}

QuotaCalculator::Inputs Driver::QuotaInputs() const {
  QuotaCalculator::Inputs q;
  q.epoch_length = policy_.epoch_length;
  q.profile_valid = state_.profile_valid;
  q.profile_issued = state_.profile_issued;
  q.profile_tbs = state_.profile_tbs;
  q.partition = &dispatch_.state().partition;
  if (quota_.busy()) q.settled = Settled(kernels_.active());
  q.command_ready = state_.quota_owns_bus;
  return q;
}

TbDispatch::Inputs Driver::DispatchInputs(const Events& events) const {
  TbDispatch::Inputs t;
  t.kernels = &kernels_.state();
  t.drf = &drf_;
  t.queue = &queue_;
  t.planner = &planner_.state();
  t.assign = &allowed();
  t.assign_busy = AssignBusy();
  t.policy = &policy_;
  t.active = kernels_.active();
  t.need_changed = state_.need_changed;
  t.kernel_done = kernel_done_;
  t.member_expired = member_expired_;
  t.event_mask = events.any;
  t.settled_mask = events.settled;
  t.command_ready = state_.credit;
  t.waiting = state_.waiting;
  t.waits = events.waits;
  t.tick = state_.tick;
  t.held = Held();
  return t;
}

TbStream::Inputs Driver::StreamInputs() const {
  TbStream::Inputs s;
  s.policy = &policy_;
  s.kernels = &kernels_.state();
  s.drf = &drf_;
  s.dispatch = &dispatch_.state();
  s.assign = &allowed();
  s.queue = &queue_;
  s.held = Held();
  s.credit = state_.credit;
  const QuotaCalculator::State& q = quota_.state();
  s.quota_waits = q.command_valid && state_.credit.Test(q.sm);
  s.flush = dispatch_.Decides() || AssignBusy() || allowed().changed.Any() ||
            state_.need_changed != 0 || member_expired_ != 0;
  return s;
}

PartitionPlanner::Inputs Driver::PlannerInputs() const {
  const TbDispatch::Pulses& pulses = dispatch_.state().pulses;
  PartitionPlanner::Inputs p;
  p.start = pulses.plan_start;
  p.kernels = pulses.plan_kernels;
  p.sm = pulses.sm;
  p.apart = assign_.state().apart;
  p.mode = policy_.dispatch;
  p.table = policy_.table;
  // A kernel of the fixed table has ended: the others divide the SM among them [D97].
  for (unsigned k = 0; k < kMaxKernels && policy_.dispatch == DispatchMode::kTable; ++k) {
    if ((state_.gone >> k & 1) != 0 && p.table[k] != 0) p.mode = DispatchMode::kEven;
  }
  p.kernel_table = &state_.planned_kernels;
  if (!slicer_.enabled()) return p;
  p.mode = slicer_.state().plan_mode;
  p.table = slicer_.state().plan_table;
  p.last_at_end = slicer_.state().plan_at_end;
  return p;
}

DriverSlicer::Inputs Driver::SlicerInputs(const Inputs& in, const Events& events) const {
  const TbDispatch::Pulses& pulses = dispatch_.state().pulses;
  DriverSlicer::Inputs s;
  s.assign = state_.assign_pending;
  s.members = kernels_.members();
  if (slicer_.enabled()) s.able = Able();
  if (slicer_.settles()) s.settled = Settled(s.able);
  s.plan_start = pulses.plan_start;
  s.plan_kernels = pulses.plan_kernels;
  s.plan_sm = pulses.sm;
  s.samples = events.samples;
  s.sm = in.sm;
  s.kernel_table = &kernels_.state();
  return s;
}

TokenArbiter::Inputs Driver::TokenInputs() const {
  TokenArbiter::Inputs t;
  if (!Tokens()) return t;
  t.enable = true;
  t.window = policy_.token_window;
  t.quota = policy_.token_quota;
  t.request = policy_.token_request;
  t.limit = policy_.token_limit;
  t.demand = kernels_.active();
  for (unsigned k = 0; k < config_.num_kernels; ++k) {
    if (drf_.RunsOn(k).Any()) t.resident |= static_cast<KernelMask>(1u << k);
  }
  return t;
}

// Under kToken all SMs are the token's holder's.
SmAssign::Inputs Driver::AssignInputs() const {
  SmAssign::Inputs a;
  a.start = state_.assign_pending || slicer_.state().assign || tokens_.state().assign;
  a.members = Tokens() ? tokens_.state().token.holder : kernels_.members();
  a.spatial = policy_.dispatch == DispatchMode::kSpatial || slicer_.state().spatial;
  a.profile = policy_.quota_enable;
  a.kernels_per_sm = policy_.kernels_per_sm;
  return a;
}

}  // namespace smk
