// SPDX-License-Identifier: Apache-2.0
// Places for things in flight: whether one is free, and when the next one will be.
//
// Purpose     MSHRs and the store buffer of an LSU. A place is free from the cycle on in which what
//             has it completes; what comes takes the one that was free first.
// Speed       A tournament: each node has the earlier of its two. So a place is taken in as many
//             steps as the tree has levels, whatever the times are, without a branch that depends
//             on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/lanes.h"

namespace smk {

// See the head of this file. Never allocates after construction.
class CompletionTree {
 public:
  // `limit` places, at most kMaxPlaces; all are free at first.
  explicit CompletionTree(unsigned limit) {
    while (leaves_ < limit) leaves_ *= 2;
    nodes_.assign(2 * leaves_, kNobody);
    for (unsigned place = 0; place < limit; ++place) nodes_[leaves_ + place] = place;
    for (std::size_t i = leaves_ - 1; i != 0; --i) {
      nodes_[i] = std::min(nodes_[2 * i], nodes_[2 * i + 1]);
    }
  }

  // All places have what completes later than `now`.
  bool Full(Cycle now) const { return Earliest() > now; }
  // When the next place is free.
  Cycle Earliest() const { return nodes_[1] >> kPlaceBits; }
  // Takes that place until `done`. Not while Full().
  void Push(Cycle done) {
    std::uint64_t key = done << kPlaceBits | (nodes_[1] & (kMaxPlaces - 1));
    std::size_t i = leaves_ + (key & (kMaxPlaces - 1));
    nodes_[i] = key;
    for (; i > 1; i /= 2) {
      key = std::min(key, nodes_[i ^ 1]);
      nodes_[i / 2] = key;
    }
  }

  static constexpr unsigned kPlaceBits = 12;
  static constexpr std::uint64_t kMaxPlaces = 1u << kPlaceBits;

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};  // a leaf beyond the places

  std::size_t leaves_ = 1;
  std::vector<std::uint64_t> nodes_;  // when it is free, and its number; the root is node 1
};

}  // namespace smk
