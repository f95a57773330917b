// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/time_slicing.h"

#include <algorithm>

namespace smk::gemini {

// Counts what has run since the last call.
void TimeSlicing::Catch(Nanoseconds now) {
  if (running_) {
    Stream& stream = streams_[*running_];
    stream.done += now - since_;
    while (!stream.ends.empty() && stream.ends.front() <= stream.done) stream.ends.pop_front();
  }
  since_ = now;
}

void TimeSlicing::Next(Nanoseconds now) {
  running_.reset();
  slice_end_ = kNeverNs;
  if (turn_.empty()) return;
  running_ = turn_.front();
  turn_.pop_front();
  if (!turn_.empty()) slice_end_ = now + slice_;
}

void TimeSlicing::Enter(std::size_t client, Nanoseconds now) {
  turn_.push_back(client);
  if (!running_) {
    Next(now);
  } else if (slice_end_ == kNeverNs) {
    slice_end_ = now + slice_;
  }
}

void TimeSlicing::Leave(std::size_t client, Nanoseconds now) {
  if (running_ == client) {
    Next(now);
    return;
  }
  turn_.erase(std::remove(turn_.begin(), turn_.end(), client), turn_.end());
  if (turn_.empty()) slice_end_ = kNeverNs;
}

void TimeSlicing::Add(std::size_t client, Nanoseconds kernel, Nanoseconds now) {
  Catch(now);
  Stream& stream = streams_[client];
  const bool idle = !busy(client);
  stream.added += kernel;
  stream.ends.push_back(stream.added);
  // A stream that has just become empty, which nobody has seen yet, goes on.
  if (idle && !stream.blocked && running_ != client) Enter(client, now);
}

void TimeSlicing::Drop(std::size_t client, Nanoseconds now) {
  Catch(now);
  Stream& stream = streams_[client];
  if (!busy(client)) return;
  stream.added = stream.done;
  stream.ends.clear();
  if (!stream.blocked) Leave(client, now);
}

void TimeSlicing::Block(std::size_t client, Nanoseconds now) {
  if (streams_[client].blocked) return;
  Catch(now);
  streams_[client].blocked = true;
  if (busy(client)) Leave(client, now);
}

void TimeSlicing::Unblock(std::size_t client, Nanoseconds now) {
  if (!streams_[client].blocked) return;
  Catch(now);
  streams_[client].blocked = false;
  if (busy(client)) Enter(client, now);
}

Nanoseconds TimeSlicing::executed(std::size_t client, Nanoseconds now) const {
  return streams_[client].done + (running_ == client ? now - since_ : 0);
}

void TimeSlicing::Watch(std::size_t client) {
  Stream& stream = streams_[client];
  stream.watched = stream.ends.empty() ? stream.added : stream.ends.front();
}

Nanoseconds TimeSlicing::NextEvent() const {
  if (!running_) return kNeverNs;
  const Stream& stream = streams_[*running_];
  const Nanoseconds until = stream.watched != 0 ? stream.watched : stream.added;
  return std::min(slice_end_, since_ + until - stream.done);
}

std::optional<std::size_t> TimeSlicing::Advance(Nanoseconds now) {
  Catch(now);
  if (!running_) return std::nullopt;
  const std::size_t client = *running_;
  Stream& stream = streams_[client];
  const bool seen = stream.watched != 0 && stream.done >= stream.watched;
  if (seen) stream.watched = 0;
  if (!busy(client)) {
    Next(now);
    return client;
  }
  if (now >= slice_end_) {
    turn_.push_back(client);
    Next(now);
  }
  if (seen) return client;
  return std::nullopt;
}

}  // namespace smk::gemini
