// SPDX-License-Identifier: Apache-2.0
// The GPU as clients of different processes have it: one client's kernels at a time, in the order
// of their launches; between clients that all have kernels, time slices in turn.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "host/gemini/client.h"

namespace smk::gemini {

class TimeSlicing {
 public:
  TimeSlicing(std::size_t clients, Nanoseconds slice) : slice_(slice), streams_(clients) {}

  // Calls come in ascending order of time.
  void Add(std::size_t client, Nanoseconds kernel, Nanoseconds now);
  // What the client has launched and has not been executed is gone.
  void Drop(std::size_t client, Nanoseconds now);
  // It is not executed, because what it needs is not in memory; and again it can be.
  void Block(std::size_t client, Nanoseconds now);
  void Unblock(std::size_t client, Nanoseconds now);
  // Advance() is to stop at the end of its next kernel also.
  void Watch(std::size_t client);

  bool busy(std::size_t client) const { return streams_[client].done < streams_[client].added; }
  bool blocked(std::size_t client) const { return streams_[client].blocked; }
  // Kernels that are launched and have not ended.
  std::size_t pending(std::size_t client) const { return streams_[client].ends.size(); }
  // Time of its kernels so far.
  Nanoseconds executed(std::size_t client, Nanoseconds now) const;
  // The client whose kernel is on the GPU.
  std::optional<std::size_t> running() const { return running_; }

  // When Advance() has something to do.
  Nanoseconds NextEvent() const;
  // At that time. The client that has no kernel left, or whose watched kernel has ended.
  std::optional<std::size_t> Advance(Nanoseconds now);

 private:
  struct Stream {
    Nanoseconds added = 0, done = 0;  // time of its kernels, all of them and up to now
    std::deque<Nanoseconds> ends;     // of those that have not ended, in that time
    Nanoseconds watched = 0;          // where to stop, in that time; 0: nowhere
    bool blocked = false;
  };

  void Catch(Nanoseconds now);
  void Enter(std::size_t client, Nanoseconds now);
  void Leave(std::size_t client, Nanoseconds now);
  void Next(Nanoseconds now);

  const Nanoseconds slice_;
  std::vector<Stream> streams_;
  std::deque<std::size_t> turn_;  // that have kernels and are not blocked, but the one that runs
  std::optional<std::size_t> running_;
  Nanoseconds since_ = 0, slice_end_ = kNeverNs;
};

}  // namespace smk::gemini
