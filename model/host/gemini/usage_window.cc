// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/usage_window.h"

#include <algorithm>

#include "host/gemini/quota.h"

namespace smk::gemini {

std::size_t UsageWindow::Open(std::size_t client, Nanoseconds start, Nanoseconds end) {
  slices_.push_back({client, start, end});
  return forgotten_ + slices_.size() - 1;
}

void UsageWindow::SetEnd(std::size_t slice, Nanoseconds end) {
  if (slice < forgotten_) return;
  Slice& found = slices_[slice - forgotten_];
  found.end = std::max(end, found.start);
}

void UsageWindow::Forget(Nanoseconds now) {
  while (!slices_.empty() && slices_.front().end <= now - window_) {
    slices_.pop_front();
    ++forgotten_;
  }
}

template <typename F>
void UsageWindow::Sweep(Nanoseconds from, Nanoseconds to, F f) const {
  std::vector<Slice> open;
  std::size_t next = 0;
  Nanoseconds at = from;
  while (at < to) {
    while (next < slices_.size() && slices_[next].start <= at) {
      if (slices_[next].end > at) open.push_back(slices_[next]);
      ++next;
    }
    Nanoseconds end = to;
    if (next < slices_.size()) end = std::min(end, slices_[next].start);
    for (const Slice& slice : open) end = std::min(end, slice.end);
    if (!f(at, end, open)) return;
    at = end;
    open.erase(std::remove_if(open.begin(), open.end(),
                              [at](const Slice& slice) { return slice.end <= at; }),
               open.end());
  }
}

std::vector<Nanoseconds> UsageWindow::Allocations(Nanoseconds now) {
  Forget(now);
  std::vector<Nanoseconds> sums(clients_);
  Sweep(std::max<Nanoseconds>(0, now - window_), now,
        [&](Nanoseconds start, Nanoseconds end, const std::vector<Slice>& open) {
          for (const Slice& slice : open) {
            sums[slice.client] += (end - start) / static_cast<Nanoseconds>(open.size());
          }
          return true;
        });
  return sums;
}

Nanoseconds UsageWindow::WithinLimit(std::size_t client, std::int64_t limit, Nanoseconds now) {
  const Nanoseconds used = Allocations(now)[client];
  if (used <= PartOf(Length(now), limit)) return now;
  // While the window still grows, nothing leaves it.
  if (now < window_) {
    Nanoseconds at = used / limit * kWhole + used % limit * kWhole / limit;
    while (PartOf(at, limit) < used) ++at;
    if (at <= window_) return at;
  }
  Nanoseconds excess = used - PartOf(window_, limit);
  Nanoseconds left = std::max(now, window_);
  Sweep(std::max<Nanoseconds>(0, now - window_), now,
        [&](Nanoseconds start, Nanoseconds end, const std::vector<Slice>& open) {
          const auto sharing = static_cast<Nanoseconds>(open.size());
          for (const Slice& slice : open) {
            if (slice.client != client) continue;
            const Nanoseconds part = (end - start) / sharing;
            if (part >= excess) {
              left = start + excess * sharing + window_;
              return false;
            }
            excess -= part;
          }
          left = end + window_;
          return true;
        });
  return std::max(left, now + 1);
}

}  // namespace smk::gemini
