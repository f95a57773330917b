// SPDX-License-Identifier: Apache-2.0
// Sm: what is part of every cycle, or of every issue.
#pragma once

#include <algorithm>

#include "machine/sm/sm.h"

namespace smk {

[[gnu::always_inline]] inline void Sm::ReceiveAnswers(Cycle now) {
  if (lsu_.next_pass() > now) return;
  lsu_.Tick(now);
  TakeResolved(now);
}

// They wait for their instructions, or issue.
inline void Sm::ClearReasons(LaneMask lanes) {
  for (LaneMask& mask : reason_lanes_) mask &= ~lanes;
}

// They want no port; what they want next must be set.
inline void Sm::ClearPorts(LaneMask lanes) {
  for (unsigned port = kSp; port < kNumPorts; ++port) port_lanes_[port] &= ~lanes;
}

inline void Sm::SetReason(unsigned lane, Reason reason) {
  ClearReasons(LaneBit(lane));
  reason_lanes_[reason] |= LaneBit(lane);
}

// The warp stands where its cursor does, behind a fetch.
inline void Sm::SetNext(Warp* warp, unsigned lane) {
  warp->next = warp->code->At(warp->cursor);
  warp->buffered = warp->next->fetched;
  ClearPorts(LaneBit(lane));
  port_lanes_[warp->next->port] |= LaneBit(lane);
}

// Decides when the next instruction can issue, and what the warp waits for until then: whatever is
// there last, the instruction or an operand. The lane is not in unknown_.
template <bool Ahead>
[[gnu::always_inline]] inline void Sm::ScheduleInline(Warp* warp, unsigned lane, Cycle now) {
  ScheduleAt<Ahead>(warp, LaneBit(lane), now, warp->Operands());
}
// `Ahead`: it has issued in this cycle, so that its instruction comes later, and has no reason yet.
template <bool Ahead>
[[gnu::always_inline]] inline void Sm::ScheduleAt(Warp* warp, LaneMask bit, Cycle now,
                                                  Stamp operands) {
  if (!Ahead) ClearReasons(bit);
  Cycle at = warp->earliest;
  if (operands > static_cast<Stamp>(at * 2 + 1)) {
    at = operands / 2;
    static_assert(kMemory == kShort + 1);  // the stamp of what memory brings is odd
    reason_lanes_[kShort + (operands & 1)] |= bit;
  }
  if (!Ahead) at = std::max(at, now + 1);
  // One look for both: what is unknown is far, too.
  static_assert(kUnknownShort / 2 - kMaxRunCycles >= WarpWheel::kSlots);
  if (__builtin_expect(WarpWheel::Far(at, now), 0)) return ScheduleFar(bit, at, now, operands);
  wheel_.AddNear(bit, at);
}

inline void Sm::ScheduleFar(LaneMask bit, Cycle at, Cycle now, Stamp operands) {
  if (operands >= kUnknownShort) {
    unknown_ |= bit;
    return;
  }
  wheel_.Add(LowestLane(bit), at, now);
  special_at_ = std::min(special_at_, wheel_.FarAt());
}

// The time of a result has become known.
[[gnu::always_inline]] inline void Sm::ResolveInline(Warp* warp, unsigned lane, Cycle now) {
  if ((unknown_ & LaneBit(lane)) == 0) return;
  unknown_ &= ~LaneBit(lane);
  if (__builtin_expect(collects_ || awaiting_ != 0, 0)) return Schedule(warp, lane, now);
  ScheduleInline<false>(warp, lane, now);
}

// When the instruction of a warp that goes on will be done. The TB takes it from the warp when that
// exits or is stopped.
[[gnu::always_inline]] inline void Sm::Known(const Step& step, Cycle done, Warp* warp) {
  if (step.place[0] == 0) return KnownToBlock(done, warp->block);
  KnownToWarp(step, done, warp);
}

// Of one that has a result.
inline void Sm::KnownToWarp(const Step& step, Cycle done, Warp* warp) {
  warp->ready_at[step.place[0]] = static_cast<Stamp>(done * 2 + step.memory);
}

inline void Sm::KnownToBlock(Cycle done, ThreadBlock* block) {
  block->quiet_at = std::max(block->quiet_at, done);
}

// The same of one that started later: its warp may be stopped, or have exited.
inline void Sm::KnownLater(const Step& step, Cycle done, Warp* warp) {
  Known(step, done, warp);
  KnownToBlock(done, warp->block);
}

// It is not known when the warp's instruction will be done.
inline void Sm::Unknown(const Step& step, Warp* warp) {
  ++warp->block->unresolved;
  if (step.place[0] == 0) {
    if (__builtin_expect(step.joined != 0, 0)) warp->Join(step.joined);
    return;
  }
  warp->ready_at[step.place[0]] = step.memory != 0 ? kUnknownMemory : kUnknownShort;
}

}  // namespace smk
