// SPDX-License-Identifier: Apache-2.0
#include "control/tb_dispatch.h"

#include <algorithm>

namespace smk {
namespace {

unsigned Lowest(SmMask mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }

}  // namespace

// Registers that lose their meaning when kernels come and go or SMs change.
void TbDispatch::Forget(const Inputs& in) {
  const bool event = (in.event_mask | in.assign->changed) != 0;
  state_.stale = event || (state_.step > Step::kFit && state_.stale);
  ForgetTried(in);
  state_.busy &= ~in.settled_mask;
  const KernelMask gone = in.need_changed | in.member_expired;
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    if (in.assign->changed >> sm & 1) state_.planned[sm] = 0;
    if (in.member_expired & state_.planned[sm]) state_.planned[sm] = 0;
    state_.planned[sm] &= static_cast<KernelMask>(~gone);
  }
  if (gone != 0) state_.tried.fill(0);
  if (gone != 0 || (in.assign->changed >> state_.sm & 1) != 0) state_.plan_void = true;
  ForgetDone(in);
}

// Also of a decision during which an event came: it began without knowing of it.
void TbDispatch::ForgetTried(const Inputs& in) {
  const SmMask changed = in.event_mask | in.assign->changed;
  const bool all = in.policy->dispatch == DispatchMode::kOnDemand &&
                   (changed != 0 || state_.stale || in.queue->state().ack != 0);
  for (SmMask& tried : state_.tried) tried &= all ? 0 : ~changed;
}

// Room reserved for a kernel that is done is nobody's, and a victim kernel that is done has no rK.
void TbDispatch::ForgetDone(const Inputs& in) {
  state_.victims_valid &= ~in.settled_mask;
  if (in.kernel_done == 0) return;
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    const Reservation& r = state_.reservation[sm];
    if (in.kernel_done >> Index(r.kernel) & 1) state_.reservations &= ~(1u << sm);
    if (in.kernel_done >> Index(r.victim) & 1) state_.victims_valid &= ~(1u << sm);
  }
}

// TBs of the kernel that are on no SM: new and preempted ones.
unsigned TbDispatch::WaitingTbs(const Inputs& in, unsigned kernel) const {
  const KernelTable::Slot& slot = in.kernels->slot[kernel];
  return slot.active ? slot.tb_count - slot.next_tb + in.queue->count(kernel) : 0;
}

KernelMask TbDispatch::Waiting(const Inputs& in) const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if (WaitingTbs(in, k) != 0) mask |= static_cast<KernelMask>(1u << k);
  }
  return mask;
}

// SMs that may host the kernel and on which no TB is on its way out.
SmMask TbDispatch::Usable(const Inputs& in, unsigned kernel) const {
  SmMask mask = 0;
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    if (in.assign->allowed[sm] >> kernel & 1) mask |= 1u << sm;
  }
  return mask & ~state_.busy & ~state_.reservations;
}

// SMs that host a kernel which may not run there any more. With partitions, planning evicts.
SmMask TbDispatch::SmsToEvict(const Inputs& in) const {
  if (in.assign_busy) return 0;
  SmMask mask = 0;
  for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
    const KernelMask resident = in.drf->ResidentOn(sm) & in.active;
    if (resident & ~in.assign->allowed[sm]) mask |= 1u << sm;
  }
  return mask & ~state_.busy & ~state_.reservations;
}

bool TbDispatch::HasWork(const Inputs& in) const {
  if (state_.step != Step::kIdle || state_.command_valid || in.assign_busy) return true;
  if ((state_.reservations & ~state_.busy) != 0) return true;
  const KernelMask waiting = Waiting(in);
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if ((waiting >> k & 1) != 0 && Candidates(in, k) != 0) return true;
  }
  return !partitioned(*in.policy) && SmsToEvict(in) != 0;
}

void TbDispatch::Decide(DecisionReason reason) {
  if (log_ == nullptr) return;
  Decision d;
  d.cycle = now_;
  d.reason = reason;
  d.kernel = static_cast<KernelId>(state_.kernel);
  d.sm = static_cast<SmId>(state_.sm);
  d.tb = state_.command.tb;
  d.victim = static_cast<KernelId>(state_.victim);
  d.victim_tbs = state_.victim_tbs;
  for (unsigned k = 0; k < kMaxKernels; ++k) d.share[k] = in_->drf->KernelShare(k);
  log_->push_back(d);
}

void TbDispatch::GiveUp(DecisionReason reason) {
  state_.tried[state_.kernel] |= 1u << state_.sm;
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

void TbDispatch::Evict(const Inputs& in, unsigned sm) {
  state_.sm = static_cast<std::uint8_t>(sm);
  const KernelMask resident = in.drf->ResidentOn(sm);
  state_.kernel = Lowest(resident);
  state_.busy |= 1u << sm;
  SmCommand command;
  command.op = CommandOp::kEvict;
  command.mode = in.policy->preempt;
  Send(command);
  Decide(DecisionReason::kEvictSm);
}

void TbDispatch::PickReserved(unsigned sm) {
  state_.sm = static_cast<std::uint8_t>(sm);
  state_.kernel = static_cast<std::uint8_t>(Index(state_.reservation[sm].kernel));
  state_.reserved = true;
  state_.step = Step::kFit;
}

// First cycle of a decision: the candidate kernel and the candidate SM.
void TbDispatch::Pick(const Inputs& in) {
  state_.reserved = false;
  const SmMask settled_reservations = state_.reservations & ~state_.busy;
  if (settled_reservations != 0) return PickReserved(Lowest(settled_reservations));
  if (in.assign_busy) {
    state_.step = Step::kIdle;
    return;
  }
  const SmMask evict = SmsToEvict(in);
  if (evict != 0 && !partitioned(*in.policy)) return Evict(in, Lowest(evict));
  KernelMask kernels = 0;
  const KernelMask waiting = Waiting(in);
  std::array<SmMask, kMaxKernels> candidates{};
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    candidates[k] = (waiting >> k & 1) != 0 ? Candidates(in, k) : 0;
    if (candidates[k] != 0) kernels |= static_cast<KernelMask>(1u << k);
  }
  if (kernels == 0) {
    state_.step = Step::kIdle;
    return;
  }
  unsigned kernel = in.drf->LowestKernel(kernels);
  if (in.policy->dispatch == DispatchMode::kLeftover) {
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if ((kernels >> k & 1) != 0 && in.kernels->slot[k].order < in.kernels->slot[kernel].order) {
        kernel = k;
      }
    }
  }
  state_.kernel = static_cast<std::uint8_t>(kernel);
  state_.sm = static_cast<std::uint8_t>(in.drf->LowestSm(candidates[kernel], *in.kernels));
  state_.step = Step::kFit;
}

// Preempted TBs go before new ones.
void TbDispatch::Dispatch(const Inputs& in) {
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
  if (state_.reserved) state_.reservations &= ~(1u << state_.sm);
  if (in.policy->dispatch == DispatchMode::kOnDemand) state_.tried.fill(0);  // rK has changed
  Send(command);
  Decide(reason);
}

// The room made by a preemption: for the kernel it was made for, if it still wants it.
void TbDispatch::FitReserved(const Inputs& in) {
  state_.step = Step::kIdle;
  if ((state_.reservations >> state_.sm & 1) == 0) return;
  const unsigned k = state_.kernel;
  const bool wanted = (Waiting(in) & in.assign->allowed[state_.sm]) >> k & 1;
  if (wanted && in.drf->Fits(state_.sm, in.kernels->slot[k].need)) return Dispatch(in);
  state_.reservations &= ~(1u << state_.sm);
  state_.pulses.cancel = true;
}

void TbDispatch::FitPartitioned(const Inputs& in) {
  const unsigned k = state_.kernel;
  if ((state_.planned[state_.sm] >> k & 1) == 0) {
    state_.pulses.plan_start = true;
    state_.plan_void = false;
    state_.pulses.plan_kernels = in.assign->allowed[state_.sm] & in.active;
    state_.step = Step::kPlan;
    Decide(DecisionReason::kRepartition);
    return;
  }
  if (in.drf->state().resident[k][state_.sm] < state_.partition[state_.sm][k]) return Dispatch(in);
  GiveUp(DecisionReason::kPartitionFull);
}

// Second cycle: is there room?
void TbDispatch::Fit(const Inputs& in) {
  if (state_.reserved) return FitReserved(in);
  if ((in.assign->allowed[state_.sm] >> state_.kernel & 1) == 0) {  // no longer
    state_.step = Step::kIdle;
    return;
  }
  if (partitioned(*in.policy)) return FitPartitioned(in);
  if (in.drf->Fits(state_.sm, in.kernels->slot[state_.kernel].need)) return Dispatch(in);
  if (in.policy->dispatch != DispatchMode::kOnDemand) return GiveUp(DecisionReason::kNoRoom);
  state_.step = Step::kVictim;
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
  Send(command);
  if (command.last) {
    state_.busy |= 1u << state_.sm;
    state_.planned[state_.sm] = state_.plan_void ? 0 : in.planner->kernels;
    for (unsigned i = 0; i < kMaxKernels; ++i) {
      state_.partition[state_.sm][i] = static_cast<std::uint8_t>(in.planner->part[i].tbs);
    }
  } else {
    state_.plan_kernel = static_cast<std::uint8_t>(k + 1);
  }
}

// The command was offered; it holds until the SM takes it.
void TbDispatch::WaitForSm(const Inputs& in) {
  if ((in.command_ready >> state_.command_sm & 1) == 0) return;
  const bool plan = state_.command.op == CommandOp::kPartition && !state_.command.last;
  state_.command_valid = false;
  state_.step = plan ? Step::kSendPlan : Step::kIdle;
}

void TbDispatch::TakeStep(const Inputs& in) {
  switch (state_.step) {
    case Step::kIdle:
      if (HasWork(in)) state_.step = Step::kPick;
      break;
    case Step::kPick:
      return Pick(in);
    case Step::kFit:
      return Fit(in);
    case Step::kVictim:
      return FindVictim(in);
    case Step::kRange:
      return TestRange(in);
    case Step::kPlan:
      if (in.planner->done) {
        state_.plan_kernel = 0;
        state_.step = Step::kSendPlan;
      }
      break;
    case Step::kSendPlan:
      SendPlan(in);
      break;
    case Step::kSend:
      WaitForSm(in);
      break;
  }
}

void TbDispatch::Tick(const Inputs& in, Cycle now, std::vector<Decision>* log) {
  in_ = &in;
  now_ = now;
  log_ = log;
  state_.pulses = Pulses{};
  Forget(in);
  if (state_.wait != 0) {
    --state_.wait;
    return;
  }
  TakeStep(in);
  ForgetTried(in);
  const bool waits_for_others =
      state_.step == Step::kIdle || state_.step == Step::kPlan || state_.step == Step::kSend;
  state_.wait = waits_for_others ? 0 : static_cast<std::uint8_t>(in.policy->latency_scale - 1);
  state_.pulses.kernel = static_cast<KernelId>(state_.kernel);
  state_.pulses.sm = static_cast<SmId>(state_.sm);
  state_.pulses.victim = static_cast<KernelId>(state_.victim);
  state_.pulses.victim_tbs = state_.victim_tbs;
}

}  // namespace smk
