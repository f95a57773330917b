// SPDX-License-Identifier: Apache-2.0
// The part of TbDispatch that says whether there is something to do, and which tries are not worth
// repeating.
#include <algorithm>

#include "control/driver/tb_dispatch.h"

namespace smk {

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

}  // namespace smk
