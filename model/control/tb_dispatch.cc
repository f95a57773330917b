// SPDX-License-Identifier: Apache-2.0
#include "control/tb_dispatch.h"

#include <algorithm>

namespace smk {
namespace {

unsigned Lowest(KernelMask mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }

}  // namespace

// Whatever may change what a decision looks at: counts, shares, assignments, kernels. On demand, rK
// changes with every event; else a TB that leaves only makes room.
bool TbDispatch::Happens(const Inputs& in) const {
  SmMask changed = in.assign->changed | act_.guard_ends;
  if (!Streams(*in.policy)) changed |= in.event_mask | in.queue->state().ack;
  changed |= in.waits;
  return changed.Any() || (in.need_changed | in.member_expired | in.kernel_done) != 0 ||
         state_.pulses.dispatch || state_.pulses.cancel || state_.pulses.preempt;
}

// The decision has looked at something that has changed since.
bool TbDispatch::Overtaken() const {
  if (!Deciding()) return false;
  return state_.happened || state_.happened_late || (state_.launched && state_.step > Step::kFit);
}

// Registers that lose their meaning when kernels come and go or SMs change.
void TbDispatch::Forget(const Inputs& in) {
  ForgetTried(in);
  state_.busy -= in.settled_mask;
  const KernelMask gone = in.need_changed | in.member_expired;
  for (const unsigned sm : in.assign->changed) state_.planned[sm] = 0;
  if (gone != 0) {
    for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
      if (in.member_expired & state_.planned[sm]) state_.planned[sm] = 0;
      state_.planned[sm] &= static_cast<KernelMask>(~gone);
    }
    state_.tried.fill(SmMask());
  }
  if (gone != 0 || (in.assign->changed & state_.plan_sms).Any()) state_.plan_void = true;
  if (gone != 0) state_.plan_kept = false;
  ForgetDone(in);
}

// SMs on which everything is worth another try. On demand a change anywhere changes rK.
SmMask TbDispatch::Retry(const Inputs& in) const {
  const SmMask changed = in.event_mask | in.assign->changed | act_.guard_ends;
  const bool all = in.policy->dispatch == DispatchMode::kOnDemand &&
                   (changed.Any() || in.queue->state().ack.Any());
  return all ? all_sms() : changed;
}

void TbDispatch::ForgetTried(const Inputs& in) {
  const SmMask retry = Retry(in);
  for (SmMask& tried : state_.tried) tried -= retry;
}

// Room reserved for a kernel that is done is nobody's, and a victim kernel that is done has no rK.
void TbDispatch::ForgetDone(const Inputs& in) {
  state_.victims_valid -= in.settled_mask;
  if (in.kernel_done == 0) return;
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    const Reservation& r = state_.reservation[sm];
    if (in.kernel_done >> Index(r.kernel) & 1) state_.reservations.Clear(sm);
    if (in.kernel_done >> Index(r.victim) & 1) state_.victims_valid.Clear(sm);
  }
}

// SMs on which others than the last who gained room there may have TBs leave again.
SmMask TbDispatch::GuardEnds(const Inputs& in) const {
  SmMask ends;
  if (!in.tick && in.kernel_done == 0) return ends;
  for (const unsigned sm : state_.guarded) {
    const bool done = (in.kernel_done >> Index(state_.reservation[sm].kernel) & 1) != 0;
    if (done || (in.tick && state_.guard[sm] == 1)) ends.Set(sm);
  }
  return ends;
}

void TbDispatch::Guard(const Inputs& in) {
  if (in.tick) {
    for (const unsigned sm : state_.guarded) --state_.guard[sm];
  }
  state_.guarded -= act_.guard_ends;
  if (!in.policy->preempt_guard) return;
  for (const unsigned sm : act_.reserve) state_.guard[sm] = kGuardTicks;
  state_.guarded |= act_.reserve;
}

// SMs on which nobody leaves for the kernel.
SmMask TbDispatch::GuardedFrom(unsigned kernel) const {
  SmMask sms;
  for (const unsigned sm : state_.guarded) {
    if (Index(state_.reservation[sm].kernel) != kernel) sms.Set(sm);
  }
  return sms;
}

// What the step of this cycle does, on top of what happened in it.
void TbDispatch::Apply(const Inputs& in) {
  if (act_.failed) {
    state_.tried[state_.kernel] |=
        SmMask::Of(state_.candidate_sm) - (Retry(in) | state_.changed_late);
  }
  if (act_.retry_all) state_.tried.fill(SmMask());
  state_.busy |= act_.leaving;
  state_.victims_valid |= act_.reserve;
  state_.reservations = (state_.reservations - act_.unreserve) | act_.reserve;
  if (act_.plan_start) state_.plan_void = false;
  if (!act_.plan_in_force) return;
  for (const unsigned sm : state_.plan_sms) {
    state_.planned[sm] = state_.plan_void ? 0 : in.planner->kernels;
    for (unsigned i = 0; i < kMaxKernels; ++i) {
      state_.partition[sm][i] = static_cast<std::uint8_t>(in.planner->part[i].tbs);
    }
  }
}

// TBs of the kernel that are on no SM: new and preempted ones.
unsigned TbDispatch::WaitingTbs(const Inputs& in, unsigned kernel) const {
  const KernelTable::Slot& slot = in.kernels->slot[kernel];
  return slot.active ? slot.remaining() + in.queue->count(kernel) : 0;
}

KernelMask TbDispatch::Waiting(const Inputs& in) const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if (WaitingTbs(in, k) != 0) mask |= static_cast<KernelMask>(1u << k);
  }
  return static_cast<KernelMask>(mask & ~in.held);
}

// SMs that may host the kernel and on which no TB is on its way out.
SmMask TbDispatch::Usable(const Inputs& in, unsigned kernel) const {
  return SmsWithBit(in.assign->allowed, kernel, config_.num_sms) - Busy(in) - state_.reservations;
}

SmMask TbDispatch::Candidates(const Inputs& in, unsigned kernel) const {
  SmMask sms = Usable(in, kernel) - state_.tried[kernel];
  if (!Streams(*in.policy)) return sms;
  // TBs are left to others: only where there is no plan.
  if (!Partitioned(*in.policy)) return {};
  for (const unsigned sm : sms) {
    if ((state_.planned[sm] >> kernel & 1) != 0) sms.Clear(sm);
  }
  return sms;
}

// SMs that host a kernel which may not run there any more. With partitions, planning evicts.
SmMask TbDispatch::SmsToEvict(const Inputs& in) const {
  if (in.assign_busy) return {};
  SmMask mask;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    const SmMask runs = in.drf->RunsOn(k);
    if (runs.Any()) mask |= runs - SmsWithBit(in.assign->allowed, k, config_.num_sms);
  }
  return mask - Busy(in) - state_.reservations;
}

bool TbDispatch::HasCandidates(const Inputs& in) const {
  const KernelMask waiting = Waiting(in);
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if ((waiting >> k & 1) != 0 && Candidates(in, k).Any()) return true;
  }
  return false;
}

bool TbDispatch::HasWork(const Inputs& in) const {
  if (in.assign_busy || (state_.reservations - Busy(in)).Any()) return true;
  return HasCandidates(in) || (!Partitioned(*in.policy) && SmsToEvict(in).Any());
}

void TbDispatch::Decide(DecisionReason reason) {
  Decision d;
  d.reason = reason;
  d.kernel = static_cast<KernelId>(state_.kernel);
  d.sm = static_cast<SmId>(state_.sm);
  d.tb = state_.command.tb;
  d.victim = static_cast<KernelId>(state_.victim);
  d.victim_tbs = state_.victim_tbs;
  for (unsigned k = 0; k < kMaxKernels; ++k) d.share[k] = in_->drf->ShownShare(k);
  state_.decision = d;
}

void TbDispatch::GiveUp(DecisionReason reason) {
  act_.failed = true;
  state_.step = Step::kIdle;
  state_.command = SmCommand{};
  Decide(reason);
}

void TbDispatch::Send(const SmCommand& command) {
  state_.command = command;
  state_.command_sm = state_.sm;
  state_.command_valid = true;
  state_.step = Step::kSend;
}

// First cycle of a decision: what it is about, and on which SMs.
void TbDispatch::Mask(const Inputs& in) {
  const SmMask settled_reservations = state_.reservations - Busy(in);
  const SmMask evict = Partitioned(*in.policy) ? SmMask() : SmsToEvict(in);
  state_.step = Step::kSm;
  state_.reserved = settled_reservations.Any();
  state_.evict = !state_.reserved && evict.Any();
  if (state_.reserved) {
    state_.sm = static_cast<std::uint8_t>(settled_reservations.Lowest());
  } else if (state_.evict) {
    state_.sm = static_cast<std::uint8_t>(evict.Lowest());
  } else if (in.assign_busy || !HasCandidates(in)) {
    state_.step = Step::kIdle;
  } else {
    const KernelMask waiting = Waiting(in);
    state_.kernels = 0;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      state_.candidates[k] = Candidates(in, k);
      const bool may = (waiting >> k & 1) != 0 && state_.candidates[k].Any();
      state_.kernels |= static_cast<KernelMask>((may ? 1u : 0u) << k);
    }
    if (Streams(*in.policy)) TakeLowest();
  }
}

// While TBs stream, shares are not still, and who goes first does not matter: the lowest.
void TbDispatch::TakeLowest() {
  for (SmMask& sms : state_.candidates) {
    if (sms.Any()) sms = SmMask::Of(sms.Lowest());
  }
  state_.kernels = static_cast<KernelMask>(state_.kernels & -state_.kernels);
}

// Second cycle: the SM with the lowest rSM for each kernel, or an eviction.
void TbDispatch::PickSm(const Inputs& in) {
  if (state_.evict) return Evict(in);
  state_.step = Step::kLook;
  if (state_.reserved || in.policy->dispatch != DispatchMode::kLeftover) return;
  KernelMask oldest = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if ((state_.kernels >> k & 1) == 0) continue;
    const bool older =
        oldest == 0 || in.kernels->slot[k].order < in.kernels->slot[Lowest(oldest)].order;
    if (older) oldest = static_cast<KernelMask>(1u << k);
  }
  state_.kernels = oldest;
}

void TbDispatch::Evict(const Inputs& in) {
  if (!state_.searching && state_.wait > 2 * in.policy->latency_scale) return;
  if (Streams(*in.policy) && !SmsToEvict(in).Test(state_.sm)) {  // they have finished
    state_.step = Step::kIdle;
    return;
  }
  if (!in.command_ready.Test(state_.sm)) return;
  state_.kernel = static_cast<std::uint8_t>(Lowest(in.drf->ResidentOn(state_.sm)));
  act_.leaving = SmMask::Of(state_.sm);
  SmCommand command;
  command.op = CommandOp::kEvict;
  command.mode = in.policy->preempt;
  Send(command);
  Decide(DecisionReason::kEvictSm);
}

// Third cycle: the kernel with the lowest rK, and what there is on its SM.
void TbDispatch::LookAt(const Inputs& in) {
  if (state_.reserved) {
    state_.kernel = static_cast<std::uint8_t>(Index(state_.reservation[state_.sm].kernel));
  } else {
    state_.kernel = static_cast<std::uint8_t>(in.drf->LowestKernel(state_.kernels));
    state_.sm =
        static_cast<std::uint8_t>(in.drf->LowestSm(state_.candidates[state_.kernel], *in.kernels));
  }
  const unsigned k = state_.kernel, sm = state_.sm;
  state_.candidate_sm = state_.sm;
  state_.look.allowed = (in.assign->allowed[sm] >> k & 1) != 0;
  state_.look.waiting = WaitingTbs(in, k) != 0;
  state_.look.fits = in.drf->Fits(sm, in.kernels->slot[k].need);
  state_.look.planned = (state_.planned[sm] >> k & 1) != 0;
  state_.look.below = in.drf->state().resident[k][sm] < state_.partition[sm][k];
  state_.step = Step::kFit;
}

// Preempted TBs go before new ones. Without a credit the decision waits: the SM may turn out to
// have a TB that waits.
void TbDispatch::Dispatch(const Inputs& in) {
  if (!in.command_ready.Test(state_.sm)) return;
  const unsigned k = state_.kernel;
  const KernelTable::Slot& slot = in.kernels->slot[k];
  SmCommand command;
  command.op = CommandOp::kDispatch;
  command.kernel = static_cast<KernelId>(k);
  DecisionReason reason = DecisionReason::kDispatchNew;
  if (!in.queue->empty(k)) {
    const PreemptedQueue::Entry& entry = in.queue->front(k);
    command.tb = entry.tb;
    command.restore = !entry.restart;
    command.buffer = entry.buffer;
    state_.pulses.pop = true;
    reason = entry.restart ? DecisionReason::kDispatchRestarted : DecisionReason::kDispatchRestored;
  } else {
    command.tb = static_cast<TbId>(slot.next_tb);
    state_.pulses.dispatch_new = true;
  }
  state_.pulses.dispatch = true;
  state_.pulses.dispatch_reserved = state_.reserved;
  if (state_.reserved) act_.unreserve = SmMask::Of(state_.sm);
  act_.retry_all = in.policy->dispatch == DispatchMode::kOnDemand;
  Send(command);
  Decide(reason);
}

// The room made by a preemption: for the kernel it was made for, if it still wants it.
void TbDispatch::FitReserved(const Inputs& in) {
  if (state_.look.waiting && state_.look.allowed && state_.look.fits) return Dispatch(in);
  state_.step = Step::kIdle;
  act_.unreserve = SmMask::Of(state_.sm);
  state_.pulses.cancel = true;
}

void TbDispatch::FitPartitioned(const Inputs& in) {
  if (!state_.look.planned) {
    const KernelMask wanted = in.assign->allowed[state_.sm] & in.active;
    const bool kept = state_.plan_kept && in.planner->kernels == wanted;
    act_.plan_start = true;
    state_.pulses.plan_start = !kept;
    state_.pulses.plan_kernels = wanted;
    state_.plan_sms = SmMask::Of(state_.sm) | (kept ? PlanSms(in) : SmMask());
    state_.plan_kernel = 0;
    state_.step = kept ? Step::kSendPlan : Step::kPlan;
    // A plan for several SMs is logged when it is sent.
    if (!Streams(*in.policy)) Decide(DecisionReason::kRepartition);
    return;
  }
  if (state_.look.below) return Dispatch(in);
  GiveUp(DecisionReason::kPartitionFull);
}

// Fourth cycle: is there room?
void TbDispatch::Fit(const Inputs& in) {
  if (!state_.searching && state_.wait != 0) return;
  if (state_.reserved) return FitReserved(in);
  if (!state_.look.allowed) {  // no longer
    state_.step = Step::kIdle;
    return;
  }
  if (Partitioned(*in.policy)) return FitPartitioned(in);
  if (state_.look.fits) return Dispatch(in);
  if (in.policy->dispatch != DispatchMode::kOnDemand) return GiveUp(DecisionReason::kNoRoom);
  state_.search.sms = Usable(in, state_.kernel) - GuardedFrom(state_.kernel);
  state_.step = Step::kVictimSm;
}

// SMs that want the plan that is there, and can take a command.
SmMask TbDispatch::PlanSms(const Inputs& in) const {
  SmMask sms;
  for (const unsigned sm : in.command_ready - state_.busy - state_.reservations) {
    const KernelMask wanted = in.assign->allowed[sm] & in.active;
    if (wanted == in.planner->kernels && (wanted & ~state_.planned[sm]) != 0) sms.Set(sm);
  }
  return sms;
}

// One command per kernel of the new plan; the last one puts it in force.
void TbDispatch::SendPlan(const Inputs& in) {
  KernelMask left = in.planner->kernels;
  left &= static_cast<KernelMask>(~((1u << state_.plan_kernel) - 1));
  const unsigned k = static_cast<unsigned>(__builtin_ctz(left));
  SmCommand command;
  command.op = CommandOp::kPartition;
  command.kernel = static_cast<KernelId>(k);
  command.range = in.planner->range[k];
  command.first = k == static_cast<unsigned>(__builtin_ctz(in.planner->kernels));
  command.last = (left & (left - 1)) == 0;
  if (in.policy->dispatch == DispatchMode::kSlicer) command.mode = in.policy->preempt;
  Send(command);
  act_.plan_in_force = command.last;
  if (command.last) act_.leaving = state_.plan_sms;
  state_.plan_kernel = static_cast<std::uint8_t>(k + 1);
}

// The command was offered; it holds until the SM takes it.
void TbDispatch::WaitForSm(const Inputs& in) {
  if ((CommandSms() - in.command_ready).Any()) return;
  const bool plan = state_.command.op == CommandOp::kPartition && !state_.command.last;
  state_.command_valid = false;
  state_.step = plan ? Step::kSendPlan : Step::kIdle;
}

void TbDispatch::WaitForPlan(const Inputs& in) {
  if (!in.planner->done) return;
  // Under kSlicer each SM has a plan of its own.
  const bool anywhere =
      in.planner->anywhere && Streams(*in.policy) && in.policy->dispatch != DispatchMode::kSlicer;
  state_.plan_kept = anywhere && !state_.plan_void;
  if (anywhere) state_.plan_sms |= PlanSms(in);
  state_.step = Step::kSendPlan;
}

void TbDispatch::TakeStep(const Inputs& in) {
  if (Overtaken()) {
    state_.step = Step::kMask;
    return;
  }
  switch (state_.step) {
    case Step::kIdle:
      if (HasWork(in) && !state_.happened) state_.step = Step::kMask;
      break;
    case Step::kMask:
      return Mask(in);
    case Step::kSm:
      return PickSm(in);
    case Step::kLook:
      return LookAt(in);
    case Step::kFit:
      return Fit(in);
    case Step::kPlan:
      return WaitForPlan(in);
    case Step::kSendPlan:
      if (state_.wait == 0) SendPlan(in);
      break;
    case Step::kSend:
      return WaitForSm(in);
    default:
      return TakeSearchStep(in);
  }
}

// How long a decision takes at least: up to a dispatch, from there to a preemption, before a
// command of a plan.
void TbDispatch::Wait(const Inputs& in, Step before) {
  const unsigned scale = in.policy->latency_scale;
  const Step now = state_.step;
  if (state_.wait != 0) --state_.wait;
  if (now == Step::kIdle || now == Step::kPlan || now == Step::kSend) {
    state_.wait = 0;
    state_.searching = false;
  } else if (before == Step::kIdle) {
    state_.wait = static_cast<std::uint16_t>(4 * scale - 1);
  } else if (before == Step::kFit && now == Step::kVictimSm && !state_.searching) {
    state_.wait = static_cast<std::uint16_t>(kSearchSteps * scale - 1);
    state_.searching = true;
  } else if (now == Step::kSendPlan && before != Step::kSendPlan) {
    state_.wait = static_cast<std::uint16_t>(scale - 1);
  }
}

void TbDispatch::Tick(const Inputs& in) {
  in_ = &in;
  act_ = Act{};
  act_.guard_ends = GuardEnds(in);
  state_.decision.reset();
  const bool happens = Happens(in);
  state_.pulses = Pulses{};
  const Step before = state_.step;
  TakeStep(in);
  Wait(in, before);
  Forget(in);
  Apply(in);
  Guard(in);
  state_.changed_late = in.event_mask | in.assign->changed | act_.guard_ends;
  state_.happened_late = state_.happened;
  state_.happened = happens;
  state_.launched = in.active != state_.active;
  state_.active = in.active;
  state_.pulses.kernel = static_cast<KernelId>(state_.kernel);
  state_.pulses.sm = static_cast<SmId>(state_.sm);
  state_.pulses.victim = static_cast<KernelId>(state_.victim);
  state_.pulses.victim_tbs = state_.victim_tbs;
}

}  // namespace smk
