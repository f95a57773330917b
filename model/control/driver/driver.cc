// SPDX-License-Identifier: Apache-2.0
#include "control/driver/driver.h"

namespace smk {

Driver::Driver(const ControlConfig& config, const PolicyConfig& policy)
    : config_(config),
      policy_(policy),
      kernels_({config.limits, ShareWeights::Of(config.limits), config.num_kernels}),
      tokens_({config.num_kernels}),
      assign_({config.num_sms}),
      drf_({config.num_sms, config.limits, ShareWeights::Of(config.limits),
            policy.kernels_per_sm < config.num_kernels}),
      dispatch_({config.num_sms, config.limits}),
      stream_({config.num_sms, config.limits}),
      planner_({config.limits}),
      queue_({config.num_sms, config.preempted_depth}),
      quota_({config.num_sms}),
      slicer_(config, policy) {
  state_.views = kernels_.Views();
  state_.credit = SmMask::First(config.num_sms);
}

Driver::Events Driver::Collect(const Inputs& in) {
  Events e;
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    const SmToDriver& s = (*in.sm)[sm];
    if (s.command_credit) e.credit.Set(sm);
    if (s.command_waits) e.waits.Set(sm);
    if (s.sample_valid) e.samples.Set(sm);
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

// SMs whose partition covers those of the kernels that may run there, and is in force.
SmMask Driver::Settled(KernelMask kernels) const {
  SmMask mask;
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    const KernelMask wanted = allowed().allowed[sm] & kernels;
    if ((wanted & ~dispatch_.state().planned[sm]) == 0) mask.Set(sm);
  }
  return mask - dispatch_.state().busy;
}

// The most TBs that each member has had at a time on its profiling SM, the i-th of them on SM i.
void Driver::CountTbs() {
  if (!Profiles()) {
    state_.peak = {};
    return;
  }
  const KernelMask members = kernels_.members();
  unsigned rank = 0;
  for (unsigned k = 0; k < config_.num_kernels; ++k) {
    const std::uint8_t tbs = rank < config_.num_sms ? drf_.state().resident[k][rank] : 0;
    std::uint8_t& peak = state_.peak[k];
    if (members != state_.members || tbs > peak) peak = tbs;
    if (state_.tick) {
      state_.profile_tbs[k] = peak;
      peak = tbs;
    }
    rank += members >> k & 1;
  }
}

// The window of the i-th member of the last tick comes from SM i, whenever it comes; they are
// passed on together.
void Driver::HearProfile(const Inputs& in) {
  state_.profile_valid = 0;
  if (!policy_.quota_enable || !policy_.quota_gate) return;
  KernelMask here = 0;
  unsigned rank = 0;
  for (KernelMask left = state_.wanted; left != 0; left &= static_cast<KernelMask>(left - 1)) {
    const auto k = static_cast<unsigned>(__builtin_ctz(left));
    const SmToDriver& s = (*in.sm)[rank++];
    if (!s.profile_valid) continue;
    here |= static_cast<KernelMask>(1u << k);
    state_.profile_issued[k] = s.profile_issued[k];
  }
  state_.got |= here;
  if (here != 0 && state_.got == state_.wanted) {
    state_.profile_valid = state_.wanted;
    state_.got = 0;
  }
  if (!state_.tick) return;
  state_.got = 0;
  state_.wanted = 0;
  if (!Profiles()) return;  // the members are not on their SMs
  // With as many members as SMs nobody has one of its own.
  const KernelMask members = kernels_.members();
  if (static_cast<unsigned>(__builtin_popcount(members)) < config_.num_sms) state_.wanted = members;
}

// Nobody else asks which kernels have an SM, so it is not worked out under other policies.
void Driver::NoteHosted() {
  state_.hosted = 0;
  for (const KernelMask hosts : allowed().allowed) state_.hosted |= hosts;
}

// Kernels that have TBs to dispatch.
KernelMask Driver::Able() const {
  KernelMask able = queue_.waiting();
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    able |= static_cast<KernelMask>((kernels_.state().slot[k].remaining() != 0 ? 1u : 0u) << k);
  }
  return able;
}

// Under left-over that is strict, kernels that wait: an older one has TBs to dispatch, and an SM.
KernelMask Driver::Held() const {
  if (!Holds()) return 0;
  return kernels_.YoungerThan(Able() & state_.hosted);
}

void Driver::DriveWindow(unsigned sm) {
  const DriverSlicer::State& s = slicer_.state();
  DriverToSm& out = state_.to_sm[sm];
  out.sample_begin = s.begin;
  out.sample_end = s.end;
  out.sample_kernel = static_cast<KernelId>(s.kernel[sm]);
  out.sample_stalls = s.stalls;
}

// Registers that said something before, and those that do now.
void Driver::DriveSms(bool tick) {
  const PreemptedQueue::State& q = queue_.state();
  const TbDispatch::State& d = dispatch_.state();
  const bool all = tick || slicer_.state().begin || slicer_.state().end;
  SmMask look = all ? SmMask::First(config_.num_sms) : q.ack | q.grant | q.none;
  for (const unsigned sm : state_.look | look) {
    DriverToSm& out = state_.to_sm[sm];
    out.tick = tick;
    out.event_ack = q.ack.Test(sm);
    out.buffer_valid = q.grant.Test(sm);
    out.buffer = q.grant_buffer;
    out.buffer_none = q.none.Test(sm);
    out.command_valid = false;
    DriveWindow(sm);
  }
  const TbStream::State& s = stream_.state();
  if (s.command_valid) {
    state_.to_sm[s.command_sm].command_valid = true;
    state_.to_sm[s.command_sm].command = s.command;
    look.Set(s.command_sm);
  } else if (state_.quota_owns_bus || d.command_valid) {
    const SmMask sms =
        state_.quota_owns_bus ? SmMask::Of(quota_.state().sm) : dispatch_.CommandSms();
    if ((sms - state_.credit).None()) {
      for (const unsigned sm : sms) {
        state_.to_sm[sm].command_valid = true;
        state_.to_sm[sm].command = state_.quota_owns_bus ? quota_.state().command : d.command;
      }
      look |= sms;
    }
  }
  state_.look = look;
}

// While TBs stream, a plan is a decision for each SM to which its last command is sent.
void Driver::LogPlan(Cycle now, std::vector<Decision>* log) const {
  if (!TbDispatch::Streams(policy_)) return;
  for (const unsigned sm : state_.look) {
    const DriverToSm& out = state_.to_sm[sm];
    if (!out.command_valid || out.command.op != CommandOp::kPartition || !out.command.last)
      continue;
    Decision d;
    d.cycle = now;
    d.reason = DecisionReason::kRepartition;
    d.kernel = out.command.kernel;
    d.sm = static_cast<SmId>(sm);
    for (unsigned k = 0; k < kMaxKernels; ++k) d.share[k] = drf_.ShownShare(k);
    log->push_back(d);
  }
}

Driver::Outputs Driver::ToHost(const KernelTable::Outputs& kernels) {
  return {kernels.launch_ready, kernels.launch_error, kernels.kernel_done};
}

// All blocks see the registers as they were when the cycle began: inputs are gathered first, and
// tb_dispatch, which reads the others directly, is clocked before them.
void Driver::Step(const Inputs& in, Cycle now, Outputs* out, std::vector<Decision>* log) {
  const Events events = Collect(in);
  kernel_done_ = kernels_.state().done_pulse;
  member_expired_ = kernels_.state().expired_pulse;
  TbStream::Inputs stream = StreamInputs();
  const TbStream::Outputs act = stream_.Eval(stream);
  const KernelTable::Inputs k = KernelInputs(in.host);
  const KernelTable::Outputs kernels = kernels_.Eval(k);
  *out = ToHost(kernels);
  stream.changes = events.any.Any() || events.credit.Any() || kernels.launch_fire;

  SetDrfInputs(events, kernel_done_);
  SetQueueInputs(in, events);
  const QuotaCalculator::Inputs quota = QuotaInputs();
  const SmAssign::Inputs assign = AssignInputs();
  const TokenArbiter::Inputs token = TokenInputs();
  const PartitionPlanner::Inputs planner = PlannerInputs();
  const DriverSlicer::Inputs slicer = SlicerInputs(in, events);

  if (log != nullptr) LogPlan(now, log);
  state_.quota_ready =
      stream.quota_waits && !dispatch_.state().command_valid && !state_.quota_owns_bus;
  quota_.Tick(quota);
  CountTbs();
  stream_.Tick(stream, act);
  dispatch_.Tick(DispatchInputs(events));
  const std::optional<Decision>& streamed = stream_.state().decision;
  const std::optional<Decision>& decision = streamed ? streamed : dispatch_.state().decision;
  if (log != nullptr && decision) {
    log->push_back(*decision);
    log->back().cycle = now;
  }
  drf_.Tick(drf_in_);
  queue_.Tick(queue_in_);
  planner_.Tick(planner);
  if (Holds()) NoteHosted();
  state_.assigned = assign_.state().busy;
  assign_.Tick(assign);
  if (Tokens()) tokens_.Tick(token);
  HearProfile(in);
  slicer_.Tick(slicer);
  if (slicer_.enabled()) slicer_.Allow(assign_.state(), &seen_);
  state_.tick = in.host.tick;
  state_.members = kernels_.members();
  state_.planned_kernels = kernels_.state();
  kernels_.Tick(k);
  state_.finished = events.finished;
  state_.some_finished = state_.finished != std::array<std::uint8_t, kMaxKernels>{};

  const bool launch_new = kernels.launch_fire && !kernels.launch_same;
  state_.gone = static_cast<KernelMask>((state_.gone | member_expired_) & ~state_.need_changed);
  state_.assign_pending = launch_new || member_expired_ != 0;
  state_.need_changed =
      launch_new ? static_cast<KernelMask>(1u << Index(in.host.launch_kernel)) : 0;
  if (kernels.launch_fire) state_.views = kernels_.Views();
  // A command that was sent in this cycle has used its SM's credit; a TB that streams has done so
  // before.
  if (act.takes) state_.credit.Clear(act.sm);
  for (const unsigned sm : state_.look) {
    if (state_.to_sm[sm].command_valid) state_.credit.Clear(sm);
  }
  state_.credit |= events.credit;
  state_.waiting = (state_.waiting | events.waits) - events.credit;
  state_.quota_owns_bus =
      state_.quota_ready && !dispatch_.state().command_valid && !stream_.state().command_valid;
  DriveSms(in.host.tick);
  const PreemptedQueue::State& q = queue_.state();
  awake_ = state_.look.Any() || state_.profile_valid != 0 || state_.some_finished ||
           state_.assign_pending || state_.need_changed != 0 || kernels_.state().done_pulse != 0 ||
           kernels_.state().expired_pulse != 0 || assign_.state().busy || state_.assigned ||
           (Tokens() && tokens_.Busy(TokenInputs())) || slicer_.busy() || planner_.state().busy ||
           planner_.state().done || q.pending.Any() || q.ack.Any() || q.grant.Any() ||
           (q.none | q.asked).Any() || q.popped || quota_.busy() || drf_.busy() ||
           dispatch_.state().pulses.any() || dispatch_.Awake(DispatchInputs(events)) ||
           stream_.Awake(StreamInputs()) || quota_.state().command_valid;
}

}  // namespace smk
