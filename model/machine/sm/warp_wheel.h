// SPDX-License-Identifier: Apache-2.0
// Timing wheel of one SM: which warps become ready to issue in which cycle.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "machine/lanes.h"

namespace smk {

// A lane is on the wheel at most once. Times beyond the wheel's span wait in its last bucket and go
// round again. Constant time for all but Next(), which looks at 8 words and 16 buckets.
class WarpWheel {
 public:
  static constexpr unsigned kSlots = 1024;

  // `lane` becomes due at `at`, later than `now`.
  void Add(unsigned lane, Cycle at, Cycle now) {
    if (__builtin_expect(Far(at, now), 0)) {
      due_[lane] = at;
      far_ |= LaneBit(lane);
      at = now + kSlots - 1;
      round_[lane] = at;
      far_at_ = std::min(far_at_, at);
    }
    AddNear(LaneBit(lane), at);
  }
  // It is beyond the span.
  static bool Far(Cycle at, Cycle now) { return at - now >= kSlots; }
  // The same if it is not: without more ado.
  void AddNear(LaneMask bit, Cycle at) {
    const unsigned slot = at % kSlots;
    slots_[slot] |= bit;
    used_[slot / kGroup] = 1;
  }

  // The lanes due now. Must be called in every cycle that Next() names.
  LaneMask Take(Cycle now) {
    const LaneMask due = TakeNear(now);
    return now < far_at_ ? due : due & ~GoRoundAgain(due & far_, now);
  }
  // The same before FarAt(): none of them is due later.
  LaneMask TakeNear(Cycle now) {
    const unsigned slot = now % kSlots;
    const LaneMask due = slots_[slot];
    slots_[slot] = 0;
    return due;
  }
  // When the first bucket comes with a lane that may be due later.
  Cycle FarAt() const { return far_at_; }

  // In the bucket of `at`: none if Next() of the cycle before is later.
  LaneMask Due(Cycle at) const { return slots_[at % kSlots]; }

  // Forgets a lane that may be on the wheel. It is looked for: warps seldom leave before their end.
  void Remove(unsigned lane) {
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      if (used_[slot / kGroup] != 0) slots_[slot] &= ~LaneBit(lane);
    }
    far_ &= ~LaneBit(lane);
  }

  // First cycle after `now` with a lane in its bucket, or kNever.
  Cycle Next(Cycle now) {
    const unsigned first = (now + 1) % kSlots;
    std::uint64_t keep = ~std::uint64_t{0} << (first / kGroup % 8 * 8);
    unsigned slot = first;  // where the first group begins
    for (unsigned i = first / (8 * kGroup), n = 0; n <= kWords; ++n) {
      for (std::uint64_t groups = EightGroups(i) & keep; groups != 0; groups &= groups - 1) {
        const unsigned group = i * 8 + LowestLane(groups) / 8;
        const unsigned begin = group * kGroup;
        if (slot < begin || slot >= begin + kGroup) slot = begin;
        const bool whole = slot == begin;
        for (; slot != begin + kGroup; ++slot) {
          if (slots_[slot] != 0) return now + 1 + (slot + kSlots - first) % kSlots;
        }
        if (whole) used_[group] = 0;
      }
      i = (i + 1) % kWords;
      keep = ~std::uint64_t{0};
      slot = kSlots;
    }
    return kNever;
  }

 private:
  // Buckets that have a flag in common: a byte, which is written without a look at it.
  static constexpr unsigned kGroup = 16;
  static constexpr unsigned kWords = kSlots / kGroup / 8;

  std::uint64_t EightGroups(unsigned i) const {
    std::uint64_t eight;
    std::memcpy(&eight, used_.data() + 8 * i, sizeof(eight));
    return eight;
  }
  LaneMask GoRoundAgain(LaneMask lanes, Cycle now) {
    LaneMask later = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
      const unsigned lane = LowestLane(lanes);
      far_ &= ~LaneBit(lane);
      if (due_[lane] <= now) continue;
      later |= LaneBit(lane);
      Add(lane, due_[lane], now);
    }
    far_at_ = kNever;
    for (lanes = far_; lanes != 0; lanes &= lanes - 1) {
      far_at_ = std::min(far_at_, round_[LowestLane(lanes)]);
    }
    return later;
  }

  LaneMask far_ = 0;  // lanes due later than their bucket
  Cycle far_at_ = kNever;
  // By group: 1 if a bucket may have a lane.
  alignas(8) std::array<std::uint8_t, kSlots / kGroup> used_{};
  std::array<LaneMask, kSlots> slots_{};
  std::array<Cycle, kLanes> due_{}, round_{};  // of the lanes in far_; when their buckets come
};

}  // namespace smk
