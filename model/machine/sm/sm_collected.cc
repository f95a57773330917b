// SPDX-License-Identifier: Apache-2.0
// Sm: instructions that wait in the operand collectors, and results that must not be seen yet. See
// collectors.h.
#include <algorithm>
#include <iterator>
#include <utility>

#include "machine/sm/sm_ordinary.h"

namespace smk {

// The warps that are granted issue: mostly what passes the collectors without a wait.
[[gnu::noinline]] void Sm::IssueCollected(LaneMask granted, Cycle now) {
  for (; granted != 0; granted &= granted - 1) Issue<true>(LowestLane(granted), now);
}

// Issues into the collectors. The result's time is not known before it starts.
void Sm::Wait(const Step& step, Warp* warp, unsigned lane) {
  Collectors::Entry& entry = collectors_.Issue(step.port, layout_.SchedulerOf(lane));
  entry.step = &step;
  entry.lane = static_cast<std::uint8_t>(lane);
  entry.tb_slot = warp->tb_slot;
  entry.tb_generation = warp->block->generation;
  Unknown(step, warp);
  if (__builtin_expect(step.off_chip, 0)) FindLines(warp, &entry);
}

[[gnu::noinline]] void Sm::FindLines(Warp* warp, Collectors::Entry* entry) {
  const auto op = static_cast<OpClass>(entry->step->op);
  SectorMask* const sectors = lsu_.LooksAtSectors(op) ? entry->sectors.data() : nullptr;
  entry->lines_used = LinesOf(warp, entry->lines.data(), sectors);
}

// An instruction leaves the collectors for its pipe. One of a flushed TB is dropped.
[[gnu::always_inline]] inline void Sm::Start(Collectors::Entry* waited, Cycle now) {
  ThreadBlock& block = blocks_[waited->tb_slot];
  if (Dropped(*waited)) return;
  Warp& warp = warps_[waited->lane];
  --block.unresolved;
  if (waited->port == kLsu) {
    IssueToLsu(*waited->step, &warp, waited->lane, now, waited);
  } else {
    KnownLater(*waited->step, TakeSharedPipe(*waited->step, waited->lane, now), &warp);
  }
  ResolveInline(&warp, waited->lane, now);
  if (block.AllExited()) TryFinish(&block, waited->tb_slot, now);
}

// What ScheduleCollected() does where the time may be seen: the lane is as if it were unknown.
[[gnu::noinline]] void Sm::ScheduleLater(Warp* warp, unsigned lane, Cycle now, Stamp operands) {
  const auto wanted = [step = warp->next, all = Awaits(lane)](unsigned place) {
    if (all) return place != 0;
    return place != 0 && std::count(std::begin(step->place), std::end(step->place), place) != 0;
  };
  bool any_memory = operands == kUnknownMemory, any_short = operands == kUnknownShort;
  std::array<LaneMask, kCollectorCycles + 1> at{};
  bool found = false;
  const Passing& passing = warp->passing;
  std::uint32_t age = static_cast<std::uint32_t>(now) - passing.last;
  for (unsigned i = 0; age < kCollectorCycles; ++i, ++age) {
    if (!wanted(passing.places >> (8 * i) & 0xff)) continue;
    found = true;
    ((passing.results >> (2 * i) & Step::kMemory) != 0 ? any_memory : any_short) = true;
    at[(now + kCollectorCycles - age) % at.size()] = LaneBit(lane);
  }
  const bool alike = any_memory != any_short && any_memory == ((operands & 1) != 0);
  const bool waits = operands > static_cast<Stamp>(warp->earliest * 2 + 1);
  if (!found || (alike && waits && operands < kUnknownShort)) {
    return ScheduleAt<false>(warp, LaneBit(lane), now, operands);
  }
  SetReason(lane, any_memory ? kMemory : kShort);
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

}  // namespace smk
