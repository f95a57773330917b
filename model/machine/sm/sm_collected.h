// SPDX-License-Identifier: Apache-2.0
// Sm: instructions that pass the operand collectors without a wait. Those that wait:
// sm_collected.cc.
#pragma once

#include "machine/sm/sm_schedule.h"

namespace smk {

// An instruction that no other one can hold up starts at a time that is known: whether this is one.
[[gnu::always_inline]] inline bool Sm::Passes(const Step& step, Warp* warp, unsigned lane,
                                              Cycle now) {
  const unsigned s = layout_.SchedulerOf(lane);
  const Cycle start = now + kCollectorCycles;
  Cycle& port_free = port_free_[step.port][s];
  const bool flows = step.may_pass && port_free <= start && collectors_.Flows(step.port, s);
  if (!flows || warp->merged) return false;
  if (step.initiation > 1) {
    Claim& claim = claims_[step.port][s];
    if (claim.start > now) return false;
    claim = {start, port_free, warp->tb_slot};
    port_free = start + step.initiation;
  }
  Known(step, start + step.latency, warp);
  warp->passing.Add(static_cast<std::uint32_t>(now), step.place[0], step.result);
  return true;
}

// Results of the kind that this one, which is known, is not.
inline Step::Result OtherThan(Stamp operand) {
  return (operand & 1) != 0 ? Step::kShort : Step::kMemory;
}

// Until an instruction has started, who needs its result waits for it and for nothing else, and its
// time is not told. So it must not be seen that it is known.
// `Ahead` as in ScheduleAt().
template <bool Ahead>
[[gnu::always_inline]] inline void Sm::ScheduleCollected(Warp* warp, unsigned lane, Cycle now,
                                                         Stamp operands) {
  const Passing& passing = warp->passing;
  const std::uint32_t age = Ahead ? 0 : static_cast<std::uint32_t>(now) - passing.last;
  if (age < kCollectorCycles) {
    // Nothing that passes is wanted; or the wait is of one kind, whatever passes.
    const bool early = operands <= static_cast<Stamp>(now * 2 + 3);
    const bool waits = operands > static_cast<Stamp>(warp->earliest * 2 + 1);
    const bool alike = operands < kUnknownShort && !passing.Has(OtherThan(operands), age);
    if (!early && !(waits && alike)) return ScheduleLater(warp, lane, now, operands);
  }
  ScheduleAt<Ahead>(warp, LaneBit(lane), now, operands);
}

}  // namespace smk
