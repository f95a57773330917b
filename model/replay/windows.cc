// SPDX-License-Identifier: Apache-2.0
#include "replay/windows.h"

#include <algorithm>

namespace smk {

Windows::Windows(std::vector<Span> spans) {
  for (const auto& [start, end] : spans) Add(start, end);
}

void Windows::Add(Cycle start, Cycle end) {
  if (end <= start) return;
  sums_.push_back(total() + end - start);
  spans_.emplace_back(start, end);
}

Windows Windows::And(const Windows& other) const {
  Windows both;
  auto a = spans_.begin(), b = other.spans_.begin();
  while (a != spans_.end() && b != other.spans_.end()) {
    both.Add(std::max(a->first, b->first), std::min(a->second, b->second));
    if (a->second < b->second) {
      ++a;
    } else {
      ++b;
    }
  }
  return both;
}

void Windows::DropFirst(Cycle cycles) {
  Windows rest;
  for (const auto& [start, end] : spans_) {
    const Cycle dropped = std::min(cycles, end - start);
    cycles -= dropped;
    rest.Add(start + dropped, end);
  }
  *this = std::move(rest);
}

Cycle Windows::Before(Cycle cycle) const {
  const auto next =
      std::upper_bound(spans_.begin(), spans_.end(), cycle,
                       [](Cycle value, const Span& span) { return value < span.first; });
  if (next == spans_.begin()) return 0;
  const auto last = static_cast<std::size_t>(next - spans_.begin()) - 1;
  const auto& [start, end] = spans_[last];
  return sums_[last] - (end - std::min(cycle, end));
}

Cycle Windows::Within(Cycle start, Cycle end) const {
  return end > start ? Before(end) - Before(start) : 0;
}

}  // namespace smk
