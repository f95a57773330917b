// SPDX-License-Identifier: Apache-2.0
// How the SM model numbers warps, time stamps and memory accesses: shared by its parts.
//
// Lanes       A warp slot is handled as a bit of a 64-bit mask: lane = scheduler * 16 + index in
//             the scheduler, so that a scheduler is one 16-bit field, as SmInputs::ready.
// Stamps      When a register can be read: cycle * 2 + 1 if a memory access (not a short operation)
//             writes it. The largest stamp of several tells when, and what is waited for. 32 bits
//             halve the cache footprint of the scoreboard; runs are limited to kMaxRunCycles.
#pragma once

#include <cstdint>

#include "base/ids.h"

namespace smk {

using LaneMask = std::uint64_t;
using Stamp = std::uint32_t;

inline constexpr unsigned kLanes = kMaxWarps;
inline constexpr unsigned kLanesPerScheduler = kMachineWarpsPerScheduler;
inline constexpr Cycle kMaxRunCycles = 2'000'000'000;

// Results not scheduled yet: a short operation behind memory accesses, and a memory access.
inline constexpr Stamp kUnknownShort = 0xfffffffe;
inline constexpr Stamp kUnknownMemory = 0xffffffff;

constexpr LaneMask LaneBit(unsigned lane) { return LaneMask{1} << lane; }
constexpr LaneMask SchedulerField(unsigned scheduler) {
  return LaneMask{0xffff} << (scheduler * kLanesPerScheduler);
}
// Sets of schedulers as masks: the last lane of each.
inline constexpr LaneMask kLastLanes = 0x8000800080008000;
// From four bits: a multiplication moves them to 15, 31, 47 and 63.
constexpr LaneMask LastLanesOf(unsigned schedulers) {
  return (schedulers * LaneMask{0x1000200040008000}) & kLastLanes;
}
static_assert(LastLanesOf(15) == kLastLanes);  // an overflow of signed numbers would not compile
// Of the schedulers that have a lane in the mask.
constexpr LaneMask LastLanesIn(LaneMask mask) {
  return (((mask & ~kLastLanes) + ~kLastLanes) | mask) & kLastLanes;  // a sum stays in its field
}
// All lanes of these schedulers.
constexpr LaneMask FieldsOf(LaneMask last_lanes) { return (last_lanes << 1) - (last_lanes >> 15); }
constexpr unsigned CountOf(LaneMask last_lanes) {
  return static_cast<unsigned>(((last_lanes >> 15) * 0x0001000100010001) >> 48);
}
constexpr unsigned LowestLane(LaneMask mask) {
  return static_cast<unsigned>(__builtin_ctzll(mask));
}

}  // namespace smk
