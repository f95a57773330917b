// SPDX-License-Identifier: Apache-2.0
// Parts of a run's time.
#pragma once

#include <utility>
#include <vector>

#include "base/ids.h"

namespace smk {

// Spans of cycles in order, each from its first up to, not including, its second, without overlap.
class Windows {
 public:
  using Span = std::pair<Cycle, Cycle>;
  Windows() = default;
  explicit Windows(std::vector<Span> spans);

  // After the others; nothing when it is empty.
  void Add(Cycle start, Cycle end);
  // What is in both.
  Windows And(const Windows& other) const;
  void DropFirst(Cycle cycles);

  Cycle total() const { return spans_.empty() ? 0 : sums_.back(); }
  // How many of the cycles from `start` up to `end` are in them.
  Cycle Within(Cycle start, Cycle end) const;
  const std::vector<Span>& spans() const { return spans_; }

 private:
  // Cycles of them before this one.
  Cycle Before(Cycle cycle) const;

  std::vector<Span> spans_;
  std::vector<Cycle> sums_;  // of the lengths, up to and including each
};

}  // namespace smk
