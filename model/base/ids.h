// SPDX-License-Identifier: Apache-2.0
// Ids of the things that exist many times. Each is its own type, so that arguments cannot be
// swapped unnoticed; `Index()` gives the plain number where an array is indexed.
#pragma once

#include <cstdint>

namespace smk {

using Cycle = std::uint64_t;
inline constexpr Cycle kNever = ~Cycle{0};

enum class SmId : std::uint8_t {};         // streaming multiprocessor of the GPU, from 0
enum class KernelId : std::uint8_t {};     // kernel slot of the control plane, 0..7 (not a job!)
enum class SchedulerId : std::uint8_t {};  // warp scheduler of one SM
enum class WarpId : std::uint8_t {};  // warp slot of one SM, 0..63; scheduler = slot mod schedulers
enum class TbSlot : std::uint8_t {};  // thread-block slot of one SM, 0..31
enum class TbId : std::uint32_t {};   // thread block of one launch: its linear index in the grid
enum class JobId : std::uint32_t {
};  // job of one run: a program that the host was asked to execute
inline constexpr JobId kNoJob{~std::uint32_t{0}};

template <typename Id>
constexpr unsigned Index(Id id) {
  return static_cast<unsigned>(id);
}

// Upper bounds of every configuration; arrays in the seam have these sizes.
inline constexpr unsigned kMaxSms = 132;
inline constexpr unsigned kMaxKernels = 8;
inline constexpr unsigned kMaxSchedulers = 4;
inline constexpr unsigned kMaxWarpsPerScheduler = 32;
inline constexpr unsigned kMaxWarps = 64;
inline constexpr unsigned kMaxTbSlots = 32;
// Kernel slots of a machine; a control plane alone may have up to kMaxKernels.
inline constexpr unsigned kNumKernels = 4;
using WarpMask = std::uint32_t;  // warps of one scheduler
inline constexpr unsigned kWarpThreads = 32;
inline constexpr unsigned kLineBytes = 128;  // cache line and context line
inline constexpr unsigned kSectorBytes =
    32;                           // the smallest part of a line that is ever moved alone
using SectorMask = std::uint8_t;  // of a line, bit 0 is the first
inline constexpr SectorMask kAllSectors = 15;
constexpr unsigned CountOf(SectorMask sectors) {
  constexpr std::uint64_t kCounts = 0x4332'3221'3221'2110;  // of each mask: a digit
  return static_cast<unsigned>(kCounts >> 4 * sectors & 15);
}
constexpr unsigned BytesOf(SectorMask sectors) { return CountOf(sectors) * kSectorBytes; }

}  // namespace smk
