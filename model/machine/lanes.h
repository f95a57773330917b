// SPDX-License-Identifier: Apache-2.0
// How the SM model numbers warps, time stamps and memory accesses: shared by its parts.
//
// Lanes       A warp slot is handled as a bit of a 64-bit mask, and a scheduler as a field of it:
//             see LaneLayout.
// Stamps      When a register can be read: cycle * 2 + 1 if a memory access (not a short operation)
//             writes it. The largest stamp of several tells when, and what is waited for. 32 bits
//             halve the cache footprint of the scoreboard; runs are limited to kMaxRunCycles.
#pragma once

#include <cstdint>

#include "base/lane_layout.h"

namespace smk {

using Stamp = std::uint32_t;

inline constexpr Cycle kMaxRunCycles = 2'000'000'000;

// Results not scheduled yet: a short operation behind memory accesses, and a memory access.
inline constexpr Stamp kUnknownShort = 0xfffffffe;
inline constexpr Stamp kUnknownMemory = 0xffffffff;

}  // namespace smk
