// SPDX-License-Identifier: Apache-2.0
// Where a TB may lie in one memory of an SM: docs/blocks/tb_places.md. For tb_places, and for
// models that look for the place at once.
#pragma once

namespace smk {

// From `begin` up to, not including, `end`.
struct MemorySpan {
  unsigned begin = 0, end = 0;

  // A TB that would lie here moves behind the other. What needs nothing is at 0, in nobody's way.
  bool Meets(const MemorySpan& other) const { return other.begin < end && begin < other.end; }
};

// Where a TB of this need begins behind all others: nothing lies from `top` on.
inline unsigned BehindAll(unsigned need, unsigned top) { return need == 0 ? 0 : top; }

}  // namespace smk
