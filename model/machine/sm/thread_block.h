// SPDX-License-Identifier: Apache-2.0
// State of one thread-block slot of an SM.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "control/control_plane.h"
#include "machine/lanes.h"
#include "machine/merged_launch.h"

namespace smk {

// A TB from its first warp start until it finishes or leaves. The barrier of the TB is here: the
// warps that have arrived wait for those that have neither arrived nor exited.
struct alignas(64) ThreadBlock {
  // What every issue looks at, and exits and barriers.
  // When the last instruction of known completion is complete; see Sm::Known().
  Cycle quiet_at = 0;
  LaneMask lanes = 0;
  LaneMask at_barrier = 0;
  Cycle finish_at = kNever;
  std::uint32_t generation = 0;  // counts the TBs of the slot
  std::uint32_t unresolved = 0;  // memory instructions whose completion is not known yet
  std::uint8_t warps = 0;
  std::uint8_t placed = 0;   // warps that have their slot
  std::uint8_t exited = 0;   // warps that are through
  std::uint8_t arrived = 0;  // warps at the barrier
  bool valid = false;
  bool active = false;   // warps may issue (except while stopped)
  bool restore = false;  // continues from a saved context
  bool cut = false;      // its warps were ended, see Sm::EndKernel()
  KernelId kernel{0};
  KernelId charged{0};  // whose statistics its cycles are in: `kernel`, but for merged launches
  TbId tb{0};
  MergedLaunch* merged = nullptr;          // a group that takes TBs from here, see sm_merged.cc
  std::optional<MergedLaunch::Item> item;  // that it executes
  std::optional<TbBase> base;              // on an SM with partitions
  Cycle wait = 0;                          // from its activation until it begins, see TbWaves
  Cycle start = 0;                         // or when it began to be charged to `charged`
  Cycle stopped_at = kNever;
  std::array<std::uint8_t, kMaxWarps> lane_of{};  // by warp in the TB

  bool AllExited() const { return exited == warps; }
  bool Quiet(Cycle now) const { return unresolved == 0 && quiet_at <= now; }
  bool BarrierComplete() const { return arrived != 0 && arrived + exited == warps; }
};

}  // namespace smk
