// SPDX-License-Identifier: Apache-2.0
// How a kernel is cut into slices ([Kernelet] Sec. 4.1).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace smk {

// Consecutive TBs of a kernel.
struct Slice {
  std::uint32_t first_tb = 0;
  std::uint32_t tb_count = 0;
};

// A kernel of so many TBs in slices of `size`; the last has what is left.
std::vector<Slice> SlicePlan(std::uint32_t tb_count, std::uint32_t size);

// Part of a kernel's time that slices may cost: the paper's p, 2 %.
inline constexpr double kSliceOverhead = 0.02;

// Cycles from the first to the last of a kernel's TBs when it runs alone in slices of `size`.
using SlicedCycles = std::function<double(std::uint32_t size)>;

// The size of the smallest slice with which a kernel takes at most (1 + overhead) times as long as
// in one piece. Sizes are multiples of the SMs; each is measured once, in ascending order, until
// one will do. The whole kernel when none does [D46].
std::uint32_t SmallestSlice(std::uint32_t tb_count, unsigned sms, const SlicedCycles& measure,
                            double overhead = kSliceOverhead);

}  // namespace smk
