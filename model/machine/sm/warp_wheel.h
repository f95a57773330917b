// SPDX-License-Identifier: Apache-2.0
// Timing wheel of one SM: which warps become ready to issue in which cycle.
#pragma once

#include <array>
#include <cstdint>

#include "machine/lanes.h"

namespace smk {

// A lane is on the wheel at most once. Times beyond the wheel's span wait in its last bucket and go
// round again. Constant time for all but Next(), which looks at 16 words.
class WarpWheel {
 public:
  static constexpr unsigned kSlots = 1024;

  // `lane` becomes due at `at`, later than `now`.
  void Add(unsigned lane, Cycle at, Cycle now) {
    if (__builtin_expect(at - now >= kSlots, 0)) {
      due_[lane] = at;
      far_ |= LaneBit(lane);
      at = now + kSlots - 1;
    }
    const unsigned slot = at % kSlots;
    slots_[slot] |= LaneBit(lane);
    used_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }

  // The lanes due now. Must be called in every cycle that Next() names.
  LaneMask Take(Cycle now) {
    const unsigned slot = now % kSlots;
    LaneMask due = slots_[slot];
    if (due == 0) return 0;
    slots_[slot] = 0;
    if ((due & far_) != 0) due &= ~GoRoundAgain(due & far_, now);
    return due;
  }

  // In the bucket of `at`: none if Next() of the cycle before is later.
  LaneMask Due(Cycle at) const { return slots_[at % kSlots]; }

  // Forgets a lane that may be on the wheel. It is looked for: warps seldom leave before their end.
  void Remove(unsigned lane) {
    for (unsigned i = 0; i < kWords; ++i) {
      for (std::uint64_t word = used_[i]; word != 0; word &= word - 1) {
        LaneMask& lanes = slots_[i * 64 + LowestLane(word)];
        lanes &= ~LaneBit(lane);
        if (lanes == 0) used_[i] &= ~(word & -word);
      }
    }
    far_ &= ~LaneBit(lane);
  }

  // First cycle after `now` with a lane in its bucket, or kNever.
  Cycle Next(Cycle now) {
    const unsigned first = (now + 1) % kSlots;
    std::uint64_t keep = ~std::uint64_t{0} << (first % 64);
    for (unsigned i = first / 64, n = 0; n <= kWords; ++n) {
      for (std::uint64_t word = used_[i] & keep; word != 0; word &= word - 1) {
        const unsigned slot = i * 64 + LowestLane(word);
        if (slots_[slot] != 0) return now + 1 + (slot + kSlots - first) % kSlots;
        used_[i] &= ~(word & -word);
      }
      i = (i + 1) % kWords;
      keep = ~std::uint64_t{0};
    }
    return kNever;
  }

 private:
  static constexpr unsigned kWords = kSlots / 64;

  LaneMask GoRoundAgain(LaneMask lanes, Cycle now) {
    LaneMask later = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
      const unsigned lane = LowestLane(lanes);
      far_ &= ~LaneBit(lane);
      if (due_[lane] <= now) continue;
      later |= LaneBit(lane);
      Add(lane, due_[lane], now);
    }
    return later;
  }

  LaneMask far_ = 0;                          // lanes due later than their bucket
  std::array<std::uint64_t, kWords> used_{};  // bit per bucket; one that is empty may be set
  std::array<LaneMask, kSlots> slots_{};
  std::array<Cycle, kLanes> due_{};  // of the lanes in far_
};

}  // namespace smk
