// SPDX-License-Identifier: Apache-2.0
// Sm: what is part of every cycle, or of every issue.
#pragma once

#include <algorithm>

#include "machine/sm.h"

namespace smk {

[[gnu::always_inline]] inline void Sm::ReceiveAnswers(Cycle now) {
  if (lsu_.next_pass() > now) return;
  lsu_.Tick(now);
  TakeResolved(now);
}

inline void Sm::SetReason(Warp* warp, unsigned lane, Reason reason) {
  const LaneMask bit = LaneBit(lane);
  reason_lanes_[warp->reason] &= ~bit;
  reason_lanes_[reason] |= bit;
  warp->reason = reason;
}

// `next` is another one: the warp now wants its port.
inline void Sm::SetPort(Warp* warp, unsigned lane) {
  if (warp->port == warp->next->port) return;
  const LaneMask bit = LaneBit(lane);
  port_lanes_[warp->port] &= ~bit;
  warp->port = warp->next->port;
  port_lanes_[warp->port] |= bit;
}

// The warp stands where its cursor does, behind a fetch.
inline void Sm::SetNext(Warp* warp, unsigned lane) {
  warp->next = warp->code->At(warp->cursor);
  warp->buffered = warp->next->fetched;
  port_lanes_[warp->next->port] |= LaneBit(lane);
  SetPort(warp, lane);
}

// Decides when the next instruction can issue, and what the warp waits for until then: whatever is
// there last, the instruction or an operand. The lane is not in unknown_.
[[gnu::always_inline]] inline void Sm::ScheduleInline(Warp* warp, unsigned lane, Cycle now) {
  ScheduleAt(warp, lane, now, warp->Operands());
}
[[gnu::always_inline]] inline void Sm::ScheduleAt(Warp* warp, unsigned lane, Cycle now,
                                                  Stamp operands) {
  Cycle at = warp->earliest;
  const bool waits = operands > static_cast<Stamp>(at * 2 + 1);
  at = waits ? operands / 2 : at;
  static_assert(kControl == 0 && kMemory == 1 && kShort == 2);
  const unsigned operand = kShort - (operands & 1);
  SetReason(warp, lane, static_cast<Reason>(waits ? operand : 0));
  if (__builtin_expect(operands >= kUnknownShort, 0)) {
    unknown_ |= LaneBit(lane);
    return;
  }
  wheel_.Add(lane, std::max(at, now + 1), now);
}

// The time of a result has become known.
[[gnu::always_inline]] inline void Sm::ResolveInline(Warp* warp, unsigned lane, Cycle now) {
  if ((unknown_ & LaneBit(lane)) == 0) return;
  unknown_ &= ~LaneBit(lane);
  if (__builtin_expect(collectors_.present(), 0)) return Schedule(warp, lane, now);
  ScheduleInline(warp, lane, now);
}

}  // namespace smk
