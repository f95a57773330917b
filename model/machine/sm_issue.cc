// SPDX-License-Identifier: Apache-2.0
// Sm: what happens when a warp instruction issues.
#include <algorithm>
#include <utility>

#include "machine/sm.h"

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

// `Plain`: see SmShape::plain_ports.
template <bool Plain>
[[gnu::always_inline]] inline void Sm::IssueToPort(const Instruction& instruction,
                                                   const OpCost& cost, Warp* warp, unsigned lane,
                                                   Cycle now) {
  const unsigned extra = (instruction.conflicts - 1u) & (0u - cost.per_pass);
  Cycle done = now + cost.latency + extra;
  const unsigned initiation = cost.initiation + extra;
  if (!Plain && shape_.shared_units[cost.port] != 0) {
    done += TakeUnit(cost.port, initiation, now) - now;
    ports_busy_until_ = std::max(ports_busy_until_, shared_free_[cost.port]);
  } else if (initiation > 1) {
    port_free_[cost.port][layout_.SchedulerOf(lane)] = now + initiation;
    ports_busy_until_ = std::max(ports_busy_until_, now + initiation);
  }
  if (instruction.dst != kNoRegister) {
    warp->ReadyAt(instruction.dst) = static_cast<Stamp>(done * 2 + cost.memory);
  }
  ThreadBlock& block = *warp->block;
  block.quiet_at = std::max(block.quiet_at, done);
}

// `waited`: it comes from the collectors, which know its lines.
template <bool Plain>
[[gnu::always_inline]] inline void Sm::IssueToLsu(const Instruction& instruction, Warp* warp,
                                                  unsigned lane, Cycle now,
                                                  Collectors::Entry* waited) {
  const OpCost& cost = costs_[static_cast<unsigned>(instruction.op)];
  if (!Plain && shape_.shared_units[kLsu] != 0) TakeUnit(kLsu, 1, now);
  if (!cost.off_chip && lsu_.AllKnown()) {
    ThreadBlock& block = *warp->block;
    const Cycle done =
        lsu_.IssueKnown(instruction.op, instruction.conflicts, KernelId{warp->kernel}, now);
    block.quiet_at = std::max(block.quiet_at, done);
    if (instruction.dst != kNoRegister) {
      warp->ReadyAt(instruction.dst) = static_cast<Stamp>(done * 2 + cost.memory);
    }
    return;
  }
  Queue(instruction, warp, lane, now, waited);
}

// Into the LSU, which does not know yet when it will be done.
[[gnu::noinline]] void Sm::Queue(const Instruction& instruction, Warp* warp, unsigned lane,
                                 Cycle now, Collectors::Entry* waited) {
  const OpCost& cost = costs_[static_cast<unsigned>(instruction.op)];
  Lsu::Request request;
  request.op = instruction.op;
  request.lane = static_cast<std::uint8_t>(lane);
  request.dst = instruction.dst;
  request.tb_slot = warp->tb_slot;
  request.kernel = KernelId{warp->kernel};
  request.passes = instruction.conflicts;
  request.tb_generation = warp->block->generation;
  ++warp->block->unresolved;
  if (request.dst != kNoRegister) {
    warp->ReadyAt(request.dst) = cost.memory != 0 ? kUnknownMemory : kUnknownShort;
  }
  if (cost.off_chip) {
    request.passes =
        waited != nullptr
            ? waited->CopyLines(lsu_.lines(), lsu_.sectors())
            : static_cast<std::uint8_t>(warp->program->Lines(
                  instruction, warp->identity, warp->cursor, lsu_.lines(), lsu_.sectors()));
    lsu_.IssueGlobal(request, now);
  } else {
    lsu_.IssueShared(request);
  }
}

bool Sm::PipeTakes(unsigned port, unsigned scheduler, Cycle now) {
  if (shape_.shared_units[port] != 0 && shared_free_[port] > now) return false;
  if (port == kLsu) return !lsu_.Full(now);
  return shape_.shared_units[port] != 0 || port_free_[port][scheduler] <= now;
}

// Issues into the collectors. The result's time is not known before it starts.
void Sm::Wait(const Instruction& instruction, const OpCost& cost, Warp* warp, unsigned lane) {
  Collectors::Entry& entry = collectors_.Issue(cost.port, layout_.SchedulerOf(lane));
  entry.instruction = instruction;
  entry.lane = static_cast<std::uint8_t>(lane);
  entry.tb_slot = warp->tb_slot;
  entry.tb_generation = warp->block->generation;
  ++warp->block->unresolved;
  if (instruction.dst != kNoRegister) {
    warp->ReadyAt(instruction.dst) = cost.memory != 0 ? kUnknownMemory : kUnknownShort;
  }
  if (cost.off_chip) {
    entry.lines_used = static_cast<std::uint8_t>(
        warp->program->Lines(instruction, warp->identity, warp->cursor, entry.lines.data(),
                             lsu_.sectors() == nullptr ? nullptr : entry.sectors.data()));
  }
}

// Issues to ports that are not plain.
[[gnu::noinline]] void Sm::IssueToOther(const Instruction& instruction, const OpCost& cost,
                                        Warp* warp, unsigned lane, Cycle now) {
  if (config_.collectors != 0) {
    Wait(instruction, cost, warp, lane);
  } else if (cost.port == kLsu) {
    IssueToLsu<false>(instruction, warp, lane, now, nullptr);
  } else {
    IssueToPort<false>(instruction, cost, warp, lane, now);
  }
}

// An instruction leaves the collectors for its pipe. One of a flushed TB is dropped.
void Sm::Start(Collectors::Entry* waited, Cycle now) {
  ThreadBlock& block = blocks_[waited->tb_slot];
  if (!block.valid || block.generation != waited->tb_generation) return;
  Warp& warp = warps_[waited->lane];
  --block.unresolved;
  if (waited->port == kLsu) {
    IssueToLsu<false>(waited->instruction, &warp, waited->lane, now, waited);
  } else {
    const OpCost& cost = costs_[static_cast<unsigned>(waited->instruction.op)];
    IssueToPort<false>(waited->instruction, cost, &warp, waited->lane, now);
  }
  Resolve(&warp, waited->lane, now);
  if (block.AllExited()) TryFinish(&block, waited->tb_slot, now);
}

void Sm::AdvanceCollectors(Cycle now) {
  collectors_.Advance(
      [this, now](unsigned port, unsigned scheduler) { return PipeTakes(port, scheduler, now); },
      [this, now](Collectors::Entry& entry) { Start(&entry, now); });
  if (!lsu_.resolved().empty()) TakeResolved(now);
}

// The next instruction of the warp: from its buffer, or fetched in its turn. The SM fetches for
// `fetch_warps` warps per cycle, in the order in which their buffers run empty; going on anywhere
// else than at the next instruction (a taken branch) empties the buffer.
[[gnu::always_inline]] inline void Sm::Next(Warp* warp, unsigned lane, Cycle now) {
  const bool taken = warp->program->Advance(warp->identity, &warp->cursor);
  SetNext(warp, lane);
  if (!taken && --warp->buffered != 0) {
    warp->earliest = static_cast<std::uint32_t>(now + 1);
    return;
  }
  FillBuffer(warp);
  unfetched_ |= LaneBit(lane);
  next_fetch_ = std::max(next_fetch_, now << shape_.fetch_shift);
  const unsigned latency = taken ? config_.branch_latency : config_.fetch_latency;
  warp->earliest = static_cast<std::uint32_t>((next_fetch_++ >> shape_.fetch_shift) + latency);
}

void Sm::Issue(unsigned lane, Cycle now) {
  Warp& warp = warps_[lane];
  const Instruction& instruction = *warp.next;
  const OpCost& cost = costs_[static_cast<unsigned>(instruction.op)];
  data_ready_ &= ~LaneBit(lane);
  ++issued_[warp.kernel].by_class[static_cast<unsigned>(instruction.op)];
  if (__builtin_expect(warp.threads != kWarpThreads, 0)) {
    issued_[warp.kernel].missing_threads += kWarpThreads - warp.threads;
  }
  if (__builtin_expect(instruction.ends_idempotence, 0) &&
      gpu_.launches[warp.kernel].spec->idempotence == Idempotence::kUntilStore) {
    inputs_.tb_flushable &= ~(1u << warp.tb_slot);
  }
  if (cost.port == kNoPort) {
    if (!IssueWithoutPort(instruction, &warp, lane, now)) return;
  } else if (__builtin_expect(!shape_.plain_ports, 0)) {
    IssueToOther(instruction, cost, &warp, lane, now);
  } else if (cost.port == kLsu) {
    IssueToLsu<true>(instruction, &warp, lane, now, nullptr);
  } else {
    IssueToPort<true>(instruction, cost, &warp, lane, now);
  }
  Next(&warp, lane, now);
  ScheduleInline(&warp, lane, now);
}

// Branch, barrier, exit. Returns whether the warp goes on to its next instruction by itself.
bool Sm::IssueWithoutPort(const Instruction& instruction, Warp* warp, unsigned lane, Cycle now) {
  ThreadBlock& block = *warp->block;
  block.quiet_at = std::max(block.quiet_at, now + 1);
  if (instruction.op == OpClass::kBranch) {
    return true;
  }
  if (instruction.op == OpClass::kExit) {
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

void Sm::Schedule(Warp* warp, unsigned lane, Cycle now) { ScheduleInline(warp, lane, now); }

// The time of a result has become known.
void Sm::Resolve(Warp* warp, unsigned lane, Cycle now) {
  if ((unknown_ & LaneBit(lane)) == 0) return;
  unknown_ &= ~LaneBit(lane);
  ScheduleInline(warp, lane, now);
}

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
