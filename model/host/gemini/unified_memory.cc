// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/unified_memory.h"

#include <algorithm>

namespace smk::gemini {
namespace {

void Remove(std::deque<std::size_t>* queue, std::size_t client) {
  queue->erase(std::remove(queue->begin(), queue->end(), client), queue->end());
}

}  // namespace

UnifiedMemory::UnifiedMemory(const MemorySettings& settings,
                             const std::vector<ClientScript>& clients)
    : settings_(settings), clients_(clients), places_(clients.size()), free_(settings.bytes) {
  for (std::size_t i = 0; i < clients.size(); ++i) {
    places_[i].kept.needs = clients[i].memory;
    places_[i].temporary.needs = clients[i].temporary;
  }
}

bool UnifiedMemory::Allocate(std::size_t client, std::uint64_t bytes) {
  const std::uint64_t limit = clients_[client].memory_limit;
  const std::uint64_t has = allocated(client);
  if (limit != 0 && bytes > limit - std::min(limit, has)) return false;
  if (settings_.bytes != 0 && bytes > settings_.bytes - std::min(settings_.bytes, has))
    return false;
  places_[client].kept.needs += bytes;
  return true;
}

void UnifiedMemory::Free(std::size_t client, std::uint64_t bytes) {
  Part& kept = places_[client].kept;
  kept.needs -= std::min(kept.needs, bytes);
  const std::uint64_t gone = kept.here - std::min(kept.here, kept.needs);
  kept.here -= gone;
  kept.written = std::min(kept.written, kept.needs);
  free_ += gone;
}

bool UnifiedMemory::resident(std::size_t client) const {
  return settings_.bytes == 0 ||
         (moving_ != client && Here(places_[client]) == Needs(places_[client]));
}

// Kernels have run with all that it has.
void UnifiedMemory::Write(Place* place) {
  for (Part* part : {&place->kept, &place->temporary}) part->written = part->needs;
}

bool UnifiedMemory::Use(std::size_t client, Nanoseconds now) {
  Place& place = places_[client];
  place.used = now;
  if (!place.busy) place.ran = false;
  place.busy = true;
  if (resident(client)) {
    Write(&place);
    return true;
  }
  Remove(&prefetches_, client);
  if (!place.asked && moving_ != client) demands_.push_back(client);
  place.asked = true;
  return false;
}

void UnifiedMemory::Idle(std::size_t client, Nanoseconds now) {
  Place& place = places_[client];
  place.used = now;
  place.busy = place.queued = false;
}

void UnifiedMemory::Prefetch(std::size_t client) {
  if (!settings_.prefetch) return;
  places_[client].queued = true;
  if (resident(client) || moving_ == client || places_[client].asked) return;
  if (std::find(prefetches_.begin(), prefetches_.end(), client) == prefetches_.end()) {
    prefetches_.push_back(client);
  }
}

void UnifiedMemory::JobDone(std::size_t client) {
  if (!settings_.resize) return;
  Part& part = places_[client].temporary;
  free_ += part.here;
  part.here = 0;
  part.written = 0;
}

void UnifiedMemory::Leave(std::size_t client) {
  Place& place = places_[client];
  free_ += Here(place);
  place = {};
  Remove(&demands_, client);
  Remove(&prefetches_, client);
  if (moving_ == client) moving_.reset();
}

bool UnifiedMemory::MayLeave(std::size_t client, std::size_t for_client, bool prefetch,
                             std::optional<std::size_t> holder) const {
  const Place& place = places_[client];
  if (client == for_client || moving_ == client || Here(place) == 0) return false;
  if (prefetch && (holder == client || place.queued)) return false;
  return !(place.busy && resident(client) && !place.ran);
}

std::uint64_t UnifiedMemory::Evict(std::size_t client, std::uint64_t bytes) {
  Place& place = places_[client];
  if (place.busy && resident(client)) evicted_.push_back(client);
  std::uint64_t moved = 0;
  for (Part* part : {&place.temporary, &place.kept}) {
    const std::uint64_t gone = std::min(part->here, bytes);
    part->here -= gone;
    bytes -= gone;
    free_ += gone;
    moved += std::min(gone, part->written);
  }
  return moved;
}

bool UnifiedMemory::Begin(std::size_t client, bool prefetch, Nanoseconds now,
                          std::optional<std::size_t> holder) {
  Place& place = places_[client];
  const std::uint64_t missing = Needs(place) - Here(place);
  std::vector<std::size_t> leave;
  std::uint64_t room = free_;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!MayLeave(i, client, prefetch, holder)) continue;
    leave.push_back(i);
    room += Here(places_[i]);
  }
  if (room < missing) return false;
  std::stable_sort(leave.begin(), leave.end(), [this](std::size_t a, std::size_t b) {
    return places_[a].used < places_[b].used;
  });
  std::uint64_t in = 0, out = 0;
  for (const std::size_t victim : leave) {
    if (free_ >= missing) break;
    out += Evict(victim, missing - free_);
  }
  for (Part* part : {&place.kept, &place.temporary}) {
    in += part->written - std::min(part->written, part->here);
    part->here = part->needs;
  }
  free_ -= missing;
  const std::uint64_t bytes = std::max(in, out);
  const Nanoseconds time =
      bytes == 0
          ? 0
          : settings_.latency + static_cast<Nanoseconds>((bytes / settings_.bytes_per_us * 1000) +
                                                         bytes % settings_.bytes_per_us * 1000 /
                                                             settings_.bytes_per_us);
  moving_ = client;
  end_ = now + time;
  place.cost = time;
  if (bytes != 0) ++counts_.transfers;
  counts_.in += in;
  counts_.out += out;
  counts_.busy += time;
  return true;
}

void UnifiedMemory::Start(Nanoseconds now, std::optional<std::size_t> holder) {
  if (moving_) return;
  for (std::deque<std::size_t>* queue : {&demands_, &prefetches_}) {
    if (queue->empty() || !Begin(queue->front(), queue == &prefetches_, now, holder)) continue;
    queue->pop_front();
    return;
  }
}

std::optional<std::size_t> UnifiedMemory::TakeArrived(Nanoseconds now) {
  if (!moving_ || end_ > now) return std::nullopt;
  const std::size_t client = *moving_;
  moving_.reset();
  Place& place = places_[client];
  place.asked = false;
  place.used = now;
  place.ran = false;
  if (place.busy) Write(&place);
  return client;
}

std::vector<std::size_t> UnifiedMemory::TakeEvicted() {
  std::vector<std::size_t> evicted;
  evicted.swap(evicted_);
  return evicted;
}

}  // namespace smk::gemini
