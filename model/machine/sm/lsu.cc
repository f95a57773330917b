// SPDX-License-Identifier: Apache-2.0
#include "machine/sm/lsu.h"

#include <algorithm>

namespace smk {
namespace {

bool IsOnChip(OpClass op) {
  return op == OpClass::kLoadShared || op == OpClass::kStoreShared ||
         op == OpClass::kAtomicShared || op == OpClass::kLoadConst;
}

CacheConfig TextureTags(const TextureConfig& texture) {
  CacheConfig tags;
  tags.bytes = texture.bytes;
  tags.ways = texture.ways;
  return tags;
}

}  // namespace

Lsu::Lsu(SmId sm, const SmConfig& config, unsigned sector_bytes, MemoryPort& memory)
    : depth_(config.lsu_queue),
      ring_(kRing),
      sm_(sm),
      memory_(memory),
      in_turn_(memory.InTurn()),
      line_initiation_(std::max(config.lsu.initiation, 1u)),
      lsu_sectors_(sector_bytes == kLineBytes ? 0 : config.lsu_bytes / kSectorBytes),
      operand_latency_(config.operand_latency),
      hit_latency_(config.l1.latency),
      merges_(config.l1.mshr_merges),
      waits_for_place_(config.l1_full_set == "wait"),
      mshrs_(config.l1.mshrs),
      stores_(config.stores),
      l1_(config.l1, lsu_sectors_ != 0),
      texture_(TextureTags(config.texture), false),
      texture_latency_(config.texture.latency),
      texture_fifo_(config.texture.bytes == 0 ? 0 : config.texture.fifo) {
  resolved_.reserve(2 * kRing);
}

void Lsu::IssueGlobal(Cycle now) {
  Entry& entry = ring_[tail_ % kRing];
  entry.sent = 0;
  entry.done = 0;
  const bool first = unresolved_ == tail_;
  ++tail_;
  FindPlace();
  if (!first) return;
  begun_ = next_pass_ = std::max(now, free_at_);
  Tick(now);
}

inline Cycle Lsu::SendNext(Entry* entry, Cycle now) {
  if (__builtin_expect(in_turn_, 0)) return SendInTurn(entry, now);
  switch (entry->request.op) {
    case OpClass::kStoreGlobal:
      return SendStore(entry, now);
    case OpClass::kAtomicGlobal:
      return SendAtomic(entry, now);
    case OpClass::kTexture:
      return texture_fifo_.empty() ? SendLoad(entry, now) : SendTexture(entry, now);
    default:
      return SendLoad(entry, now);
  }
}

void Lsu::Serve(Cycle now) {
  Entry& entry = ring_[unresolved_ % kRing];
  const Cycle retry = SendNext(&entry, now);
  if (retry != 0) {
    next_pass_ = retry;
    return;
  }
  free_at_ = now + line_initiation_ * Cycles(Sectors(entry));
  if (++entry.sent < entry.request.passes) {
    next_pass_ = free_at_;
    return;
  }
  if (__builtin_expect(in_turn_, 0)) {
    open_.Close(entry.ticket);
  } else {
    resolved_.push_back({entry.request, entry.done + operand_latency_});
  }
  stats_.busy[Index(entry.request.kernel)] += free_at_ - begun_;
  release_[unresolved_++ % kRing] = free_at_;
  ResolveFollowers(now);
}

// The shared-memory instructions behind a finished global one, up to the next global one.
inline void Lsu::ResolveFollowers(Cycle now) {
  next_pass_ = kNever;
  while (unresolved_ != tail_) {
    const Request& request = ring_[unresolved_ % kRing].request;
    if (!IsOnChip(request.op)) {
      begun_ = next_pass_ = free_at_;
      break;
    }
    resolved_.push_back(
        {request, ScheduleShared(request.cycles, request.latency, request.kernel, now)});
  }
  FindPlace();
}

Cycle Lsu::Send(const Entry& entry, MemoryAccess access, Cycle now) {
  return memory_.Access(sm_, entry.request.kernel, access,
                        {entry.lines[entry.sent], Sectors(entry)}, now);
}

inline Cycle Lsu::SendInTurn(Entry* entry, Cycle now) {
  if (memory_.Full(sm_)) return now + 1;
  const Request& request = entry->request;
  MemoryAccess access = MemoryAccess::kLoad;
  if (request.op == OpClass::kStoreGlobal) access = MemoryAccess::kStore;
  if (request.op == OpClass::kAtomicGlobal) access = MemoryAccess::kAtomic;
  if (access == MemoryAccess::kLoad) ++stats_.l1_accesses[Index(request.kernel)];
  if (entry->sent == 0) entry->ticket = open_.Open(request);
  const LineRequest line{entry->lines[entry->sent], Sectors(*entry)};
  open_.Expect(entry->ticket, memory_.Ask(sm_, request.kernel, access, line, entry->ticket, now));
  return 0;
}

bool Lsu::Answer(Ticket ticket, Cycle done) {
  const auto* const entry = open_.Answer(ticket, done);
  if (entry == nullptr) return false;
  resolved_.push_back({entry->owner, entry->done + operand_latency_});
  return true;
}

Cycle Lsu::SendUncached(Entry* entry, Cycle now) {
  entry->done = std::max(entry->done, Send(*entry, MemoryAccess::kLoad, now));
  ++stats_.l1_accesses[Index(entry->request.kernel)];
  return 0;
}

// A line's place in the FIFO is taken until its data, and those of all before it, are there.
Cycle Lsu::SendTexture(Entry* entry, Cycle now) {
  Cycle& place = texture_fifo_[texture_place_];
  if (place > now) return place;
  const std::uint64_t line = entry->lines[entry->sent];
  const unsigned kernel = Index(entry->request.kernel);
  Cycle done = now + texture_latency_;
  if (L1Cache::Line* found = texture_.Find(line)) {
    done = std::max<Cycle>(done, found->fill);
    ++stats_.l1_hits[kernel];
  } else {
    const Cycle fill =
        memory_.Access(sm_, entry->request.kernel, MemoryAccess::kLoad, {line, kAllSectors}, now);
    // Data come back in the order of the tags, so that even a line in flight can be replaced.
    texture_.Allocate(line, kNever, fill);
    done = std::max(done, fill);
  }
  ++stats_.l1_accesses[kernel];
  place = texture_done_ = std::max(texture_done_, done);
  if (++texture_place_ == texture_fifo_.size()) texture_place_ = 0;
  entry->done = std::max(entry->done, place);
  return 0;
}

Cycle Lsu::SendLoad(Entry* entry, Cycle now) {
  if (l1_.absent()) return SendUncached(entry, now);
  const std::uint64_t line = entry->lines[entry->sent];
  const SectorMask sectors = Sectors(*entry);
  const unsigned kernel = Index(entry->request.kernel);
  Cycle done = now + hit_latency_;
  L1Cache::Line* const found = l1_.Find(line);
  if (found != nullptr && (sectors & ~found->sectors) == 0) {
    const Cycle ready = l1_.Ready(*found, sectors, now);
    if (ready > now) {
      if (found->merges >= merges_) return ready;
      ++found->merges;
      done = std::max(done, ready);
    }
    ++stats_.l1_hits[kernel];
  } else {
    if (mshrs_.Full(now)) return mshrs_.Earliest();
    if (found == nullptr && waits_for_place_) {
      const Cycle place = l1_.PlaceAt(line);
      if (place > now) return place;
    }
    SectorMask missing = sectors;
    if (found != nullptr) {
      // The others are here, or come with the fetch that was sent for them.
      missing = static_cast<SectorMask>(sectors & ~found->sectors);
      if (missing != sectors) done = std::max(done, l1_.Ready(*found, sectors & ~missing, now));
    }
    const Cycle fill =
        memory_.Access(sm_, entry->request.kernel, MemoryAccess::kLoad, {line, missing}, now);
    mshrs_.Push(fill);
    if (found != nullptr) {
      l1_.Add(found, missing, fill);
    } else {
      l1_.Allocate(line, now, fill, sectors);
    }
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
  CompletionTree& in_flight = entry->request.place == 0 ? stores_ : mshrs_;
  const bool limited = entry->request.place == 0 || !l1_.absent();
  if (limited && in_flight.Full(now)) return in_flight.Earliest();
  l1_.Evict(entry->lines[entry->sent], now);
  const Cycle done = Send(*entry, MemoryAccess::kAtomic, now);
  if (limited) in_flight.Push(done);
  entry->done = std::max(entry->done, done);
  return 0;
}

}  // namespace smk
