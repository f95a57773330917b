// SPDX-License-Identifier: Apache-2.0
// The four resources that limit thread blocks (SMK Sec. 5.2), counted in allocation units.
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.h"

namespace smk {

inline constexpr unsigned kRegisterUnit = 256;      // 32-bit registers per unit
inline constexpr unsigned kSharedMemoryUnit = 256;  // bytes per unit
inline constexpr unsigned kThreadUnit = 32;         // threads per unit: one warp slot

// Amounts of the four resources, in allocation units.
struct ResourceVector {
  std::uint16_t registers = 0;
  std::uint16_t shared_memory = 0;
  std::uint16_t threads = 0;  // warp slots
  std::uint16_t tbs = 0;

  constexpr ResourceVector& operator+=(const ResourceVector& o) {
    registers += o.registers;
    shared_memory += o.shared_memory;
    threads += o.threads;
    tbs += o.tbs;
    return *this;
  }
  constexpr ResourceVector& operator-=(const ResourceVector& o) {
    registers -= o.registers;
    shared_memory -= o.shared_memory;
    threads -= o.threads;
    tbs -= o.tbs;
    return *this;
  }
  friend constexpr bool operator==(const ResourceVector& a, const ResourceVector& b) {
    return a.registers == b.registers && a.shared_memory == b.shared_memory &&
           a.threads == b.threads && a.tbs == b.tbs;
  }
  friend constexpr bool operator!=(const ResourceVector& a, const ResourceVector& b) {
    return !(a == b);
  }
};

constexpr ResourceVector operator+(ResourceVector a, const ResourceVector& b) { return a += b; }
constexpr ResourceVector operator-(ResourceVector a, const ResourceVector& b) { return a -= b; }

// True when every component of `part` is at most that of `whole`.
constexpr bool FitsIn(const ResourceVector& part, const ResourceVector& whole) {
  return part.registers <= whole.registers && part.shared_memory <= whole.shared_memory &&
         part.threads <= whole.threads && part.tbs <= whole.tbs;
}

// One TB's need in allocation units, from what a compiler reports. Registers are allocated for
// whole warps, rounded up to a multiple of four per thread.
ResourceVector TbNeed(unsigned threads, unsigned registers_per_thread, unsigned shared_bytes);

// Most TBs of `need` that `limits` can hold at once; 0 when one does not fit.
unsigned MaxTbs(const ResourceVector& need, const ResourceVector& limits);

// 128-byte lines that hold the context of one TB: registers, shared memory, one line per warp for
// the SIMT stack and one for the barrier state (SMK Sec. 5.1).
constexpr unsigned ContextLines(const ResourceVector& need) {
  return need.registers * (kRegisterUnit * 4 / kLineBytes) +
         need.shared_memory * (kSharedMemoryUnit / kLineBytes) + need.threads + 1u;
}

// Shares are compared without division: share = amount x (LCM of the limits / limit). The sum over
// all resources of one SM taken completely is `whole`.
struct ShareWeights {
  std::uint32_t registers = 0;
  std::uint32_t shared_memory = 0;
  std::uint32_t threads = 0;
  std::uint32_t tbs = 0;
  std::uint32_t whole = 0;  // the LCM: the share of a full SM

  static ShareWeights Of(const ResourceVector& limits);
  // Largest of the four weighted amounts (rSM of SMK Sec. 5.2 for a taken vector).
  constexpr std::uint32_t Dominant(const ResourceVector& v) const {
    std::uint32_t m = v.registers * registers;
    if (v.shared_memory * shared_memory > m) m = v.shared_memory * shared_memory;
    if (v.threads * threads > m) m = v.threads * threads;
    if (v.tbs * tbs > m) m = v.tbs * tbs;
    return m;
  }
};

}  // namespace smk
