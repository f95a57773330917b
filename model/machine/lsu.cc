// SPDX-License-Identifier: Apache-2.0
#include "machine/lsu.h"

#include <algorithm>

namespace smk {
namespace {

bool IsShared(OpClass op) {
  return op == OpClass::kLoadShared || op == OpClass::kStoreShared || op == OpClass::kAtomicShared;
}

}  // namespace

Lsu::Lsu(SmId sm, const SmConfig& config, MemoryPort& memory)
    : sm_(sm),
      memory_(memory),
      shared_(config.shared),
      line_initiation_(std::max(config.lsu.initiation, 1u)),
      depth_(config.lsu_queue),
      hit_latency_(config.l1.latency),
      merges_(config.l1.mshr_merges),
      l1_(config.l1),
      mshrs_(config.l1.mshrs),
      stores_(kStoreBuffer),
      ring_(kRing) {
  resolved_.reserve(2 * kRing);
}

void Lsu::IssueGlobal(const Request& request, Cycle now) {
  Entry& entry = ring_[tail_ % kRing];
  entry.request = request;
  entry.sent = 0;
  entry.done = 0;
  const bool first = unresolved_ == tail_;
  ++tail_;
  if (!first) return;
  next_pass_ = std::max(now, free_at_);
  Tick(now);
}

void Lsu::Serve(Cycle now) {
  Entry& entry = ring_[unresolved_ % kRing];
  Cycle retry = 0;
  switch (entry.request.op) {
    case OpClass::kStoreGlobal:
      retry = SendStore(&entry, now);
      break;
    case OpClass::kAtomicGlobal:
      retry = SendAtomic(&entry, now);
      break;
    default:
      retry = SendLoad(&entry, now);
      break;
  }
  if (retry != 0) {
    next_pass_ = retry;
    return;
  }
  free_at_ = now + line_initiation_;
  if (++entry.sent < entry.request.passes) {
    next_pass_ = free_at_;
    return;
  }
  resolved_.push_back({entry.request, entry.done});
  release_[unresolved_++ % kRing] = free_at_;
  ResolveFollowers(now);
}

// The shared-memory instructions behind a finished global one, up to the next global one.
void Lsu::ResolveFollowers(Cycle now) {
  next_pass_ = kNever;
  while (unresolved_ != tail_) {
    const Request& request = ring_[unresolved_ % kRing].request;
    if (!IsShared(request.op)) {
      next_pass_ = free_at_;
      return;
    }
    resolved_.push_back({request, ScheduleShared(request.passes, now)});
  }
}

Cycle Lsu::Send(const Entry& entry, MemoryAccess access, Cycle now) {
  return memory_.Access(sm_, entry.request.kernel, access, entry.lines[entry.sent], now);
}

Cycle Lsu::SendLoad(Entry* entry, Cycle now) {
  const std::uint64_t line = entry->lines[entry->sent];
  const unsigned kernel = Index(entry->request.kernel);
  Cycle done = now + hit_latency_;
  if (L1Cache::Line* found = l1_.Find(line)) {
    if (found->fill > now) {
      if (found->merges >= merges_) return found->fill;
      ++found->merges;
      done = std::max<Cycle>(done, found->fill);
    }
    ++stats_.l1_hits[kernel];
  } else {
    if (mshrs_.Full(now)) return mshrs_.Earliest();
    const Cycle fill = Send(*entry, MemoryAccess::kLoad, now);
    mshrs_.Push(fill);
    l1_.Allocate(line, now, fill);
    done = std::max(done, fill);
  }
  ++stats_.l1_accesses[kernel];
  entry->done = std::max(entry->done, done);
  return 0;
}

Cycle Lsu::SendStore(Entry* entry, Cycle now) {
  if (stores_.Full(now)) return stores_.Earliest();
  l1_.Evict(entry->lines[entry->sent], now);
  const Cycle done = Send(*entry, MemoryAccess::kStore, now);
  stores_.Push(done);
  entry->done = std::max(entry->done, done);
  return 0;
}

Cycle Lsu::SendAtomic(Entry* entry, Cycle now) {
  CompletionHeap& in_flight = entry->request.dst == kNoRegister ? stores_ : mshrs_;
  if (in_flight.Full(now)) return in_flight.Earliest();
  l1_.Evict(entry->lines[entry->sent], now);
  const Cycle done = Send(*entry, MemoryAccess::kAtomic, now);
  in_flight.Push(done);
  entry->done = std::max(entry->done, done);
  return 0;
}

}  // namespace smk
