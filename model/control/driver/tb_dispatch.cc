// SPDX-License-Identifier: Apache-2.0
#include "control/driver/tb_dispatch.h"

#include <algorithm>

namespace smk {
namespace {

unsigned Lowest(KernelMask mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }

}  // namespace

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
    // Not in the cycle in which one of its kernels gets another need.
    const bool changes = (in.need_changed | in.member_expired) != 0;
    const bool kept = state_.plan_kept && in.planner->kernels == wanted && !changes;
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
