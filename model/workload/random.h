// SPDX-License-Identifier: Apache-2.0
// Random draws without state: each is a hash of who draws, where in the program, and the loop
// counters there. A warp that is preempted and restored, or executed again, draws the same values.
#pragma once

#include <cstdint>

#include "workload/program.h"

namespace smk {

// Makes every output bit depend on every input bit (the finalizer of SplitMix64).
constexpr std::uint64_t ScrambleBits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// `site` tells apart the places of one program that draw.
constexpr std::uint64_t DrawBits(std::uint64_t key, std::uint32_t site, const WarpCursor& cursor) {
  const std::uint64_t outer = cursor.trip[0] | std::uint64_t{cursor.trip[1]} << 16 |
                              std::uint64_t{cursor.trip[2]} << 32 |
                              std::uint64_t{cursor.trip[3]} << 48;
  const std::uint64_t inner =
      cursor.trip[4] | std::uint64_t{cursor.trip[5]} << 16 | std::uint64_t{site} << 32;
  return ScrambleBits((ScrambleBits(key ^ outer * 0x9e3779b97f4a7c15) ^ inner) +
                      0xd1342543de82ef95);
}

// Integer 0..count-1, from 32 of the bits.
constexpr std::uint32_t DrawBelow(std::uint32_t bits, std::uint32_t count) {
  return static_cast<std::uint32_t>(std::uint64_t{bits} * count >> 32);
}

// Probabilities are compared as multiples of 2^-32, so that no floating-point is drawn.
inline constexpr std::uint64_t kProbabilityOne = std::uint64_t{1} << 32;

constexpr std::uint64_t ProbabilityBits(double p) {
  return static_cast<std::uint64_t>(p * static_cast<double>(kProbabilityOne) + 0.5);
}

}  // namespace smk
