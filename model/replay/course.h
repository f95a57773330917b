// SPDX-License-Identifier: Apache-2.0
// The launches that are in the kernel slots, and an interface to how they go on.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "replay/kinds.h"
#include "replay/places.h"

namespace smk {

// Those of all slots, as the set has them and its course goes on with them.
struct Residents {
  struct Slot {
    bool busy = false;
    bool placed = false;  // it goes on
    JobId job{0};
    std::size_t kind = 0;  // of it, or of the one before
    double left = 0;       // work
    double rate = 0;
    double work = 0;           // done
    double all = 0;            // of all its TBs
    std::uint64_t number = 0;  // of the launch, in the order of all
  };

  const Kinds::Kind& KindOf(const Slot& slot) const { return kinds[slot.kind]; }
  KernelMask Busy() const {
    KernelMask mask = 0;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (slots[k].busy) mask |= static_cast<KernelMask>(1u << k);
    }
    return mask;
  }

  Kinds kinds;
  Places places;
  std::array<Slot, kNumKernels> slots{};
  Cycle now = 0;
};

// Cycles that the work takes, at least one.
inline Cycle CyclesFor(double work, double rate) {
  return static_cast<Cycle>(std::max(1.0, std::floor(work / rate + 0.5)));
}

// How the residents go on.
// Contract: all residents begin in the course before it is asked anything else. Refresh() comes
// after each that begins or is done, and each Advance() that says so, before any other question.
class Course {
 public:
  virtual ~Course() = default;
  // A launch into the slot.
  virtual void Begin(KernelId slot) = 0;
  // Finds the rates of all.
  virtual void Refresh() = 0;
  // Work until `next`, which is at most NextEvent(). Says whether rates change.
  virtual bool Advance(Cycle next) = 0;
  virtual bool Done(KernelId slot) const = 0;
  // When one is done, or rates may change; kNever without such an event.
  virtual Cycle NextEvent() const = 0;
};

}  // namespace smk
