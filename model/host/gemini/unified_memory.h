// SPDX-License-Identifier: Apache-2.0
// The GPU's memory when its clients together may need more than there is ([Gemini] Sec. 3.6).
//
// Purpose     Limits of clients; what a client's kernels use is moved to the GPU before they run,
//             and what others have there makes room for it, the least recently used first.
// Transfers   One at a time in each direction of the PCI-e link, in order, those for kernels that
//             wait before prefetches. What leaves goes at the same time as what comes: a transfer
//             takes the latency and the larger of the two by the bandwidth.
// Room        A client keeps what it has while it has kernels, until these have run as long as its
//             transfer took, so that at worst half of the time is lost; and while it waits for a
//             token, against prefetches for others [D67].
// Fresh       Memory that nothing was written to yet, or that was freed, needs room and no
//             transfer.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "host/gemini/settings.h"

namespace smk::gemini {

class UnifiedMemory {
 public:
  struct Counts {
    std::uint64_t transfers = 0, in = 0, out = 0;  // bytes
    Nanoseconds busy = 0;
  };

  UnifiedMemory(const MemorySettings& settings, const std::vector<ClientScript>& clients);

  // False: refused, it would be more than the client's limit, or than there is.
  bool Allocate(std::size_t client, std::uint64_t bytes);
  // At most what it has.
  void Free(std::size_t client, std::uint64_t bytes);
  std::uint64_t allocated(std::size_t client) const { return Needs(places_[client]); }
  // All that it has is on the GPU.
  bool resident(std::size_t client) const;

  // The client has kernels to run. True when its memory is there; else it is asked for, and
  // TakeArrived() says when it has come.
  bool Use(std::size_t client, Nanoseconds now);
  // It has no kernel any more.
  void Idle(std::size_t client, Nanoseconds now);
  // How long its kernels run before others may take its place; and they have.
  Nanoseconds keeps(std::size_t client) const { return places_[client].cost; }
  void Ran(std::size_t client) { places_[client].ran = true; }
  // It waits for a token.
  void Prefetch(std::size_t client);
  // With MemorySettings::resize what it does not use any more is freed.
  void JobDone(std::size_t client);
  void Leave(std::size_t client);

  // Starts the next transfer if it can. `holder` is not in the way of a prefetch.
  void Start(Nanoseconds now, std::optional<std::size_t> holder);
  // Some wait for a transfer that has not begun.
  bool waits() const { return !demands_.empty() || !prefetches_.empty(); }
  Nanoseconds NextEvent() const { return moving_ ? end_ : kNeverNs; }
  // The client whose transfer has ended by now.
  std::optional<std::size_t> TakeArrived(Nanoseconds now);
  // Clients with kernels that have lost memory since the last call.
  std::vector<std::size_t> TakeEvicted();
  const Counts& counts() const { return counts_; }

 private:
  // What is kept over jobs, or is not.
  struct Part {
    std::uint64_t needs = 0, here = 0;
    std::uint64_t written = 0;  // has contents, which a transfer has to move
  };
  struct Place {
    Part kept, temporary;
    Nanoseconds used = 0, cost = 0;  // of its last transfer
    bool busy = false, ran = false, queued = false, asked = false;
  };

  static std::uint64_t Needs(const Place& place) {
    return place.kept.needs + place.temporary.needs;
  }
  static std::uint64_t Here(const Place& place) { return place.kept.here + place.temporary.here; }
  static void Write(Place* place);
  bool MayLeave(std::size_t client, std::size_t for_client, bool prefetch,
                std::optional<std::size_t> holder) const;
  bool Begin(std::size_t client, bool prefetch, Nanoseconds now, std::optional<std::size_t> holder);
  std::uint64_t Evict(std::size_t client, std::uint64_t bytes);

  const MemorySettings settings_;
  const std::vector<ClientScript>& clients_;
  std::vector<Place> places_;
  std::uint64_t free_ = 0;
  std::deque<std::size_t> demands_, prefetches_;
  std::optional<std::size_t> moving_;
  Nanoseconds end_ = 0;
  std::vector<std::size_t> evicted_;
  Counts counts_;
};

}  // namespace smk::gemini
