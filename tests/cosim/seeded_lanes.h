// SPDX-License-Identifier: Apache-2.0
// Compiled gates of configuration small with the faults of tb/*/block.toml, of which every lane has
// the one that its input fault_i chooses. See seed_lanes.py.
#pragma once

#include <seeded_profile.h>
#include <seeded_scheduler.h>

#include <string>

#include "cosim/seeded_plane.h"

namespace smk {

struct LaneFault {
  const char* name;
  std::string block;
  unsigned number;
};

inline const LaneFault kLaneFaults[] = {
#include <lane_faults.inc>
};

// All lanes have the fault that is chosen when they are made; 0: none.
struct FaultyScheduler : lanes::SeededScheduler {
  FaultyScheduler() { Choose(chosen, &in.fault_i); }
  template <typename Port>
  static void Choose(unsigned fault, Port* port) {
    for (auto& bit : *port) {
      bit[0] = (fault & 1) != 0 ? ~Word{0} : 0;
      fault >>= 1;
    }
  }
  static inline unsigned chosen = 0;
};
struct FaultyProfile : lanes::SeededProfile {
  FaultyProfile() { FaultyScheduler::Choose(chosen, &in.fault_i); }
  static inline unsigned chosen = 0;
};
// With 4 SMs, so that some are shared while others are profiled.
struct LanesSeeded : RtlSeeded {
  using SchedulerLanes = FaultyScheduler;
  using ProfileLanes = FaultyProfile;
};

}  // namespace smk
