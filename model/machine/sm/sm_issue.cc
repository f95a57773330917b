// SPDX-License-Identifier: Apache-2.0
// Sm: a warp instruction issues that is not of the short ways of sm_ordinary.h.
#include <algorithm>
#include <utility>

#include "machine/sm/sm_ordinary.h"

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

// One that all schedulers share, if there is such a pipe.
Cycle Sm::TakeSharedPipe(const Step& step, unsigned lane, Cycle now) {
  if (shape_.shared_units[step.port] == 0) return TakePipe(step, lane, now);
  const Cycle start = TakeUnit(step.port, step.initiation, now);
  ports_busy_until_ = std::max(ports_busy_until_, shared_free_[step.port]);
  return start + step.latency;
}

// `waited`: it comes from the collectors, which know its lines.
inline void Sm::IssueToLsu(const Step& step, Warp* warp, unsigned lane, Cycle now,
                           Collectors::Entry* waited) {
  if (shape_.shared_units[kLsu] != 0) TakeUnit(kLsu, 1, now);
  if (step.off_chip || !lsu_.AllKnown()) return Queue(step, warp, lane, now, waited);
  const Cycle done = TakeBanks(step, *warp, now);
  if (waited != nullptr) return KnownLater(step, done, warp);
  Known(step, done, warp);
}

// Into the LSU, which does not know yet when it will be done.
[[gnu::noinline]] void Sm::Queue(const Step& step, Warp* warp, unsigned lane, Cycle now,
                                 Collectors::Entry* waited) {
  Lsu::Request& request = lsu_.NextRequest();
  request.op = static_cast<OpClass>(step.op);
  request.lane = static_cast<std::uint8_t>(lane);
  request.place = step.place[0] | step.joined;
  request.joins = step.joined != 0;
  request.tb_slot = warp->tb_slot;
  request.kernel = KernelId{warp->kernel};
  request.passes = 1;
  request.cycles = step.initiation;
  request.latency = step.latency;
  request.tb_generation = warp->block->generation;
  if (waited == nullptr) {
    Unknown(step, warp);
  } else {
    ++warp->block->unresolved;  // its result is unknown since its issue
  }
  if (!step.off_chip) return lsu_.IssueShared();
  SectorMask* const sectors = lsu_.LooksAtSectors(request.op) ? lsu_.sectors() : nullptr;
  request.passes = waited != nullptr ? waited->CopyLines(lsu_.lines(), sectors)
                                     : LinesOf(warp, lsu_.lines(), sectors);
  lsu_.IssueGlobal(now);
}

std::uint8_t Sm::LinesOf(Warp* warp, std::uint64_t* lines, SectorMask* sectors) {
  const Program& program = *warp->code->program;
  warp->SetCursor();
  return static_cast<std::uint8_t>(
      program.Lines(program.At(warp->cursor), warp->identity, warp->cursor, lines, sectors));
}

bool Sm::PipeTakes(unsigned port, unsigned scheduler, Cycle now) {
  if (shape_.shared_units[port] != 0 && shared_free_[port] > now) return false;
  if (port == kLsu) return !lsu_.Full(now);
  return shape_.shared_units[port] != 0 || port_free_[port][scheduler] <= now;
}

// Apart, so that the short ways stay short.
[[gnu::noinline]] void Sm::IssueOther(const Step& step, Warp* warp, unsigned lane, Cycle now) {
  if (step.way == Step::kCollected) {
    Wait(step, warp, lane);
  } else if (!IssueSpecial(step, warp, lane, now)) {
    return;
  }
  Next(warp, LaneBit(lane), now);
  if (__builtin_expect(step.membar, 0)) {
    awaiting_ |= LaneBit(lane);
    return Schedule(warp, lane, now);
  }
  if (collects_) return ScheduleCollected<false>(warp, lane, now, warp->Operands());
  ScheduleInline<true>(warp, lane, now);
}

// Whether the warp goes on to its next instruction by itself.
inline bool Sm::IssueSpecial(const Step& step, Warp* warp, unsigned lane, Cycle now) {
  if (__builtin_expect(step.ends_idempotence, 0) &&
      gpu_.launches[warp->kernel].spec->idempotence == Idempotence::kUntilStore) {
    inputs_.tb_flushable &= ~(1u << warp->tb_slot);
  }
  if (step.port == kNoPort) return IssueWithoutPort(step, warp, lane, now);
  if (collects_) {
    Wait(step, warp, lane);
  } else if (step.port == kLsu) {
    IssueToLsu(step, warp, lane, now, nullptr);
  } else {
    Known(step, TakeSharedPipe(step, lane, now), warp);
  }
  return true;
}

void Sm::IssueAll(LaneMask granted, Cycle now) {
  if (collects_) {
    IssueInline<true>(granted, now);
  } else {
    IssueInline<false>(granted, now);
  }
}

// Branch, barrier, exit. Returns whether the warp goes on to its next instruction by itself.
bool Sm::IssueWithoutPort(const Step& step, Warp* warp, unsigned lane, Cycle now) {
  ThreadBlock& block = *warp->block;
  KnownToBlock(now + 1, &block);
  if (step.op == static_cast<unsigned>(OpClass::kBranch)) return true;
  if (step.op == static_cast<unsigned>(OpClass::kExit)) {
    Exit(warp, lane, &block, now);
    return false;
  }
  Next(warp, LaneBit(lane), now);
  block.at_barrier |= LaneBit(lane);
  ++block.arrived;
  SetReason(lane, kAtBarrier);
  if (block.BarrierComplete()) ReleaseBarrier(&block, now);
  return false;
}

[[gnu::noinline]] void Sm::Schedule(Warp* warp, unsigned lane, Cycle now) {
  if (__builtin_expect(Awaits(lane), 0)) return ScheduleAwaiting(warp, lane, now);
  if (collects_) return ScheduleCollected<false>(warp, lane, now, warp->Operands());
  ScheduleInline<false>(warp, lane, now);
}

// The one before it was a memory barrier. It waits until it is on the wheel: then nothing it waits
// for is unknown.
void Sm::ScheduleAwaiting(Warp* warp, unsigned lane, Cycle now) {
  const Stamp results = warp->AllResults();
  if (collects_) {
    ScheduleCollected<false>(warp, lane, now, results);
  } else {
    ScheduleAt<false>(warp, LaneBit(lane), now, results);
  }
  if ((unknown_ & LaneBit(lane)) == 0) awaiting_ &= ~LaneBit(lane);
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
    if ((ForInstruction() & LaneBit(lane)) != 0) SetReason(lane, kAtBarrier);
  }
  block->at_barrier = 0;
  block->arrived = 0;
}

void Sm::Exit(Warp* warp, unsigned lane, ThreadBlock* block, Cycle now) {
  const LaneMask bit = LaneBit(lane);
  SetLive(live_ & ~bit);
  active_ &= ~bit;
  runnable_ &= ~bit;
  ClearReasons(bit);
  ClearPorts(bit);
  KnownToBlock(warp->LastResult(), block);
  ++block->exited;
  if (block->AllExited()) {
    if (block->merged != nullptr && NextPart(block, warp->tb_slot, now)) return;
    TryFinish(block, warp->tb_slot, now);
  } else if (block->BarrierComplete()) {
    ReleaseBarrier(block, now);
  }
}

}  // namespace smk
