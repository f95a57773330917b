// SPDX-License-Identifier: Apache-2.0
#include "control/sm/quota_scheduler.h"

namespace smk {

void QuotaScheduler::Load(const std::array<std::uint16_t, kMaxKernels>& quota) {
  state_.left = quota;
  state_.some_left = 0;
  state_.with_quota = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) {
    if (quota[k] == 0) continue;
    state_.some_left |= static_cast<std::uint8_t>(1u << k);
    state_.with_quota |= state_.warps_of[k];
  }
}

void QuotaScheduler::ChangeWarps(const Inputs& in) {
  state_.valid &= ~in.leave;
  state_.with_quota &= ~in.leave;
  for (WarpMask& mask : state_.warps_of) mask &= ~in.leave;
  if (state_.last_valid && (in.leave >> state_.last & 1) != 0) state_.last_valid = false;
  if (!in.start_valid) return;
  const WarpMask bit = WarpMask{1} << in.start_warp;
  for (WarpMask& older : state_.older) older &= ~bit;
  state_.older[in.start_warp] = state_.valid;
  state_.valid |= bit;
  state_.kernel_of[in.start_warp] = static_cast<std::uint8_t>(Index(in.start_kernel));
  state_.warps_of[Index(in.start_kernel)] |= bit;
  if ((state_.some_left >> Index(in.start_kernel) & 1) != 0) state_.with_quota |= bit;
}

}  // namespace smk
