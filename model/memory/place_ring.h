// SPDX-License-Identifier: Apache-2.0
// Places of a queue that are taken and freed in the same order.
#pragma once

#include <vector>

#include "base/ids.h"

namespace smk {

// Purpose     Tells when the next place is free, which is the one that was taken longest ago.
// Units       Of time: those of its owner.
class PlaceRing {
 public:
  explicit PlaceRing(unsigned places) : free_at_(places), next_(free_at_.data()) {}
  PlaceRing(const PlaceRing&) = delete;  // it would take places of the original
  PlaceRing& operator=(const PlaceRing&) = delete;

  Cycle next_free() const { return *next_; }
  void Take(Cycle until) {
    *next_ = until;
    if (++next_ == free_at_.data() + free_at_.size()) next_ = free_at_.data();
  }

 private:
  std::vector<Cycle> free_at_;
  Cycle* next_;
};

}  // namespace smk
