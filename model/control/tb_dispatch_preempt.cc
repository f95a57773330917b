// SPDX-License-Identifier: Apache-2.0
// The part of TbDispatch that makes room: who loses TBs on which SM (SMK Fig. 4, right half).
#include <algorithm>

#include "control/tb_dispatch.h"

namespace smk {
namespace {

constexpr unsigned kTooMany = kMaxTbSlots + 1;

// Fewest TBs of `victim` that must leave so that `need` fits beside what is free: one restoring
// division of five steps per resource in hardware. kTooMany when an SM cannot hold that many.
unsigned VictimTbs(const ResourceVector& need, const ResourceVector& free,
                   const ResourceVector& victim) {
  const auto tbs = [](unsigned n, unsigned f, unsigned v) -> unsigned {
    if (n <= f) return 0;
    return v == 0 ? kTooMany : std::min(kTooMany, (n - f + v - 1) / v);
  };
  return std::max({tbs(need.registers, free.registers, victim.registers),
                   tbs(need.shared_memory, free.shared_memory, victim.shared_memory),
                   tbs(need.threads, free.threads, victim.threads),
                   tbs(need.tbs, free.tbs, victim.tbs)});
}

}  // namespace

// Room that is being made for the kernel: one TB each.
unsigned TbDispatch::RoomComing(unsigned kernel) const {
  unsigned n = 0;
  for (SmMask m = state_.reservations; m != 0; m &= m - 1) {
    n += Index(state_.reservation[__builtin_ctz(m)].kernel) == kernel ? 1 : 0;
  }
  return n;
}

// Third cycle: the SM with the highest rSM without the candidate, and the kernel that loses there.
void TbDispatch::FindVictim(const Inputs& in) {
  if (RoomComing(state_.kernel) >= WaitingTbs(in, state_.kernel)) {
    return GiveUp(DecisionReason::kRoomComing);
  }
  const unsigned candidate_sm = state_.sm;
  const SmMask mask = Usable(in, state_.kernel);
  if (mask == 0) return GiveUp(DecisionReason::kNoVictim);
  const unsigned sm = in.drf->HighestSm(mask, state_.kernel, *in.kernels);
  const KernelMask others = static_cast<KernelMask>(in.active & ~(1u << state_.kernel));
  const auto victim = in.drf->HighestKernelOn(sm, others);
  if (!victim) return GiveUp(DecisionReason::kNoVictim);
  state_.victim = static_cast<std::uint8_t>(*victim);
  state_.victim_tbs = static_cast<std::uint8_t>(
      std::max(1u, VictimTbs(in.kernels->slot[state_.kernel].need, in.drf->Free(sm),
                             in.kernels->slot[*victim].need)));
  if (state_.victim_tbs > in.drf->state().resident[*victim][sm]) {
    state_.sm = static_cast<std::uint8_t>(candidate_sm);
    return GiveUp(DecisionReason::kNoVictim);
  }
  state_.tried[state_.kernel] |= 1u << candidate_sm;
  state_.sm = static_cast<std::uint8_t>(sm);
  state_.step = Step::kRange;
}

// Fourth cycle: preempt only when the range of rK shrinks.
void TbDispatch::TestRange(const Inputs& in) {
  if (in.drf->state().resident[state_.victim][state_.sm] < state_.victim_tbs) {  // no longer
    state_.step = Step::kIdle;
    return;
  }
  if (!in.drf->RangeShrinks(state_.kernel, state_.victim, state_.victim_tbs, state_.sm, in.active,
                            *in.kernels)) {
    state_.step = Step::kIdle;
    state_.command = SmCommand{};
    return Decide(DecisionReason::kRangeNotReduced);
  }
  if (in.queue->buffers_free(state_.victim) < state_.victim_tbs) {
    state_.step = Step::kIdle;
    state_.command = SmCommand{};
    return Decide(DecisionReason::kQueueFull);
  }
  state_.reservation[state_.sm] = {static_cast<KernelId>(state_.kernel),
                                   static_cast<KernelId>(state_.victim)};
  state_.victims_valid |= 1u << state_.sm;
  state_.reservations |= 1u << state_.sm;
  state_.busy |= 1u << state_.sm;
  for (SmMask& tried : state_.tried) tried = 0;
  state_.pulses.reserve = true;
  state_.pulses.preempt = true;
  SmCommand command;
  command.op = CommandOp::kPreempt;
  command.kernel = static_cast<KernelId>(state_.victim);
  command.count = state_.victim_tbs;
  Send(command);
  Decide(DecisionReason::kPreempt);
}

}  // namespace smk
