// SPDX-License-Identifier: Apache-2.0
// How much of the GPU each client has had lately ([Gemini] Sec. 3.5.1, step 1, Fig. 6).
//
// Purpose     Time slices in a sliding window. Where slices of several clients overlap, which only
//             overuse makes them, each has an equal part of the time, so that all together have no
//             more than the window.
// Start       While less than a window has passed, the window is what has passed (authors' code).
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "host/gemini/settings.h"

namespace smk::gemini {

class UsageWindow {
 public:
  UsageWindow(std::size_t clients, Nanoseconds window) : clients_(clients), window_(window) {}

  // A slice from `start` on, which is expected to end at `end`; starts ascend. Its number.
  std::size_t Open(std::size_t client, Nanoseconds start, Nanoseconds end);
  // It has ended, earlier or later. Nothing happens when it is too old to matter.
  void SetEnd(std::size_t slice, Nanoseconds end);

  // Of each client in the window that ends now, in nanoseconds, each overlap rounded down.
  std::vector<Nanoseconds> Allocations(Nanoseconds now);
  Nanoseconds Length(Nanoseconds now) const { return now < window_ ? now : window_; }
  // The first time from now on at which the client has had no more than `limit` of the window, if
  // no slice is opened meanwhile.
  Nanoseconds WithinLimit(std::size_t client, std::int64_t limit, Nanoseconds now);

 private:
  struct Slice {
    std::size_t client = 0;
    Nanoseconds start = 0, end = 0;
  };

  void Forget(Nanoseconds now);
  // Calls f(start, end, slices) for every part of [from, to) in which the same slices are open.
  template <typename F>
  void Sweep(Nanoseconds from, Nanoseconds to, F f) const;

  const std::size_t clients_;
  const Nanoseconds window_;
  std::deque<Slice> slices_;   // by start
  std::size_t forgotten_ = 0;  // number of the first in slices_
};

}  // namespace smk::gemini
