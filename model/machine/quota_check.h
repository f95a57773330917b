// SPDX-License-Identifier: Apache-2.0
// Check of a run, always on: warp-instruction quotas are conserved.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "control/control_plane.h"
#include "machine/run_checks.h"

namespace smk {

// Watches scheduler 0 of one SM, whose quotas the control logic shows: a grant costs its kernel
// exactly one instruction, nothing else changes what is left but a reload, and no kernel is granted
// an instruction that it does not have. Looks only at SmOutputs, like a checker bound to the RTL.
class alignas(64) QuotaCheck {
 public:
  using Quotas = std::array<std::uint16_t, kNumKernels>;

  // After every step of the SM's control logic. In a cycle in which the SM may see a tick
  // (`tick`), quotas may be replaced by smaller ones. `quotas` gives those in force for a reload:
  // with no runnable warp on the scheduler it reloads, possibly to less than was left.
  template <typename Reload>
  void Observe(const SmOutputs& out, unsigned schedulers, bool tick, unsigned sm, Cycle now,
               RunChecks* checks, Reload quotas) {
    const bool gated = gated_;
    gated_ = Bits(out.quota_left) != 0;
    if (gated || gated_) Check(out, gated && gated_, tick, sm, now, checks, quotas);
    if (out.warp_start.valid && Index(out.warp_start.warp) % schedulers == 0) {
      kernel_of_[Index(out.warp_start.warp) / schedulers] =
          static_cast<std::uint8_t>(Index(out.warp_start.kernel));
    }
  }

  // Quotas are in force.
  bool gated() const { return gated_; }
  // They are, in an ordinary cycle in which they are not shown: a grant of scheduler 0, if there is
  // one. What is left then is compared with what is shown next.
  void Grant(LaneMask of_scheduler_0, unsigned sm, Cycle now, RunChecks* checks) {
    checks->CountHeld(2);
    if (of_scheduler_0 == 0) return;
    std::uint16_t& left = left_[kernel_of_[LowestLane(of_scheduler_0)]];
    if (__builtin_expect(left == 0, 0)) {
      RunChecks::Fail(now, sm, WithoutQuota(kernel_of_[LowestLane(of_scheduler_0)]));
    }
    --left;
  }
  // At the end.
  void Settle(const SmOutputs& shown, unsigned sm, Cycle now) const {
    if (gated_ && Bits(shown.quota_left) != Bits(left_)) {
      RunChecks::Fail(now, sm, "quota is lost or spent twice on scheduler 0");
    }
  }

  // What is left, as of the last step.
  const Quotas& left() const { return left_; }

 private:
  // `both`: quotas are in force, and were. A new plan lifts them already in the cycle in which it
  // is taken.
  template <typename Reload>
  void Check(const SmOutputs& out, bool both, bool tick, unsigned sm, Cycle now, RunChecks* checks,
             Reload quotas) {
    const Quotas before = left_;
    std::copy_n(out.quota_left.begin(), kNumKernels, left_.begin());
    if (!both) return;
    const bool granted = (out.grant_valid & 1) != 0;
    const unsigned kernel = granted ? kernel_of_[out.grant_warp[0]] : 0;
    checks->Require(!granted || before[kernel] != 0, now, sm, [&] { return WithoutQuota(kernel); });
    if (tick) return;
    const std::uint64_t spent = Bits(before) - (granted ? kOneOf[kernel] : 0);
    checks->Require(Bits(left_) == spent || Grew(before) || Bits(left_) == Bits(quotas()), now, sm,
                    [] { return std::string("quota is lost or spent twice on scheduler 0"); });
  }
  static std::string WithoutQuota(unsigned kernel) {
    return "an instruction of kernel " + std::to_string(kernel) + " without quota is granted";
  }
  // Those of the machine's kernel slots, for comparing all at once.
  template <typename AnyQuotas>
  static std::uint64_t Bits(const AnyQuotas& quotas) {
    std::uint64_t bits = 0;
    static_assert(sizeof(bits) == sizeof(Quotas) && sizeof(bits) <= sizeof(quotas));
    std::memcpy(&bits, quotas.data(), sizeof(bits));
    return bits;
  }
  // An instruction of each kernel, among such bits.
  static std::array<std::uint64_t, kNumKernels> Ones() {
    std::array<std::uint64_t, kNumKernels> ones{};
    for (unsigned k = 0; k < kNumKernels; ++k) {
      Quotas one{};
      one[k] = 1;
      ones[k] = Bits(one);
    }
    return ones;
  }
  bool Grew(const Quotas& before) const {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (left_[k] > before[k]) return true;
    }
    return false;
  }

  static inline const std::array<std::uint64_t, kNumKernels> kOneOf = Ones();
  Quotas left_{};
  bool gated_ = false;
  std::array<std::uint8_t, kMaxWarpsPerScheduler> kernel_of_{};
};

}  // namespace smk
