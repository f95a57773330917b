// SPDX-License-Identifier: Apache-2.0
// Things in flight that must be counted as they complete. Where only a free place is asked for:
// completion_tree.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "machine/lanes.h"

namespace smk {

// Only their completion cycles matter. Entries leave by Expire(). Does not allocate while there are
// at most `limit` of them.
class CompletionHeap {
 public:
  explicit CompletionHeap(unsigned limit) { heap_.reserve(limit); }

  void Push(Cycle done) {
    heap_.push_back(done);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    earliest_ = heap_.front();
  }
  // What was to complete at `was` does so no later, at `done`.
  void Replace(Cycle was, Cycle done) {
    const auto place = std::find(heap_.begin(), heap_.end(), was);
    *place = done;
    std::push_heap(heap_.begin(), place + 1, std::greater<>());
    earliest_ = heap_.front();
  }
  // Removes what is complete; returns how many.
  unsigned Expire(Cycle now) {
    unsigned count = 0;
    while (earliest_ <= now) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      earliest_ = heap_.empty() ? kNever : heap_.front();
      ++count;
    }
    return count;
  }
  Cycle Earliest() const { return earliest_; }
  std::size_t size() const { return heap_.size(); }

 private:
  Cycle earliest_ = kNever;  // the front of the heap
  std::vector<Cycle> heap_;  // min-heap
};

}  // namespace smk
