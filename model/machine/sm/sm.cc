// SPDX-License-Identifier: Apache-2.0
#include "machine/sm/sm.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "machine/sm/sm_ordinary.h"

namespace smk {

Sm::Sm(SmId id, const SmShape& shape, bool ideal_preemption, const GpuContext& gpu,
       MemoryPort& memory)
    : shape_(shape),
      config_(shape.config),
      layout_(shape.layout),
      costs_(shape.costs),
      fetch_shift_(shape.fetch_shift),
      fetch_latency_(config_.fetch_latency),
      collects_(shape.collects),
      lsu_(id, config_, gpu.sector_bytes, memory),
      traffic_(id, memory, gpu.checks, ideal_preemption, ContextLines(config_.limits)),
      id_(id),
      gpu_(gpu),
      collectors_(config_.collectors, config_.schedulers, kNumPorts),
      places_(id, config_.limits),
      flushes_l1_(config_.l1_flush == "kernel") {}

void Sm::Begin(Cycle now) {
  Wake<false>(now);
  Receive(now);
  if (collects_) {
    FindReady<true>(now);
  } else {
    FindReady<false>(now);
  }
  SetReady();
  SetLevels(now);
}

// Nothing here changes which warps are ready: what memory answers is of use in the next cycle at
// the earliest, so is a place in the LSU, and warps of TBs that finish have exited.
void Sm::BeginRest(Cycle now) {
  SetReady();
  Receive(now);
  if (collects_) CheckBlocked(now);
  SetLevels(now);
}

// What was sent and waited for is here; TBs finish.
[[gnu::always_inline]] inline void Sm::Receive(Cycle now) {
  ReceiveAnswers(now);
  if (Collecting()) AdvanceCollectors(now);
  inputs_.tb_finished = 0;
  if (next_finish_ <= now) FinishDueTbs(now);
  inputs_.context_done = static_cast<std::uint8_t>(traffic_.TakeDone(now));
  inputs_.context_ready = traffic_.Ready(now);
  inputs_.time = TimeOf(now);
}

// Inputs of the control logic that only few cycles have.
[[gnu::always_inline]] inline void Sm::SetLevels(Cycle now) {
  inputs_.tb_quiet = 0;
  if (tb_stop_ != 0) SetQuiet(now);
  if (__builtin_expect(samples_, 0)) SetMemory();
}

[[gnu::always_inline]] inline void Sm::SetReady() {
  if (layout_.lanes_per_scheduler() == 16) {
    for (unsigned s = 0; s < 4; ++s)
      inputs_.ready[s] = static_cast<std::uint16_t>(ready_ >> (16 * s));
  } else {
    for (unsigned s = 0; s < 2; ++s)
      inputs_.ready[s] = static_cast<std::uint32_t>(ready_ >> (32 * s));
  }
}

// The warps that want an issue register which is taken, as ports(scheduler) says.
template <typename Ports>
[[gnu::always_inline]] inline LaneMask Sm::WantingFull(const Ports& ports) const {
  LaneMask lanes = 0;
  for (unsigned some = collectors_.AnyFull(); some != 0; some &= some - 1) {
    const unsigned s = LowestLane(some);
    lanes |= Wanting(ports(s), s);
  }
  return lanes;
}

// What BlockedByPorts() will say when the collectors have advanced. A place in the LSU that becomes
// free in this cycle is known before, and what it sends takes none.
[[gnu::noinline]] LaneMask Sm::BlockedLater(LaneMask lanes, Cycle now) {
  if (collectors_.AnyFull() == 0) return 0;
  const auto full = collectors_.FullLater(
      [this, now](unsigned port, unsigned scheduler) { return PipeTakes(port, scheduler, now); },
      lsu_.Room(now), [this](const Collectors::Entry& entry) { return Dropped(entry); });
  return WantingFull([&full](unsigned s) { return full[s]; }) & lanes;
}

LaneMask Sm::BlockedByCollectors(LaneMask lanes) const {
  return WantingFull([this](unsigned s) { return collectors_.Full(s); }) & lanes;
}

// The scheduler's warps whose next instructions want one of the ports, a bit each.
LaneMask Sm::Wanting(unsigned ports, unsigned scheduler) const {
  LaneMask lanes = 0;
  for (; ports != 0; ports &= ports - 1) lanes |= port_lanes_[LowestLane(ports)];
  return lanes & layout_.SchedulerField(scheduler);
}

void Sm::SetQuiet(Cycle now) {
  for (std::uint32_t slots = tb_stop_; slots != 0; slots &= slots - 1) {
    const unsigned slot = LowestLane(slots);
    const ThreadBlock& block = blocks_[slot];
    if (block.valid && !block.AllExited() && block.Quiet(now)) inputs_.tb_quiet |= 1u << slot;
  }
}

// On which schedulers a warp of each kernel waits for memory.
void Sm::SetMemory() {
  const LaneMask waiting = runnable_ & ~data_ready_ & reason_lanes_[kMemory];
  for (unsigned k = 0; k < kNumKernels; ++k) {
    unsigned schedulers = 0;
    for (unsigned s = 0; s < config_.schedulers; ++s) {
      const bool waits = (waiting & kernel_lanes_[k] & layout_.SchedulerField(s)) != 0;
      schedulers |= (waits ? 1u : 0u) << s;
    }
    inputs_.memory[k] = static_cast<std::uint8_t>(schedulers);
  }
}

// Memory instructions whose completion has become known.
void Sm::TakeResolved(Cycle now) {
  for (const Lsu::Resolved& resolved : lsu_.resolved()) {
    const Lsu::Request& request = resolved.request;
    ThreadBlock& block = blocks_[request.tb_slot];
    // A flushed TB leaves with memory instructions in flight; nobody waits for them.
    if (!block.valid || block.generation != request.tb_generation) continue;
    --block.unresolved;
    block.quiet_at = std::max(block.quiet_at, resolved.done);
    if (request.place != 0) {
      Warp& warp = warps_[request.lane];
      const unsigned memory = costs_[static_cast<unsigned>(request.op)].memory;
      const auto stamp = static_cast<Stamp>(resolved.done * 2 + memory);
      if (__builtin_expect(request.joins, 0)) {
        warp.JoinedAt(request.place, stamp);
      } else {
        warp.ready_at[request.place] = stamp;
      }
      Resolve(&warp, request.lane, now);
    }
    if (block.AllExited()) TryFinish(&block, request.tb_slot, now);
  }
  lsu_.ClearResolved();
}

void Sm::FinishDueTbs(Cycle now) {
  next_finish_ = kNever;
  for (std::uint32_t slots = finishing_; slots != 0; slots &= slots - 1) {
    const unsigned slot = LowestLane(slots);
    ThreadBlock& block = blocks_[slot];
    if (block.finish_at > now) {
      next_finish_ = std::min(next_finish_, block.finish_at);
      continue;
    }
    inputs_.tb_finished |= 1u << slot;
    if (!block.cut && block.merged == nullptr) {
      ++counters_[Index(block.kernel)].tbs_completed;
      last_tb_end_[Index(block.kernel)] = now;
    }
    gpu_.ledger.Leave(block.kernel, block.tb, TbLedger::Place::kComplete, Index(id_), now);
    FreeSlot(slot, block.cut ? 'E' : 'C', now);
  }
}

// After a cycle in which quotas are in force, or something else may be skipped: what counts in the
// next.
inline void Sm::NoteQuotas(const SmOutputs* out) {
  SetSkips(gated_);
  if (out == nullptr || !gated_ || out->with_quota == with_quota_) return;
  with_quota_ = out->with_quota;
  skipped_stale_ = true;
}

void Sm::End(Cycle now, const SmOutputs* out) {
  LaneMask granted = 0;
  if (out != nullptr) {
    if (out->release_valid) Release(*out, now);
    if (__builtin_expect(out->place_waits, 0)) {
      if (!place_waits_now_) ++place_waits_;
      ++place_wait_cycles_;
    }
    place_waits_now_ = out->place_waits;
    if (out->tb_stop != tb_stop_) SetStopped(out->tb_stop, now);
    granted = Granted(*out, now);
    IssueAll(granted, now);
    if (out->gated) SetSkips(true);
    if (__builtin_expect(samples_ && !out->samples, 0)) inputs_.memory = {};
    samples_ = out->samples;
    if (out->warp_start.valid) Place(out->warp_start, now);
    for (std::uint32_t slots = out->tb_activate; slots != 0; slots &= slots - 1) {
      Activate(LowestLane(slots), now);
    }
    // A stream: without context_ready the control logic holds the line.
    if (out->context.valid && inputs_.context_ready) {
      const ThreadBlock& block = blocks_[Index(out->context.tb_slot)];
      gpu_.checks.Require(block.valid, now, Index(id_),
                          [] { return std::string("context line of an empty TB slot"); });
      traffic_.Accept(out->context, gpu_.launches[Index(block.kernel)], block.kernel, now);
    }
  }
  const bool skips = skips_;
  if (skips && out != nullptr) gated_ = out->gated;
  Account(granted);
  if (skips) NoteQuotas(out);
  FindSpecial();
}

void Sm::BeginOrdinaryRest(Cycle now) {
  ReceiveAnswers(now);
  if (Collecting()) AdvancePrepared(now);
}

// The collectors advance when it has been told already which warps are ready.
[[gnu::noinline]] void Sm::AdvancePrepared(Cycle now) {
  AdvanceCollectors(now);
  CheckBlocked(now);
}

void Sm::CheckBlocked(Cycle now) const {
  const LaneMask lanes = data_ready_ & runnable_;
  if (busy_ == (lanes == 0 ? 0 : BlockedByCollectors(lanes))) return;
  RunChecks::Fail(now, Index(id_), "other ports are full than when warps were told to be ready");
}

// The next cycle in which something may happen that is not told by ready warps, as far as it is
// known here.
void Sm::FindSpecial() {
  const bool speaks = tb_stop_ != 0 || samples_ || place_waits_now_ || skips_ != gated_;
  special_at_ = speaks ? 0 : std::min({next_finish_, traffic_.NextEvent(), wheel_.FarAt()});
}

// Checked grant by grant, and counted with the issues: see Gpu::Finish.
LaneMask Sm::Granted(const SmOutputs& out, Cycle now) const {
  const LaneMask may = ready_ & ~stopped_;
  LaneMask granted = 0;
  if (out.grant_valid >= 1u << kMaxSchedulers) RefuseGrant(kMaxSchedulers, 0, now);
  for (unsigned grants = out.grant_valid; grants != 0; grants &= grants - 1) {
    const unsigned s = LowestLane(grants);
    const unsigned index = out.grant_warp[s];
    const unsigned lane = layout_.LaneOf(s, index);
    if (index >= layout_.lanes_per_scheduler() || (may & LaneBit(lane)) == 0) {
      RefuseGrant(s, index, now);
    }
    granted |= LaneBit(lane);
  }
  return granted;
}

void Sm::RefuseGrant(unsigned scheduler, unsigned index, Cycle now) const {
  const bool exists = scheduler < config_.schedulers && index < layout_.lanes_per_scheduler();
  const unsigned lane = layout_.LaneOf(scheduler, index);
  const bool stopped = exists && (ready_ & stopped_ & LaneBit(lane)) != 0;
  RunChecks::Fail(now, Index(id_),
                  "scheduler " + std::to_string(scheduler) + " grants warp " +
                      std::to_string(index) +
                      (stopped ? " of a stopped TB" : ", which is not ready"));
}

// No warp that the wheel knows can issue in the next cycle, and no line is sent.
[[gnu::noinline]] Cycle Sm::LaterEvent(Cycle now) {
  const LaneMask lanes = data_ready_ & runnable_;
  const Cycle ports = lanes == 0 ? kNever : PortsFreeAt(lanes, now);
  if (ports == now + 1) return ports;
  const Cycle memory = std::min(lsu_.next_pass(), traffic_.NextEvent());
  return std::min({ports, memory, next_finish_, wheel_.Next(now)});
}

// When the first port can be free for which one of the lanes waits; all of them are blocked now.
inline Cycle Sm::PortsFreeAt(LaneMask lanes, Cycle now) const {
  Cycle first = kNever;
  if (const LaneMask want = lanes & port_lanes_[kLsu]; want != 0) {
    first = shared_free_[kLsu] > now ? shared_free_[kLsu] : lsu_.FreeAt();
    lanes &= ~want;
  }
  for (unsigned port = kSp; lanes != 0 && port < kLsu; ++port) {
    const LaneMask want = lanes & port_lanes_[port];
    if (want == 0) continue;
    if (shape_.shared_units[port] != 0) {
      first = std::min(first, shared_free_[port]);
      continue;
    }
    for (unsigned s = 0; s < config_.schedulers; ++s) {
      if ((want & layout_.SchedulerField(s)) != 0) first = std::min(first, port_free_[port][s]);
    }
  }
  return first;
}

void Sm::Settle(Cycle now) {
  if (now > accounted_) AccountSleep(now - accounted_);
}

void Sm::Finish(Cycle end) {
  Settle(end);
  for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
    if (blocks_[slot].valid) FreeSlot(slot, 'R', end);
  }
  TakeTally();
  std::uint64_t sum = 0;
  for (unsigned r = 0; r < kNumStalls; ++r) sum += stalls_.total(static_cast<Stall>(r));
  for (unsigned k = 0; k < kNumKernels; ++k) sum += warp_instructions(k);
  gpu_.checks.Require(sum == end * config_.schedulers, end, Index(id_), [&] {
    return std::to_string(sum) + " scheduler cycles are accounted for, not " +
           std::to_string(end * config_.schedulers);
  });
}

}  // namespace smk
