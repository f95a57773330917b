// SPDX-License-Identifier: Apache-2.0
// Reference of smk_sample_counters: what one kernel did on one SM in a window.
//
// Purpose     Counts the warp instructions granted to the kernel that is sampled, and the stalls of
//             the schedulers that long memory latency causes [D32].
// Paper       [Warped-Slicer] Sec. IV-A: IPC and phi_mem of a window; Sec. V-I (714 um2 per SM).
// Interface   The schedulers in this cycle; a window lasts as long as `window`. What it counted
//             holds until the next one.
// Latency     2 cycles: with the second edge after a cycle it is counted.
// Throughput  One grant or stall per scheduler and cycle.
// Reset       Zero, no window.
// Doc         docs/blocks/sample_counters.md
// A counter stops below 2^16 and never wraps.
#pragma once

#include "control/messages.h"

namespace smk {

class SampleCounters {
 public:
  struct Inputs {
    std::uint8_t grant_valid = 0;  // bit per scheduler
    std::array<std::uint8_t, kMaxSchedulers> grant_kernel{};
    std::uint8_t memory = 0;  // bit per scheduler: a warp of the kernel waits for memory
    std::uint8_t kernel = 0;  // the sampled one
    bool window = false;
  };
  struct State {
    std::uint16_t issued = 0, stalled = 0;
    // Of the cycle before.
    bool window = false, begins = false;
    std::uint8_t grants = 0, stalls = 0;
  };
  // All outputs are registers.
  using Outputs = State;
  // All ones but for the lower three bits: nothing is added from here on.
  static constexpr std::uint16_t kFull = 0xfff8;

  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in) {
    State& s = state_;
    if (s.begins) s.issued = s.stalled = 0;
    if (s.issued < kFull) s.issued = static_cast<std::uint16_t>(s.issued + s.grants);
    if (s.stalled < kFull) s.stalled = static_cast<std::uint16_t>(s.stalled + s.stalls);
    s.begins = in.window && !s.window;
    s.window = in.window;
    s.grants = s.stalls = 0;
    for (unsigned i = 0; i < kMaxSchedulers && in.window; ++i) {
      const bool grant = (in.grant_valid >> i & 1) != 0;
      if (grant && in.grant_kernel[i] == in.kernel) ++s.grants;
      if (!grant && (in.memory >> i & 1) != 0) ++s.stalls;
    }
  }
  const State& state() const { return state_; }

 private:
  State state_;
};

}  // namespace smk
