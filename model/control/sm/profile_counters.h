// SPDX-License-Identifier: Apache-2.0
// Reference of smk_profile_counters: instructions issued per kernel in a window.
//
// Purpose     Counts granted warp instructions per kernel, over all schedulers of the SM, from tick
//             to tick.
// Paper       [SMK] Sec. 5.4 (WIPC of the dedicated SMs), [Warped-Slicer] Sec. IV (windows).
// Interface   Grants of this cycle. In the cycle of a tick issued() is the window that ends.
// Latency     1 cycle. A grant in the cycle of the tick counts in the next window.
// Throughput  One grant per scheduler and cycle.
// Reset       Zero.
// Doc         docs/blocks/profile_counters.md
// A counter stays at kFull; it never wraps.
#pragma once

#include <algorithm>

#include "control/messages.h"

namespace smk {

class ProfileCounters {
 public:
  struct Inputs {
    std::uint8_t grant_valid = 0;  // bit per scheduler
    std::array<std::uint8_t, kMaxSchedulers> grant_kernel{};
    bool tick = false;
  };
  using Counts = std::array<std::uint16_t, kMaxKernels>;
  struct State {
    Counts issued{};
  };
  // All outputs are registers.
  using Outputs = State;
  // Four upper bits of ones and what the lower two can hold: the hardware looks at no more.
  static constexpr std::uint16_t kFull = 0xf003;

  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in) {
    if (in.tick) state_.issued.fill(0);
    for (unsigned s = 0; s < kMaxSchedulers; ++s) {
      if (in.grant_valid >> s & 1) Add(in.grant_kernel[s], 1);
    }
  }
  // The same as Tick for so many grants of one kernel, in cycles without a tick.
  void Add(unsigned kernel, std::uint32_t grants) {
    std::uint16_t& n = state_.issued[kernel];
    n = static_cast<std::uint16_t>(std::min<std::uint32_t>(n + grants, kFull));
  }
  const State& state() const { return state_; }
  const Counts& issued() const { return state_.issued; }

 private:
  State state_;
};

}  // namespace smk
