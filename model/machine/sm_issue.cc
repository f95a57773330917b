// SPDX-License-Identifier: Apache-2.0
// Sm: what happens when a warp instruction issues.
#include <algorithm>
#include <iterator>
#include <utility>

#include "machine/sm_account.h"
#include "machine/sm_schedule.h"

namespace smk {

// The first shared pipe that is free takes an instruction; when it starts. Which one it is does not
// matter: the pipes stand in the order in which they are free.
inline Cycle Sm::TakeUnit(Port port, unsigned initiation, Cycle now) {
  Cycle* const free = port_free_[port].data();
  const unsigned units = shape_.shared_units[port];
  const Cycle start = std::max(now, free[0]);
  const Cycle again = start + initiation;
  free[0] = again;
  for (unsigned i = 1; i < units && free[i] < again; ++i) std::swap(free[i - 1], free[i]);
  shared_free_[port] = free[0];
  return start;
}

// The instruction takes its pipe and will be done in a cycle that is known.
[[gnu::always_inline]] inline void Sm::IssueToPort(const Step& step, Warp* warp, unsigned lane,
                                                   Cycle now) {
  const Cycle done = now + step.latency;
  if (step.initiation > 1) {
    port_free_[step.port][layout_.SchedulerOf(lane)] = now + step.initiation;
    ports_busy_until_ = std::max(ports_busy_until_, now + step.initiation);
  }
  Known(step.place[0], step.memory, done, warp);
}

// One that all schedulers share, if there is such a pipe.
void Sm::IssueToSharedPort(const Step& step, Warp* warp, unsigned lane, Cycle now) {
  if (shape_.shared_units[step.port] == 0) return IssueToPort(step, warp, lane, now);
  const Cycle start = TakeUnit(step.port, step.initiation, now);
  ports_busy_until_ = std::max(ports_busy_until_, shared_free_[step.port]);
  Known(step.place[0], step.memory, start + step.latency, warp);
}

// When the warp's instruction will be done. `place` and `memory` as in Step.
inline void Sm::Known(unsigned place, unsigned memory, Cycle done, Warp* warp) {
  if (place != 0) warp->ready_at[place] = static_cast<Stamp>(done * 2 + memory);
  ThreadBlock& block = *warp->block;
  block.quiet_at = std::max(block.quiet_at, done);
}

// On-chip memory, when nothing waits in the LSU.
inline void Sm::IssueToBanks(const Step& step, Warp* warp, Cycle now) {
  const Cycle done =
      lsu_.IssueKnown(static_cast<OpClass>(step.op), step.conflicts, KernelId{warp->kernel}, now);
  Known(step.place[0], step.memory, done, warp);
}

// `waited`: it comes from the collectors, which know its lines.
template <bool Plain>
[[gnu::always_inline]] inline void Sm::IssueToLsu(const Step& step, Warp* warp, unsigned lane,
                                                  Cycle now, Collectors::Entry* waited) {
  if (!Plain && shape_.shared_units[kLsu] != 0) TakeUnit(kLsu, 1, now);
  if (step.off_chip || !lsu_.AllKnown()) return Queue(step, warp, lane, now, waited);
  IssueToBanks(step, warp, now);
}

// Into the LSU, which does not know yet when it will be done.
[[gnu::noinline]] void Sm::Queue(const Step& step, Warp* warp, unsigned lane, Cycle now,
                                 Collectors::Entry* waited) {
  Lsu::Request request;
  request.op = static_cast<OpClass>(step.op);
  request.lane = static_cast<std::uint8_t>(lane);
  request.place = step.place[0];
  request.tb_slot = warp->tb_slot;
  request.kernel = KernelId{warp->kernel};
  request.passes = step.conflicts;
  request.tb_generation = warp->block->generation;
  Unknown(step, warp);
  if (!step.off_chip) return lsu_.IssueShared(request);
  request.passes = waited != nullptr ? waited->CopyLines(lsu_.lines(), lsu_.sectors())
                                     : LinesOf(*warp, lsu_.lines(), lsu_.sectors());
  lsu_.IssueGlobal(request, now);
}

// It is not known when the warp's instruction will be done.
inline void Sm::Unknown(const Step& step, Warp* warp) {
  ++warp->block->unresolved;
  if (step.place[0] == 0) return;
  warp->ready_at[step.place[0]] = step.memory != 0 ? kUnknownMemory : kUnknownShort;
}

std::uint8_t Sm::LinesOf(const Warp& warp, std::uint64_t* lines, SectorMask* sectors) {
  const Program& program = *warp.code->program;
  return static_cast<std::uint8_t>(
      program.Lines(program.At(warp.cursor), warp.identity, warp.cursor, lines, sectors));
}

bool Sm::PipeTakes(unsigned port, unsigned scheduler, Cycle now) {
  if (shape_.shared_units[port] != 0 && shared_free_[port] > now) return false;
  if (port == kLsu) return !lsu_.Full(now);
  return shape_.shared_units[port] != 0 || port_free_[port][scheduler] <= now;
}

// Issues into the collectors. The result's time is not known before it starts.
[[gnu::always_inline]] inline void Sm::Wait(const Step& step, Warp* warp, unsigned lane) {
  Collectors::Entry& entry = collectors_.Issue(step.port, layout_.SchedulerOf(lane));
  entry.step = &step;
  entry.lane = static_cast<std::uint8_t>(lane);
  entry.tb_slot = warp->tb_slot;
  entry.tb_generation = warp->block->generation;
  Unknown(step, warp);
  if (__builtin_expect(step.off_chip, 0)) FindLines(*warp, &entry);
}

[[gnu::noinline]] void Sm::FindLines(const Warp& warp, Collectors::Entry* entry) {
  SectorMask* const sectors = lsu_.sectors() == nullptr ? nullptr : entry->sectors.data();
  entry->lines_used = LinesOf(warp, entry->lines.data(), sectors);
}

// An instruction leaves the collectors for its pipe. One of a flushed TB is dropped.
[[gnu::always_inline]] inline void Sm::Start(Collectors::Entry* waited, Cycle now) {
  ThreadBlock& block = blocks_[waited->tb_slot];
  if (Dropped(*waited)) return;
  Warp& warp = warps_[waited->lane];
  --block.unresolved;
  if (waited->port == kLsu) {
    IssueToLsu<false>(*waited->step, &warp, waited->lane, now, waited);
  } else if (shape_.shared_units[waited->port] != 0) {
    IssueToSharedPort(*waited->step, &warp, waited->lane, now);
  } else {
    IssueToPort(*waited->step, &warp, waited->lane, now);
  }
  ResolveInline(&warp, waited->lane, now);
  if (block.AllExited()) TryFinish(&block, waited->tb_slot, now);
}

// An instruction that no other one can hold up starts at a time that is known. All others wait.
[[gnu::always_inline]] inline void Sm::IssueCollected(const Step& step, Warp* warp, unsigned lane,
                                                      Cycle now) {
  const unsigned s = layout_.SchedulerOf(lane);
  const Cycle start = now + kCollectorCycles;
  Cycle& port_free = port_free_[step.port][s];
  const bool flows = step.may_pass && port_free <= start && collectors_.Flows(step.port, s);
  if (!flows || warp->block->merged != nullptr) return Wait(step, warp, lane);
  if (step.initiation > 1) {
    Claim& claim = claims_[step.port][s];
    if (claim.start > now) return Wait(step, warp, lane);
    claim = {start, port_free, warp->tb_slot};
    port_free = start + step.initiation;
  }
  Known(step.place[0], step.memory, start + step.latency, warp);
  Passing& passing = passing_[lane];
  const auto cycle = static_cast<std::uint32_t>(now);
  passing.last = cycle;
  if (step.memory != 0) passing.last_memory = cycle;
  passing.ring[cycle % passing.ring.size()] = {cycle, step.place[0], step.memory};
}

// Until an instruction has started, who needs its result waits for it and for nothing else, and its
// time is not told. So it must not be seen that it is known.
[[gnu::always_inline]] inline void Sm::ScheduleCollected(Warp* warp, unsigned lane, Cycle now) {
  const Passing& passing = passing_[lane];
  const auto cycle = static_cast<std::uint32_t>(now);
  const Stamp operands = warp->Operands();
  if (cycle - passing.last < kCollectorCycles) {
    // Nothing that passes is wanted; or the wait is for a short operation, whoever it is.
    const bool early = operands <= static_cast<Stamp>(now * 2 + 3);
    const bool waits = operands > static_cast<Stamp>(warp->earliest * 2 + 1);
    const bool is_short = (operands & 1) == 0 && operands < kUnknownShort &&
                          cycle - passing.last_memory >= kCollectorCycles;
    if (!early && !(waits && is_short)) return ScheduleLater(warp, lane, now);
  }
  ScheduleAt(warp, lane, now, operands);
}

// The same where it may be seen: then the lane is as if the time were unknown.
[[gnu::noinline]] void Sm::ScheduleLater(Warp* warp, unsigned lane, Cycle now) {
  const auto wanted = [step = warp->next](unsigned place) {
    return place != 0 && std::count(std::begin(step->place), std::end(step->place), place) != 0;
  };
  const Stamp operands = warp->Operands();
  bool any_memory = operands == kUnknownMemory, any_short = operands == kUnknownShort;
  std::array<LaneMask, kCollectorCycles + 1> at{};
  bool found = false;
  for (const Passing::Result& result : passing_[lane].ring) {
    const std::uint32_t age = static_cast<std::uint32_t>(now) - result.cycle;
    if (age >= kCollectorCycles || !wanted(result.place)) continue;
    found = true;
    (result.memory != 0 ? any_memory : any_short) = true;
    at[(now + kCollectorCycles - age) % at.size()] = LaneBit(lane);
  }
  const bool alike = any_memory != any_short && any_memory == ((operands & 1) != 0);
  const bool waits = operands > static_cast<Stamp>(warp->earliest * 2 + 1);
  if (!found || (alike && waits && operands < kUnknownShort)) {
    return ScheduleAt(warp, lane, now, operands);
  }
  SetReason(warp, lane, any_memory ? kMemory : kShort);
  unknown_ |= LaneBit(lane);
  resolving_ |= LaneBit(lane);
  for (unsigned i = 0; i < at.size(); ++i) resolve_at_[i] |= at[i];
}

// The lanes that wait for what starts now.
void Sm::ResolveDue(Cycle now) {
  LaneMask due = std::exchange(resolve_at_[now % resolve_at_.size()], 0);
  resolving_ = 0;
  for (const LaneMask later : resolve_at_) resolving_ |= later;
  for (; due != 0; due &= due - 1) {
    const unsigned lane = LowestLane(due);
    Resolve(&warps_[lane], lane, now);
  }
}

// A TB is flushed: what of it has not started does not take its pipe.
void Sm::Unclaim(unsigned slot, Cycle now) {
  for (unsigned port = 0; port < kNumPorts; ++port) {
    for (unsigned s = 0; s < config_.schedulers; ++s) {
      Claim& claim = claims_[port][s];
      if (claim.slot != slot || claim.start <= now) continue;
      port_free_[port][s] = claim.before;
      claim.start = 0;
    }
  }
}

void Sm::AdvanceCollectors(Cycle now) {
  if (resolving_ != 0) ResolveDue(now);
  if (collectors_.empty()) return;
  collectors_.Advance(
      [this, now](unsigned port, unsigned scheduler) { return PipeTakes(port, scheduler, now); },
      [this, now](Collectors::Entry& entry) { Start(&entry, now); });
  if (!lsu_.resolved().empty()) TakeResolved(now);
}

// The next instruction of the warp: from its buffer, or fetched in its turn. The SM fetches for
// `fetch_warps` warps per cycle, in the order in which their buffers run empty; going on anywhere
// else than at the next instruction (a taken branch) empties the buffer.
[[gnu::always_inline]] inline void Sm::Next(Warp* warp, unsigned lane, Cycle now) {
  bool taken = false;
  if (__builtin_expect(!warp->next->ends_run, 1)) {
    ++warp->cursor.node;
    ++warp->next;
  } else {
    taken = warp->code->program->Advance(warp->identity, &warp->cursor);
    warp->next = warp->code->At(warp->cursor);
  }
  SetPort(warp, lane);
  if (!taken && --warp->buffered != 0) {
    warp->earliest = static_cast<std::uint32_t>(now + 1);
    return;
  }
  warp->buffered = warp->next->fetched;
  unfetched_ |= LaneBit(lane);
  next_fetch_ = std::max(next_fetch_, now << shape_.fetch_shift);
  const unsigned latency = taken ? config_.branch_latency : config_.fetch_latency;
  warp->earliest = static_cast<std::uint32_t>((next_fetch_++ >> shape_.fetch_shift) + latency);
}

[[gnu::always_inline]] inline void Sm::Issue(unsigned lane, Cycle now) {
  Warp& warp = warps_[lane];
  const Step& step = *warp.next;
  ++issued_[warp.kernel].by_class[step.op];
  if (__builtin_expect(warp.missing != 0, 0)) {
    issued_[warp.kernel].missing_threads += warp.missing;
  }
  if (step.way == Step::kPipe) {
    IssueToPort(step, &warp, lane, now);
  } else if (step.way == Step::kBanks && lsu_.AllKnown()) {
    IssueToBanks(step, &warp, now);
  } else {
    return IssueOther(step, &warp, lane, now);
  }
  Next(&warp, lane, now);
  ScheduleInline(&warp, lane, now);
}

// Apart, so that the short ways stay short.
[[gnu::noinline]] void Sm::IssueOther(const Step& step, Warp* warp, unsigned lane, Cycle now) {
  if (step.way == Step::kCollected) {
    IssueCollected(step, warp, lane, now);
  } else if (!IssueSpecial(step, warp, lane, now)) {
    return;
  }
  Next(warp, lane, now);
  if (collectors_.present()) return ScheduleCollected(warp, lane, now);
  ScheduleInline(warp, lane, now);
}

// Whether the warp goes on to its next instruction by itself.
bool Sm::IssueSpecial(const Step& step, Warp* warp, unsigned lane, Cycle now) {
  if (__builtin_expect(step.ends_idempotence, 0) &&
      gpu_.launches[warp->kernel].spec->idempotence == Idempotence::kUntilStore) {
    inputs_.tb_flushable &= ~(1u << warp->tb_slot);
  }
  if (step.port == kNoPort) return IssueWithoutPort(step, warp, lane, now);
  if (shape_.plain_ports) {
    if (step.port == kLsu) {
      IssueToLsu<true>(step, warp, lane, now, nullptr);
    } else {
      IssueToPort(step, warp, lane, now);
    }
  } else if (config_.collectors != 0) {
    Wait(step, warp, lane);
  } else if (step.port == kLsu) {
    IssueToLsu<false>(step, warp, lane, now, nullptr);
  } else {
    IssueToSharedPort(step, warp, lane, now);
  }
  return true;
}

// The warps that are granted issue.
[[gnu::always_inline]] inline void Sm::IssueInline(LaneMask granted, Cycle now) {
  data_ready_ &= ~granted;
  for (; granted != 0; granted &= granted - 1) Issue(LowestLane(granted), now);
  if (!lsu_.resolved().empty()) TakeResolved(now);
}

void Sm::IssueAll(LaneMask granted, Cycle now) { IssueInline(granted, now); }

[[gnu::always_inline]] inline Cycle Sm::EndInline(Cycle now, LaneMask granted) {
  const LaneMask wrong = granted & ~ready_;
  if (__builtin_expect(wrong != 0, 0)) {
    RefuseGrant(layout_.SchedulerOf(LowestLane(wrong)), layout_.IndexOf(LowestLane(wrong)), now);
  }
  if (granted != 0) IssueInline(granted, now);
  AccountInline(granted, ready_, busy_, 1);
  return NextEvent(now);
}

Cycle Sm::EndOrdinary(Cycle now, LaneMask granted) { return EndInline(now, granted); }
Cycle Sm::EndPrepared(Cycle now, LaneMask granted) {
  ReceiveAnswers(now);
  if (Collecting()) AdvancePrepared(now);
  return EndInline(now, granted);
}

// Branch, barrier, exit. Returns whether the warp goes on to its next instruction by itself.
bool Sm::IssueWithoutPort(const Step& step, Warp* warp, unsigned lane, Cycle now) {
  ThreadBlock& block = *warp->block;
  block.quiet_at = std::max(block.quiet_at, now + 1);
  if (step.op == static_cast<unsigned>(OpClass::kBranch)) return true;
  if (step.op == static_cast<unsigned>(OpClass::kExit)) {
    Exit(warp, lane, &block, now);
    return false;
  }
  Next(warp, lane, now);
  block.at_barrier |= LaneBit(lane);
  ++block.arrived;
  SetReason(warp, lane, kAtBarrier);
  if (block.BarrierComplete()) ReleaseBarrier(&block, now);
  return false;
}

[[gnu::noinline]] void Sm::Schedule(Warp* warp, unsigned lane, Cycle now) {
  if (collectors_.present()) return ScheduleCollected(warp, lane, now);
  ScheduleInline(warp, lane, now);
}

void Sm::Resolve(Warp* warp, unsigned lane, Cycle now) { ResolveInline(warp, lane, now); }

void Sm::ReleaseBarrier(ThreadBlock* block, Cycle now) {
  for (LaneMask lanes = block->at_barrier; lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = LowestLane(lanes);
    Warp& warp = warps_[lane];
    warp.earliest =
        std::max(warp.earliest, static_cast<std::uint32_t>(now + config_.barrier_latency));
    unfetched_ |= LaneBit(lane);
    Schedule(&warp, lane, now);
    if (warp.reason == kControl) SetReason(&warp, lane, kAtBarrier);
  }
  block->at_barrier = 0;
  block->arrived = 0;
}

void Sm::Exit(Warp* warp, unsigned lane, ThreadBlock* block, Cycle now) {
  const LaneMask bit = LaneBit(lane);
  live_ &= ~bit;
  active_ &= ~bit;
  runnable_ &= ~bit;
  port_lanes_[warp->port] &= ~bit;
  reason_lanes_[warp->reason] &= ~bit;
  ++block->exited;
  if (block->AllExited()) {
    if (block->merged != nullptr && NextPart(block, warp->tb_slot, now)) return;
    TryFinish(block, warp->tb_slot, now);
  } else if (block->BarrierComplete()) {
    ReleaseBarrier(block, now);
  }
}

}  // namespace smk
