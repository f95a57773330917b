// SPDX-License-Identifier: Apache-2.0
// The warps of one SM as bits of a word, a scheduler as a field of it.
#pragma once

#include <cstdint>

#include "base/ids.h"

namespace smk {

using LaneMask = std::uint64_t;

inline constexpr unsigned kLanes = kMaxWarps;

constexpr LaneMask LaneBit(unsigned lane) { return LaneMask{1} << lane; }
constexpr unsigned LowestLane(LaneMask mask) {
  return static_cast<unsigned>(__builtin_ctzll(mask));
}

// Lane = scheduler * lanes of a scheduler + index in the scheduler. A scheduler has 16 lanes, or
// 32 if it has more than 16 warps; then there are two at most. Sets of schedulers are masks, too:
// the last lane of each.
class LaneLayout {
 public:
  explicit constexpr LaneLayout(unsigned warps_per_scheduler)
      : shift_(warps_per_scheduler <= 16 ? 4 : 5),
        field_(warps_per_scheduler <= 16 ? 0xffff : 0xffffffff),
        last_lanes_(warps_per_scheduler <= 16 ? 0x8000800080008000 : 0x8000000080000000),
        to_last_lanes_(warps_per_scheduler <= 16 ? 0x1000200040008000 : 0x4000000080000000) {}

  constexpr unsigned lanes_per_scheduler() const { return 1u << shift_; }
  constexpr unsigned SchedulerOf(unsigned lane) const { return lane >> shift_; }
  constexpr unsigned IndexOf(unsigned lane) const { return lane & (lanes_per_scheduler() - 1); }
  constexpr unsigned LaneOf(unsigned scheduler, unsigned index) const {
    return (scheduler << shift_) + index;
  }
  constexpr LaneMask SchedulerField(unsigned scheduler) const {
    return field_ << (scheduler << shift_);
  }
  // From a bit for each scheduler: a multiplication moves them to 15, 31, 47 and 63, or to 31
  // and 63.
  constexpr LaneMask LastLanesOf(unsigned schedulers) const {
    return (schedulers * to_last_lanes_) & last_lanes_;
  }
  // Of all schedulers that there can be.
  constexpr LaneMask AllLast() const { return last_lanes_; }
  // Of the schedulers that have a lane in the mask. A sum stays in its field.
  constexpr LaneMask LastLanesIn(LaneMask mask) const {
    return (((mask & ~last_lanes_) + ~last_lanes_) | mask) & last_lanes_;
  }
  // All lanes of these schedulers.
  constexpr LaneMask FieldsOf(LaneMask last) const { return (last << 1) - FirstLanesOf(last); }
  // The first lanes of these schedulers.
  constexpr LaneMask FirstLanesOf(LaneMask last) const {
    return last >> (lanes_per_scheduler() - 1);
  }
  // Of each scheduler the lowest of its lanes in the mask; `last` is LastLanesIn(mask). A
  // difference stays in its field.
  constexpr LaneMask LowestLanesIn(LaneMask mask, LaneMask last) const {
    return mask & ~(mask - FirstLanesOf(last));
  }
  // Of each scheduler with a lane in the mask, which must be its only one, the lanes above it.
  constexpr LaneMask LanesAbove(LaneMask mask) const {
    const LaneMask last = LastLanesIn(mask);
    return FieldsOf(last) & ~(mask | (mask - FirstLanesOf(last)));
  }
  // The number of these schedulers.
  constexpr unsigned CountOf(LaneMask last) const {
    return static_cast<unsigned>((FirstLanesOf(last) * 0x0001000100010001) >> 48);
  }

 private:
  unsigned shift_;
  LaneMask field_;          // lanes of scheduler 0
  LaneMask last_lanes_;     // of all schedulers
  LaneMask to_last_lanes_;  // factor
};
static_assert(LaneLayout(16).LastLanesOf(15) == 0x8000800080008000);
static_assert(LaneLayout(24).LastLanesOf(3) == 0x8000000080000000);
static_assert(LaneLayout(16).LowestLanesIn(0x0c00'0000'8000'0006, 0x8000'0000'8000'8000) ==
              0x0400'0000'8000'0002);
static_assert(LaneLayout(16).LanesAbove(0x8000'0000'4000'0001) == 0x0000'0000'8000'fffe);

}  // namespace smk
