// SPDX-License-Identifier: Apache-2.0
// The part of TbDispatch that makes room: who loses TBs on which SM (SMK Fig. 4, right half).
#include <algorithm>

#include "control/driver/tb_dispatch.h"

namespace smk {
// Room that is being made for the kernel: one TB each.
unsigned TbDispatch::RoomComing(unsigned kernel) const {
  unsigned n = 0;
  for (const unsigned sm : state_.reservations) {
    n += Index(state_.reservation[sm].kernel) == kernel ? 1 : 0;
  }
  return n;
}

// The SM with the highest rSM without the candidate.
void TbDispatch::FindVictimSm(const Inputs& in) {
  VictimSearch& search = state_.search;
  if (search.sms.Any()) {
    search.sm =
        static_cast<std::uint8_t>(in.drf->HighestSm(search.sms, state_.kernel, *in.kernels));
  }
  state_.step = Step::kVictimLook;
}

// The kernel that loses there, and what one TB of the candidate lacks.
void TbDispatch::FindVictimKernel(const Inputs& in) {
  VictimSearch& search = state_.search;
  const KernelMask others = static_cast<KernelMask>(in.active & ~(1u << state_.kernel));
  const auto victim = search.sms.None() ? std::nullopt : in.drf->HighestKernelOn(search.sm, others);
  search.found = victim.has_value();
  state_.victim = static_cast<std::uint8_t>(victim.value_or(0));
  const ResourceVector& need = in.kernels->slot[state_.kernel].need;
  const ResourceVector free = in.drf->Free(search.sm);
  search.missing = {need.registers - free.registers, need.shared_memory - free.shared_memory,
                    need.threads - free.threads};
  state_.victim_tbs = 0;
  state_.step = Step::kCount;
}

// The fewest TBs of the victim that must leave so that one of the candidate fits: one more per
// cycle, at least one.
void TbDispatch::CountVictims(const Inputs& in) {
  VictimSearch& search = state_.search;
  const bool enough = state_.victim_tbs != 0 && search.missing[0] <= 0 && search.missing[1] <= 0 &&
                      search.missing[2] <= 0;
  const unsigned resident = in.drf->state().resident[state_.victim][search.sm];
  if (search.found && !search.room_coming && enough) {
    state_.sm = search.sm;
    search.range_steps = 0;
    search.buffers = false;
    state_.step = Step::kRange;
  } else if (search.room_coming || !search.found || state_.victim_tbs == resident) {
    if (state_.wait > kLateSteps * in.policy->latency_scale) return;
    GiveUp(search.room_coming ? DecisionReason::kRoomComing : DecisionReason::kNoVictim);
  } else {
    const ResourceVector& need = in.kernels->slot[state_.victim].need;
    search.missing[0] -= need.registers;
    search.missing[1] -= need.shared_memory;
    search.missing[2] -= need.threads;
    ++state_.victim_tbs;
  }
}

// Preempt only when the range of rK shrinks, and there are buffers for the victims.
void TbDispatch::TestRange(const Inputs& in) {
  VictimSearch& search = state_.search;
  const bool buffers = search.buffers;
  search.buffers = in.queue->buffers_free(state_.victim) >= state_.victim_tbs;
  if (search.range_steps + 1u < kRangeSteps) {
    ++search.range_steps;
    return;
  }
  if (state_.wait != 0) return;
  if (!in.drf->RangeShrinks(state_.kernel, state_.victim, state_.victim_tbs, state_.sm,
                            state_.active, *in.kernels)) {
    return GiveUp(DecisionReason::kRangeNotReduced);
  }
  if (!buffers) return GiveUp(DecisionReason::kQueueFull);
  // The SM may turn out to have a TB that waits.
  if (in.command_ready.Test(state_.sm)) Preempt();
}

void TbDispatch::Preempt() {
  state_.reservation[state_.sm] = {static_cast<KernelId>(state_.kernel),
                                   static_cast<KernelId>(state_.victim)};
  act_.reserve = act_.leaving = SmMask::Of(state_.sm);
  act_.retry_all = true;
  state_.pulses.reserve = true;
  state_.pulses.preempt = true;
  SmCommand command;
  command.op = CommandOp::kPreempt;
  command.kernel = static_cast<KernelId>(state_.victim);
  command.count = state_.victim_tbs;
  Send(command);
  Decide(DecisionReason::kPreempt);
}

void TbDispatch::TakeSearchStep(const Inputs& in) {
  switch (state_.step) {
    case Step::kVictimSm:
      return FindVictimSm(in);
    case Step::kVictimLook:
      state_.search.room_coming = RoomComing(state_.kernel) >= WaitingTbs(in, state_.kernel);
      state_.step = Step::kVictimKernel;
      break;
    case Step::kVictimKernel:
      return FindVictimKernel(in);
    case Step::kCount:
      return CountVictims(in);
    default:
      return TestRange(in);
  }
}

}  // namespace smk
