// SPDX-License-Identifier: Apache-2.0
// Sm: what happens when a warp instruction issues.
#include <algorithm>

#include "machine/sm.h"

namespace smk {

// The first shared pipe that is free takes an instruction; when it starts.
inline Cycle Sm::TakeUnit(Port port, unsigned initiation, Cycle now) {
  Cycle* const begin = port_free_[port].data();
  Cycle* const end = begin + shared_units_[port];
  Cycle* const unit = std::min_element(begin, end);
  const Cycle start = std::max(now, *unit);
  *unit = start + initiation;
  shared_free_[port] = *std::min_element(begin, end);
  return start;
}

inline void Sm::IssueToPort(const Instruction& instruction, const OpCost& cost, Warp* warp,
                            unsigned lane, Cycle now) {
  const unsigned extra = (instruction.conflicts - 1u) & (0u - cost.per_pass);
  Cycle done = now + cost.latency + extra;
  const unsigned initiation = cost.initiation + extra;
  if (shared_units_[cost.port] != 0) {
    done += TakeUnit(cost.port, initiation, now) - now;
    ports_busy_until_ = std::max(ports_busy_until_, shared_free_[cost.port]);
  } else if (initiation > 1) {
    port_free_[cost.port][lane / kLanesPerScheduler] = now + initiation;
    ports_busy_until_ = std::max(ports_busy_until_, now + initiation);
  }
  if (instruction.dst != kNoRegister) {
    warp->ready_at[instruction.dst] = static_cast<Stamp>(done * 2 + cost.memory);
  }
  ThreadBlock& block = *warp->block;
  if (done > block.quiet_at) block.quiet_at = done;
}

inline void Sm::IssueToLsu(const Instruction& instruction, Warp* warp, unsigned lane, Cycle now) {
  ThreadBlock& block = *warp->block;
  const OpCost& cost = costs_[static_cast<unsigned>(instruction.op)];
  if (shared_units_[kLsu] != 0) TakeUnit(kLsu, 1, now);
  if (!cost.off_chip && lsu_.AllKnown()) {
    const Cycle done = lsu_.IssueKnown(instruction.op, instruction.conflicts, now);
    if (done > block.quiet_at) block.quiet_at = done;
    if (instruction.dst != kNoRegister) {
      warp->ready_at[instruction.dst] = static_cast<Stamp>(done * 2 + cost.memory);
    }
    return;
  }
  Lsu::Request request;
  request.op = instruction.op;
  request.lane = static_cast<std::uint8_t>(lane);
  request.dst = instruction.dst;
  request.tb_slot = warp->tb_slot;
  request.kernel = KernelId{warp->kernel};
  request.passes = instruction.conflicts;
  request.tb_generation = block.generation;
  ++block.unresolved;
  if (request.dst != kNoRegister) {
    warp->ready_at[request.dst] = cost.memory != 0 ? kUnknownMemory : kUnknownShort;
  }
  if (cost.off_chip) {
    request.passes = static_cast<std::uint8_t>(warp->program->Lines(
        instruction, warp->identity, warp->cursor, lsu_.lines(), lsu_.sectors()));
    lsu_.IssueGlobal(request, now);
  } else {
    lsu_.IssueShared(request);
  }
}

// The next instruction of the warp: from its buffer, or fetched in its turn. The SM fetches for
// `fetch_warps` warps per cycle, in the order in which their buffers run empty; going on anywhere
// else than at the next instruction (a taken branch) empties the buffer.
[[gnu::always_inline]] inline void Sm::Next(Warp* warp, unsigned lane, Cycle now) {
  const bool taken = warp->program->Advance(warp->identity, &warp->cursor);
  SetNext(warp, lane);
  if (!taken && --warp->buffered != 0) {
    warp->earliest = now + 1;
    return;
  }
  FillBuffer(warp);
  next_fetch_ = std::max(next_fetch_, now << fetch_shift_);
  const unsigned latency = taken ? config_.branch_latency : config_.fetch_latency;
  warp->earliest = (next_fetch_++ >> fetch_shift_) + latency;
}

void Sm::Issue(unsigned lane, Cycle now) {
  Warp& warp = warps_[lane];
  const Instruction& instruction = *warp.next;
  const OpCost& cost = costs_[static_cast<unsigned>(instruction.op)];
  data_ready_ &= ~LaneBit(lane);
  ++counters_[warp.kernel].warp_instructions;
  counters_[warp.kernel].thread_instructions += warp.threads;
  if (__builtin_expect(instruction.ends_idempotence, 0) &&
      gpu_.launches[warp.kernel].spec->idempotence == Idempotence::kUntilStore) {
    inputs_.tb_flushable &= ~(1u << warp.tb_slot);
  }
  if (cost.port == kLsu) {
    IssueToLsu(instruction, &warp, lane, now);
  } else if (cost.port != kNoPort) {
    IssueToPort(instruction, cost, &warp, lane, now);
  } else if (!IssueWithoutPort(instruction, &warp, lane, now)) {
    return;
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

void Sm::ReleaseBarrier(ThreadBlock* block, Cycle now) {
  for (LaneMask lanes = block->at_barrier; lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = LowestLane(lanes);
    Warp& warp = warps_[lane];
    warp.earliest = std::max(warp.earliest, now + config_.barrier_latency);
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
    TryFinish(block, warp->tb_slot, now);
  } else if (block->BarrierComplete()) {
    ReleaseBarrier(block, now);
  }
}

}  // namespace smk
