// SPDX-License-Identifier: Apache-2.0
// Sm: an ordinary cycle, and the issue of an instruction whose time is known. The rest is in sm.cc
// and sm_issue.cc.
#pragma once

#include <algorithm>

#include "machine/sm/sm_account.h"
#include "machine/sm/sm_collected.h"
#include "machine/sm/sm_schedule.h"

namespace smk {

// In an ordinary cycle the wheel has no warp in its bucket that is due later.
template <bool Ordinary>
[[gnu::always_inline]] inline void Sm::Wake(Cycle now) {
  if (now != accounted_) AccountSleep(now - accounted_);
  accounted_ = now + 1;
  data_ready_ |= Ordinary ? wheel_.TakeNear(now) : wheel_.Take(now);
}

template <bool Collects>
[[gnu::always_inline]] inline LaneMask Sm::BlockedByPorts(LaneMask lanes, Cycle now) {
  if (Collects) return BlockedByCollectors(lanes);
  const Cycle lsu_free = std::max(lsu_.FreeAt(), shared_free_[kLsu]);
  LaneMask busy = lsu_free > now ? port_lanes_[kLsu] : 0;
  if (now < ports_busy_until_) {
    for (unsigned port = kSp; port < kLsu; ++port) {
      const LaneMask want = lanes & port_lanes_[port];
      if (want == 0) continue;
      if (shape_.shared_units[port] != 0) {
        if (shared_free_[port] > now) busy |= want;
        continue;
      }
      for (unsigned s = 0; s < config_.schedulers; ++s) {
        if (port_free_[port][s] > now) busy |= want & layout_.SchedulerField(s);
      }
    }
  }
  return busy & lanes;
}

template <bool Collects>
[[gnu::always_inline]] inline void Sm::FindReady(Cycle now) {
  const LaneMask lanes = data_ready_ & runnable_;
  busy_ = lanes == 0 ? 0 : BlockedByPorts<Collects>(lanes, now);
  ready_ = lanes & ~busy_;
}

template <bool Collects>
[[gnu::always_inline]] inline LaneMask Sm::BeginOrdinary(Cycle now) {
  Wake<true>(now);
  ReceiveAnswers(now);
  if (Collects && Collecting()) AdvanceCollectors(now);
  FindReady<Collects>(now);
  return ready_;
}

// The instruction takes its pipe; when it will be done.
[[gnu::always_inline]] inline Cycle Sm::TakePipe(const Step& step, unsigned lane, Cycle now) {
  if (step.initiation > 1) {
    port_free_[step.port][layout_.SchedulerOf(lane)] = now + step.initiation;
    ports_busy_until_ = std::max(ports_busy_until_, now + step.initiation);
  }
  return now + step.latency;
}

// On-chip memory, when nothing waits in the LSU.
inline Cycle Sm::TakeBanks(const Step& step, const Warp& warp, Cycle now) {
  return lsu_.IssueKnown(step.initiation, step.latency, KernelId{warp.kernel}, now);
}

// The next instruction of the warp: from its buffer, or fetched in its turn. The SM fetches for
// `fetch_warps` warps per cycle, in the order in which their buffers run empty; going on anywhere
// else than at the next instruction (a taken branch) empties the buffer.
[[gnu::always_inline]] inline const Step* Sm::Next(Warp* warp, LaneMask bit, Cycle now) {
  bool taken = false;
  const Step* next = warp->next + 1;
  if (__builtin_expect(next[-1].ends_run, 0)) {
    warp->SetCursor();
    taken = warp->code->program->Advance(warp->identity, &warp->cursor);
    next = warp->code->At(warp->cursor);
  }
  warp->next = next;
  port_lanes_[next->port] |= bit;
  if (!taken && --warp->buffered != 0) {
    warp->earliest = static_cast<std::uint32_t>(now + 1);
    return next;
  }
  warp->buffered = next->fetched;
  unfetched_ |= bit;
  next_fetch_ = std::max(next_fetch_, now << fetch_shift_);
  const unsigned latency = taken ? config_.branch_latency : fetch_latency_;
  warp->earliest = static_cast<std::uint32_t>((next_fetch_++ >> fetch_shift_) + latency);
  return next;
}

// The same address, in one register: the compiler would work out some of its members from other
// registers anew.
template <typename T>
[[gnu::always_inline]] inline T* Held(T* object) {
  asm("" : "+r"(object));
  return object;
}

template <bool Collects>
[[gnu::always_inline]] inline void Sm::Issue(unsigned lane, Cycle now) {
  Warp& warp = *Held(&warps_[lane]);
  const LaneMask bit = LaneBit(lane);
  const Step& step = *warp.next;
  ++warp.account[step.op];
  if (Collects) {
    if (step.way != Step::kCollected || !Passes(step, &warp, lane, now)) {
      return IssueOther(step, &warp, lane, now);
    }
    const Step* const next = Next(&warp, bit, now);
    return ScheduleCollected<true>(&warp, lane, now, warp.Operands(*next));
  }
  if (step.way == Step::kPlain) {
    KnownToWarp(step, now + step.latency, &warp);
  } else if (step.way == Step::kBanks && lsu_.AllKnown()) {
    Known(step, TakeBanks(step, warp, now), &warp);
  } else if (step.way == Step::kPipe) {
    Known(step, TakePipe(step, LowestLane(bit), now), &warp);  // the lane needs no register then
  } else {
    return IssueOther(step, &warp, lane, now);
  }
  const Step* const next = Next(&warp, bit, now);
  ScheduleAt<true>(&warp, bit, now, warp.Operands(*next));
}

// The warps that are granted issue.
template <bool Collects>
[[gnu::always_inline]] inline void Sm::IssueInline(LaneMask granted, Cycle now) {
  data_ready_ &= ~granted;
  ClearReasons(granted);
  ClearPorts(granted);
  unfetched_ &= ~granted;
  if (Collects) return IssueCollected(granted, now);
  for (; granted != 0; granted &= granted - 1) Issue<false>(LowestLane(granted), now);
  if (!lsu_.resolved().empty()) TakeResolved(now);
}

template <bool Collects>
[[gnu::always_inline]] inline Cycle Sm::EndOrdinary(Cycle now, LaneMask granted) {
  const LaneMask left = ready_ ^ granted;
  const LaneMask wrong = left & granted;
  if (__builtin_expect(wrong != 0, 0)) {
    RefuseGrant(layout_.SchedulerOf(LowestLane(wrong)), layout_.IndexOf(LowestLane(wrong)), now);
  }
  if (granted != 0) IssueInline<Collects>(granted, now);
  AccountInline<true>(ready_ ^ left, ready_, busy_, 1);
  // What is left is ready again.
  return NextEvent<Collects>(now, left);
}

template <bool Collects>
[[gnu::always_inline]] inline Cycle Sm::EndPrepared(Cycle now, LaneMask granted) {
  ReceiveAnswers(now);
  if (Collects && Collecting()) AdvancePrepared(now);
  return EndOrdinary<Collects>(now, granted);
}

[[gnu::always_inline]] inline LaneMask Sm::BeginReady(Cycle now) {
  Wake<false>(now);
  if (!collects_) {
    FindReady<false>(now);
    return ready_;
  }
  const LaneMask lanes = data_ready_ & runnable_;
  busy_ = lanes == 0 ? 0 : BlockedLater(lanes, now);
  ready_ = lanes & ~busy_;
  return ready_;
}

}  // namespace smk
