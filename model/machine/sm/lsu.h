// SPDX-License-Identifier: Apache-2.0
// The load-store unit of one SM.
//
// Purpose     Serves the memory instructions of all schedulers in order of issue: shared memory in
//             `conflicts` bank passes, global memory one 128-byte line at a time through L1 and
//             MSHRs. Constants come here if the machine says so.
// Timing      An instruction that finds the unit idle has its first pass in the cycle of its issue.
//             How long one of shared memory takes it comes with it (Step); an L1 hit takes
//             l1.latency after the pass of its line. A miss that finds all MSHRs in use waits at
//             the head until the first completes, and so do the instructions behind it. Where the
//             machine says so, likewise one of whose set all lines are in flight.
// Queue       Full when `lsu_queue` instructions have a pass to do; all schedulers may issue into
//             one free place in the same cycle, so that up to schedulers - 1 more can wait.
// Sectors     Where lines have sectors, a line takes as many cycles as its sectors need at
//             `lsu_bytes` per cycle. A hit waits for its own sectors, not for others of the line;
//             a miss asks for those that are missing. Where lines have none, loads ask for whole
//             lines; stores and atomics send the sectors that they touch, a line per cycle.
// No L1       Loads that have none take no MSHR: nothing limits them here.
// Textures    With a cache of their own they pass here in turn, line by line, but take no line and
//             no MSHR of the L1. Results leave in order through a FIFO of `fifo` lines; one that is
//             full holds up the unit.
// Stores      Write-through, no allocate; the line leaves L1. At most `stores` lines are on their
//             way, so that stores cannot run ahead of memory without limit. Atomics with a result
//             take an MSHR, without one they are like stores; both are executed at L2.
// In turn     Where requests wait for their turn in memory, nothing here limits loads, stores and
//             atomics but the queue of the SM at the crossbar, and completions come by Answer().
//             There is no L1 then.
// Speed       While only shared-memory instructions wait, results are computed at issue and nothing
//             happens per cycle.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "machine/sm/completion_tree.h"
#include "machine/sm/l1_cache.h"
#include "machine/sm/open_requests.h"
#include "memory/memory_port.h"
#include "workload/program.h"

namespace smk {

// See the head of this file.
class alignas(64) Lsu {
 public:
  // One memory instruction: whose it is, and what it asks for.
  struct Request {
    OpClass op = OpClass::kLoadShared;
    std::uint8_t lane = 0;
    std::uint8_t place = 0;  // of the result, as in Step
    std::uint8_t tb_slot = 0;
    KernelId kernel{0};
    std::uint8_t passes = 1;    // lines
    std::uint16_t cycles = 1;   // of memory on the chip: for which its banks are taken
    std::uint16_t latency = 0;  // likewise: from the first pass to the result
    std::uint32_t tb_generation = 0;
    bool joins = false;  // Step::joined
  };
  // A request whose completion has become known.
  struct Resolved {
    Request request;
    Cycle done = 0;
  };
  // Lines of loads, by kernel slot. A line in flight that is asked for again is a hit: no request
  // leaves the SM.
  struct Stats {
    std::array<std::uint64_t, kNumKernels> l1_accesses{}, l1_hits{};
    // Cycles that its instructions took here, from the end of those before: passes, and waits for
    // an MSHR, a place for a store or the like. Counted when an instruction has had its passes, and
    // by CountBusy().
    std::array<std::uint64_t, kNumKernels> busy{};
  };

  // `sector_bytes` as in MemoryConfig.
  Lsu(SmId sm, const SmConfig& config, unsigned sector_bytes, MemoryPort& memory);

  // When there is a place for one more instruction if nothing is issued meanwhile: kNever if that
  // depends on a pass that is still to come, at next_pass().
  Cycle FreeAt() const { return place_free_; }
  // No more memory instructions this cycle.
  bool Full(Cycle now) const { return place_free_ > now; }
  // How many more in this cycle.
  unsigned Room(Cycle now) const {
    unsigned room = depth_;
    for (unsigned i = tail_ - 1; room != 0 && (Waits(i) || release_[i % kRing] > now); --i) --room;
    return room;
  }

  // No instruction is waiting for passes that are not known yet.
  bool AllKnown() const { return unresolved_ == tail_; }
  // Issues a shared-memory instruction, or a constant, when AllKnown(); returns its completion.
  // `cycles` and `latency` as in Request.
  Cycle IssueKnown(unsigned cycles, unsigned latency, KernelId kernel, Cycle now) {
    const Cycle done = ScheduleShared(cycles, latency, kernel, now);
    tail_ = unresolved_;
    place_free_ = release_[(tail_ - depth_) % kRing];
    return done;
  }
  // Issues NextRequest() when not AllKnown(): it is resolved after the instructions before it.
  void IssueShared() {
    ++tail_;
    FindPlace();
  }
  // That is issued next: all of it must be written.
  Request& NextRequest() { return ring_[tail_ % kRing].request; }

  // Issues a global-memory instruction: put its lines into lines() and, if its sectors are looked
  // at, those of each line into sectors(), then call. Its completion is always given by
  // resolved(), perhaps in the same cycle.
  std::uint64_t* lines() { return ring_[tail_ % kRing].lines; }
  SectorMask* sectors() { return ring_[tail_ % kRing].sectors; }
  bool LooksAtSectors(OpClass op) const {
    return lsu_sectors_ != 0 || op == OpClass::kStoreGlobal || op == OpClass::kAtomicGlobal;
  }
  void IssueGlobal(Cycle now);

  // Next cycle in which Tick() must be called, or kNever.
  Cycle next_pass() const { return next_pass_; }
  void Tick(Cycle now) {
    if (next_pass_ <= now) Serve(now);
  }

  // An answer of memory; whether it has resolved a request.
  bool Answer(Ticket ticket, Cycle done);

  // Invalidates the L1, not the texture cache.
  void FlushL1(Cycle now) { l1_.Flush(now); }

  // Requests resolved since Clear.
  const std::vector<Resolved>& resolved() const { return resolved_; }
  void ClearResolved() { resolved_.clear(); }

  const Stats& stats() const { return stats_; }
  // Counts what the instruction that has its passes has taken until now.
  void CountBusy(Cycle now) {
    if (AllKnown() || begun_ >= now) return;
    stats_.busy[Index(ring_[unresolved_ % kRing].request.kernel)] += now - begun_;
    begun_ = now;
  }

 private:
  static constexpr unsigned kRing = 2 * kMaxLsuQueue;
  struct Entry {
    Request request;
    std::uint8_t sent = 0;
    Ticket ticket = 0;  // in turn
    Cycle done = 0;
    std::uint64_t lines[kMaxLines];
    SectorMask sectors[kMaxLines];
  };

  unsigned Cycles(SectorMask sectors) const {
    if (lsu_sectors_ == 0) return 1;
    return (CountOf(sectors) + lsu_sectors_ - 1) / lsu_sectors_;
  }
  // Gives the instruction at unresolved_ its passes; it must be a shared-memory one.
  Cycle ScheduleShared(unsigned cycles, unsigned latency, KernelId kernel, Cycle now) {
    const Cycle start = std::max(free_at_, now);
    stats_.busy[Index(kernel)] += cycles;
    free_at_ = start + cycles;
    release_[unresolved_++ % kRing] = free_at_;
    return start + latency;
  }
  // The instruction is not known to have all its passes.
  bool Waits(unsigned position) const { return static_cast<int>(position - unresolved_) >= 0; }
  void FindPlace() {
    const unsigned last = tail_ - depth_;  // must have had its passes
    place_free_ = Waits(last) ? kNever : release_[last % kRing];
  }
  void Serve(Cycle now);
  void ResolveFollowers(Cycle now);
  // Each sends the next line and returns 0, or the cycle in which to try again.
  Cycle SendNext(Entry* entry, Cycle now);
  Cycle SendLoad(Entry* entry, Cycle now);
  Cycle SendUncached(Entry* entry, Cycle now);
  Cycle SendTexture(Entry* entry, Cycle now);
  Cycle SendStore(Entry* entry, Cycle now);
  Cycle SendAtomic(Entry* entry, Cycle now);
  Cycle Send(const Entry& entry, MemoryAccess access, Cycle now);
  Cycle SendInTurn(Entry* entry, Cycle now);
  // Sectors of the line that is sent next; all of them where they are not looked at.
  SectorMask Sectors(const Entry& entry) const {
    return LooksAtSectors(entry.request.op) ? entry.sectors[entry.sent] : kAllSectors;
  }

  // What every cycle looks at comes first. Ring positions: those before unresolved_ have known
  // passes, [unresolved_, tail_) wait.
  Cycle next_pass_ = kNever;
  Cycle free_at_ = 0;  // after the last known pass
  Cycle place_free_ = 0;
  unsigned unresolved_ = kRing, tail_ = kRing;
  unsigned depth_;
  std::vector<Resolved> resolved_;
  // The instruction at unresolved_: when it could have had its first pass, or what Stats::busy does
  // not have of it begins.
  Cycle begun_ = 0;
  std::array<Cycle, kRing> release_{};
  std::vector<Entry> ring_;
  SmId sm_;
  MemoryPort& memory_;
  bool in_turn_;
  unsigned line_initiation_;
  unsigned lsu_sectors_ = 0;  // per cycle; 0: lines have no sectors
  unsigned operand_latency_;
  unsigned hit_latency_;
  unsigned merges_;
  bool waits_for_place_;  // a miss of whose set all lines are in flight
  CompletionTree mshrs_;
  CompletionTree stores_;
  L1Cache l1_;
  OpenRequests<Request> open_;
  L1Cache texture_;
  unsigned texture_latency_;
  std::vector<Cycle> texture_fifo_;  // when each place is free again, in order
  unsigned texture_place_ = 0;
  Cycle texture_done_ = 0;  // of the last access
  Stats stats_;
};

}  // namespace smk
