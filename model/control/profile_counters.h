// SPDX-License-Identifier: Apache-2.0
// Reference of rtl/sm/smk_profile_counters.sv: instructions issued per kernel in a window.
//
// Purpose     Counts granted warp instructions per kernel, over all schedulers of the SM, from tick
//             to tick, and reports the finished window.
// Paper       [SMK] Sec. 5.4 (WIPC of the dedicated SMs), [Warped-Slicer] Sec. IV (profiling
//             windows).
// Interface   grants of this cycle; report: pulse after a tick.
// Latency     Report one cycle after the tick.
// Throughput  One grant per scheduler and cycle.
// Reset       Zero.
// Doc         docs/modules/profile_counters.md
// Counters saturate; they never wrap.
#pragma once

#include "control/messages.h"

namespace smk {

class ProfileCounters {
 public:
  struct Inputs {
    std::uint8_t grant_valid = 0;  // bit per scheduler
    std::array<std::uint8_t, kMaxSchedulers> grant_kernel{};
    bool tick = false;
  };
  struct State {
    std::array<std::uint16_t, kMaxKernels> issued{};
    bool report_valid = false;
    std::array<std::uint16_t, kMaxKernels> report{};
  };

  void Tick(const Inputs& in) {
    state_.report_valid = in.tick;
    if (in.tick) {
      state_.report = state_.issued;
      state_.issued.fill(0);
    }
    for (unsigned s = 0; s < kMaxSchedulers; ++s) {
      if (in.grant_valid >> s & 1) Count(in.grant_kernel[s]);
    }
  }
  // The same as Tick for one grant in a cycle without a tick.
  void Count(unsigned kernel) {
    std::uint16_t& n = state_.issued[kernel];
    n = static_cast<std::uint16_t>(n + (n != 0xffff));
  }
  const State& state() const { return state_; }

 private:
  State state_;
};

}  // namespace smk
