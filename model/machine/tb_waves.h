// SPDX-License-Identifier: Apache-2.0
// When the TBs of a launch begin, where they begin in waves.
#pragma once

#include <algorithm>
#include <array>

#include "control/control_plane.h"

namespace smk {

// Purpose     The driver dispatches one TB per cycle, a simulator that gives each SM a TB in every
//             cycle starts one on all of them at once. Here the TBs of a launch begin as there: in
//             waves of one per SM, each wave in the cycle in which its last TB is there.
// Not delayed TBs that come later than their wave, as all do but the first on each SM's free room,
//             and TBs that are restored.
class TbWaves {
 public:
  explicit TbWaves(unsigned sms) : sms_(sms) {}

  // A launch of so many TBs is in the kernel slot.
  void BeginLaunch(KernelId kernel, std::uint32_t first_tb, std::uint32_t tb_count) {
    launches_[Index(kernel)] = {first_tb, tb_count, kNever};
  }
  // A TB of the launch takes its place on an SM. Cycles by which it has to wait.
  Cycle Wait(KernelId kernel, TbId tb, Cycle now) {
    Launch& launch = launches_[Index(kernel)];
    if (launch.began == kNever) launch.began = now;
    const std::uint64_t wave = (Index(tb) - launch.first_tb) / sms_;
    const std::uint64_t last = std::min<std::uint64_t>(launch.tb_count, (wave + 1) * sms_) - 1;
    return std::max(launch.began + last, now) - now;
  }

 private:
  struct Launch {
    std::uint32_t first_tb = 0, tb_count = 0;
    Cycle began = kNever;  // its first TB took its place
  };
  const std::uint64_t sms_;
  std::array<Launch, kNumKernels> launches_{};
};

}  // namespace smk
