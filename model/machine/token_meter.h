// SPDX-License-Identifier: Apache-2.0
// Counts who had the GPU under DispatchMode::kToken, from what the control plane shows in each
// cycle.
//
// Units       Core cycles, of the whole run.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "machine/run.h"

namespace smk {

class TokenMeter {
 public:
  // What is shown after the cycle.
  void Count(const TokenView& token);
  // By kernel slot.
  std::vector<TokenStats> Take() const { return {stats_.begin(), stats_.end()}; }

 private:
  std::array<TokenStats, kNumKernels> stats_{};
  // Who had the GPU in the last cycle, and for how long since its token had expired.
  std::uint8_t user_ = 0;
  Cycle over_ = 0;
};

}  // namespace smk
