// SPDX-License-Identifier: Apache-2.0
// Reference of smk_quota_scheduler: one warp scheduler with per-kernel quotas.
//
// Purpose     Grants one of the ready warps per cycle, greedy then oldest (or round-robin), among
//             warps whose kernel has quota left and whose TB is not stopped; counts quotas down and
//             reloads them when every runnable kernel's quota is spent.
// Paper       [SMK] Sec. 5.4; Table 4 (GTO); deviation [D6].
// Interface   ready: mask; grant: combinational in the same cycle. start, stop, leave: warp slots.
//             quota: registers, taken at the next reload.
// Latency     Grant 0 cycles; quota and age change on the next edge.
// Throughput  One grant per cycle.
// Reset       No warps; not gated.
// Doc         docs/blocks/quota_scheduler.md
// A kernel with no runnable warp here never blocks a reload. If warps were ready and none was
// granted between two ticks, the second tick reloads: kernels that wait for each other at barriers
// cannot stop [D6]. With epoch_end kTick every tick reloads [D28].
#pragma once

#include "control/messages.h"

namespace smk {

class QuotaScheduler {
 public:
  struct Inputs {
    WarpMask ready = 0;
    WarpMask stop = 0;         // warps of TBs that are stopped or not yet active
    WarpMask leave = 0;        // warps that are freed
    bool start_valid = false;  // a warp slot is occupied; it is the youngest
    std::uint8_t start_warp = 0;
    KernelId start_kernel{0};
    bool gated = false;                                             // quotas are in force
    const std::array<std::uint16_t, kMaxKernels>* quota = nullptr;  // for the next reload
    bool load = false;  // pulse: reload now (new quotas after a partition change)
    bool tick = false;
    WarpPolicy policy = WarpPolicy::kGto;
    EpochEnd epoch_end = EpochEnd::kSpent;
  };
  struct Outputs {
    bool grant_valid = false;
    std::uint8_t grant_warp = 0;
    std::uint8_t grant_kernel = 0;
  };
  // The first cache line of the host has what every grant looks at, but for ages.
  struct alignas(64) State {
    WarpMask valid = 0;
    WarpMask with_quota = 0;  // warps of the kernels in some_left
    std::uint8_t last = 0;    // warp granted last: greedy, or start of the round
    bool last_valid = false;
    bool granted_since_tick = false;
    bool blocked_since_tick = false;
    std::uint8_t some_left = 0;  // bit per kernel, decoded from left
    std::array<std::uint16_t, kMaxKernels> left{};
    std::array<std::uint8_t, kMaxWarpsPerScheduler> kernel_of{};
    alignas(64) std::array<WarpMask, kMaxWarpsPerScheduler> older{};  // who is older than each
    std::array<WarpMask, kMaxKernels> warps_of{};  // decoded from kernel_of and valid
  };

  const State& state() const { return state_; }

  Outputs Eval(const Inputs& in) const {
    Outputs out;
    const WarpMask eligible = in.ready & ~in.stop & (in.gated ? state_.with_quota : state_.valid);
    if (eligible == 0) return out;
    out.grant_valid = true;
    out.grant_warp = in.policy == WarpPolicy::kGto ? Oldest(eligible) : NextInRound(eligible);
    out.grant_kernel = state_.kernel_of[out.grant_warp];
    return out;
  }

  void Tick(const Inputs& in, const Outputs& out) {
    if (out.grant_valid) {
      state_.last = out.grant_warp;
      state_.last_valid = true;
      state_.granted_since_tick = true;
      if (in.gated && --state_.left[out.grant_kernel] == 0) Spent(out.grant_kernel);
    } else if (in.ready != 0) {
      state_.blocked_since_tick = true;
    }
    if (in.leave != 0 || in.start_valid) ChangeWarps(in);
    if (in.gated) Reload(in);
    if (in.tick) state_.granted_since_tick = state_.blocked_since_tick = false;
  }

  // What a Tick does in parts, for cycles in which all schedulers are evaluated together (see
  // JointSchedulers): it has granted, the warp being the last; it had ready warps and granted none;
  // so much is left; the kernel has spent its quota, which is the only thing that can reload then.
  void Granted(unsigned warp) {
    state_.last = static_cast<std::uint8_t>(warp);
    state_.last_valid = state_.granted_since_tick = true;
  }
  void Blocked() { state_.blocked_since_tick = true; }
  void SetLeft(const std::array<std::uint16_t, kMaxKernels>& left) { state_.left = left; }
  void EndQuota(unsigned kernel, const Inputs& in) {
    Spent(kernel);
    Reload(in);
  }

 private:
  std::uint8_t Oldest(WarpMask eligible) const {
    if (state_.last_valid && (eligible >> state_.last & 1) != 0) return state_.last;
    for (WarpMask m = eligible;; m &= m - 1) {
      const auto w = static_cast<std::uint8_t>(__builtin_ctz(m));
      if ((state_.older[w] & eligible) == 0) return w;
    }
  }
  std::uint8_t NextInRound(WarpMask eligible) const {
    const WarpMask above =
        state_.last_valid ? eligible & ~((WarpMask{2} << state_.last) - 1) : eligible;
    return static_cast<std::uint8_t>(__builtin_ctz(above != 0 ? above : eligible));
  }
  void Spent(unsigned kernel) {
    state_.some_left &= static_cast<std::uint8_t>(~(1u << kernel));
    state_.with_quota &= ~state_.warps_of[kernel];
  }
  void Reload(const Inputs& in) {
    bool all_spent = true;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if ((state_.warps_of[k] & ~in.stop) != 0 && state_.left[k] != 0) all_spent = false;
    }
    const bool stuck = state_.blocked_since_tick && !state_.granted_since_tick;
    const bool by_tick = in.tick && (stuck || in.epoch_end == EpochEnd::kTick);
    if (all_spent || by_tick || in.load) Load(*in.quota);
  }
  void Load(const std::array<std::uint16_t, kMaxKernels>& quota);
  void ChangeWarps(const Inputs& in);

  State state_;
};

}  // namespace smk
