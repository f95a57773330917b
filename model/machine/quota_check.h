// SPDX-License-Identifier: Apache-2.0
// Check of a run, always on: warp-instruction quotas are conserved.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "control/control_plane.h"
#include "machine/run_checks.h"

namespace smk {

// Watches scheduler 0 of one SM, whose quotas the control logic shows: a grant costs its kernel
// exactly one instruction, nothing else changes what is left but a reload, and no kernel is granted
// an instruction that it does not have. Looks only at SmOutputs, like a checker bound to the RTL.
class QuotaCheck {
 public:
  // After every step of the SM's control logic. In a cycle in which the SM may see a tick
  // (`tick`), quotas may be replaced by smaller ones. `quotas` gives those in force for a reload:
  // with no runnable warp on the scheduler it reloads, possibly to less than was left.
  template <typename Quotas>
  void Observe(const SmOutputs& out, unsigned schedulers, bool tick, unsigned sm, Cycle now,
               RunChecks* checks, Quotas quotas) {
    const std::array<std::uint16_t, kMaxKernels> before = left_;
    const bool gated = gated_;
    left_ = out.quota_left;
    gated_ = (left_[0] | left_[1] | left_[2] | left_[3]) != 0;
    const bool granted = (out.grant_valid & 1) != 0;
    const unsigned kernel = granted ? kernel_of_[out.grant_warp[0]] : kMaxKernels;
    if (out.warp_start.valid && Index(out.warp_start.warp) % schedulers == 0) {
      kernel_of_[Index(out.warp_start.warp) / schedulers] =
          static_cast<std::uint8_t>(Index(out.warp_start.kernel));
    }
    // A new plan lifts the quotas, already in the cycle in which it is taken.
    if (!gated || !gated_) return;
    checks->Require(!granted || before[kernel] != 0, now, sm, [&] {
      return "an instruction of kernel " + std::to_string(kernel) + " without quota is granted";
    });
    if (tick) return;
    bool reload = false;
    bool conserved = true;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      reload |= left_[k] > before[k];
      conserved &= left_[k] + (k == kernel ? 1u : 0u) == before[k];
    }
    checks->Require(conserved || reload || left_ == quotas(), now, sm,
                    [] { return std::string("quota is lost or spent twice on scheduler 0"); });
  }

  // What is left, as of the last step.
  const std::array<std::uint16_t, kMaxKernels>& left() const { return left_; }

 private:
  std::array<std::uint16_t, kMaxKernels> left_{};
  bool gated_ = false;
  std::array<std::uint8_t, kMaxWarpsPerScheduler> kernel_of_{};
};

}  // namespace smk
