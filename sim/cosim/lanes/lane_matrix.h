// SPDX-License-Identifier: Apache-2.0
// Between words that belong to an instance and words in which every instance has one bit.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace smk {

// Four matrices of 16 x 16 bits, side by side: row r has its 16 bits of matrix f from bit 16 x f
// on.
using LaneRows = std::array<std::uint64_t, 16>;

namespace lane_matrix {

// Two rows at a time: every x86 and ARM of 64 bits has operations on so many.
using Pair = std::uint64_t __attribute__((vector_size(16)));

// The upper halves of blocks of `upper` and the lower ones of `lower` change places; `even`: the
// lower halves, which are `half` bits wide.
inline void Exchange(Pair* upper, Pair* lower, unsigned half, std::uint64_t even) {
  const Pair change = ((*upper >> half) ^ *lower) & even;
  *upper ^= change << half;
  *lower ^= change;
}

}  // namespace lane_matrix

// Bit c of row r and bit r of row c change places, in all four matrices: in four steps, each of
// which exchanges parts of blocks of half the size.
inline void Transpose(LaneRows* rows) {
  using lane_matrix::Exchange;
  lane_matrix::Pair pairs[8];
  std::memcpy(pairs, rows->data(), sizeof(pairs));
  for (unsigned i = 0; i < 4; ++i) Exchange(&pairs[i], &pairs[i + 4], 8, 0x00ff'00ff'00ff'00ff);
  for (unsigned i = 0; i < 8; i += i % 4 == 0 ? 1 : 3) {
    Exchange(&pairs[i], &pairs[i + 2], 4, 0x0f0f'0f0f'0f0f'0f0f);
  }
  for (unsigned i = 0; i < 8; i += 2) {
    Exchange(&pairs[i], &pairs[i + 1], 2, 0x3333'3333'3333'3333);
    // The last step is between the rows of a pair.
    lane_matrix::Pair even = __builtin_shufflevector(pairs[i], pairs[i + 1], 0, 2);
    lane_matrix::Pair odd = __builtin_shufflevector(pairs[i], pairs[i + 1], 1, 3);
    Exchange(&even, &odd, 1, 0x5555'5555'5555'5555);
    pairs[i] = __builtin_shufflevector(even, odd, 0, 2);
    pairs[i + 1] = __builtin_shufflevector(even, odd, 1, 3);
  }
  std::memcpy(rows->data(), pairs, sizeof(pairs));
}

}  // namespace smk
