// SPDX-License-Identifier: Apache-2.0
// Reference of smk_drf_tracker: who holds what, and the dominant shares.
//
// Purpose     Counts resident TBs per kernel and SM and the taken vector per SM, keeps rK of each
//             kernel exact by adding and subtracting the kernel's share per TB, and answers the
//             questions of a dispatch decision.
// Paper       [SMK] Sec. 5.2 (rK, rSM), 5.3.1 (rSM without the candidate kernel), 5.5 (running SMs
//             in rK); deviation [D2].
// Interface   dispatch, reserve, cancel, preempt: pulses of smk_tb_dispatch. event: pulse per SM.
//             Questions: the RTL answers them right when nothing has come for four cycles.
// Latency     Updates are visible on the next edge, in ShownShare three cycles later as in the RTL.
// Throughput  One event per SM and one decision per cycle.
// Reset       Nothing taken.
// Doc         docs/blocks/drf_tracker.md
// A reserved TB and a TB chosen as victim change rK when decided, not when they move, so that
// decisions on several SMs in flight together do not overshoot [D2].
#pragma once

#include <optional>

#include "control/driver/kernel_table.h"

namespace smk {

class DrfTracker {
 public:
  struct Config {
    unsigned num_sms = 16;
    ResourceVector limits{};
    ShareWeights weights{};
    bool count_running_sms = false;  // rK covers the number of running SMs (SMK Sec. 5.5)
  };
  struct Inputs {
    KernelMask kernel_done = 0;  // clears the kernel's rK
    bool dispatch_valid = false;
    bool dispatch_reserved = false;  // its share was added when it was reserved
    KernelId dispatch_kernel{0};
    SmId dispatch_sm{0};
    bool reserve_valid = false;  // one TB of the kernel will follow
    bool cancel_valid = false;   // a reserved TB will not follow
    KernelId reserve_kernel{0};
    bool preempt_valid = false;  // count TBs of the kernel will leave
    KernelId preempt_kernel{0};
    std::uint8_t preempt_count = 0;
    std::array<SmEvent, kMaxSms> event{};
    // Whom a kSettled shortfall belongs to; only SMs in shortfall_mask have one that still counts.
    std::array<KernelId, kMaxSms> shortfall_kernel{};
    SmMask shortfall_mask{};
    SmMask event_mask{};                               // SMs whose event is valid
    const KernelTable::State* kernel_table = nullptr;  // registers of kernel_table
  };
  struct State {
    std::array<std::array<std::uint8_t, kMaxSms>, kMaxKernels> resident{};
    std::array<ResourceVector, kMaxSms> taken{};
    std::array<std::int32_t, kMaxKernels> share{};  // rK x num_sms, weighted units
    // The same of the last three cycles, and cycles until nothing moves any more.
    std::array<std::uint32_t, kMaxKernels> shown{}, shown_next{}, shown_last{};
    unsigned settling = 0;
    // Who came last: of kernels that have nothing, the one behind it is first.
    unsigned last = kMaxKernels - 1;
  };
  // All outputs are registers; questions of a decision are asked by the methods below.
  using Outputs = State;

  explicit DrfTracker(const Config& config) : config_(config) {}
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }
  // An update is on its way to the shares and their order.
  bool busy() const { return state_.settling != 0; }
  // rK as the RTL shows it.
  std::uint32_t ShownShare(unsigned kernel) const { return state_.shown[kernel]; }

  // rK as used in decisions, in units of 1 / (num_sms x whole).
  std::uint32_t KernelShare(unsigned kernel) const {
    return Share(kernel, state_.share[kernel], 0, 0);
  }
  // rK with `tbs` more (or fewer, when negative) TBs of the kernel on the SM.
  std::uint32_t KernelShareWith(unsigned kernel, unsigned sm, int tbs,
                                const KernelTable::State& kernels) const {
    const auto per_tb = static_cast<std::int32_t>(kernels.slot[kernel].share);
    return Share(kernel, state_.share[kernel] + tbs * per_tb, sm, tbs);
  }
  // rSM of the SM, without the usage of `exclude` when given.
  std::uint32_t SmShare(unsigned sm, std::optional<unsigned> exclude,
                        const KernelTable::State& kernels) const;
  // Ties go to the lowest id, but kernels that have nothing take turns [D23]. The masks must not be
  // empty.
  unsigned LowestKernel(KernelMask mask) const;
  unsigned LowestSm(const SmMask& mask, const KernelTable::State& kernels) const;
  unsigned HighestSm(const SmMask& mask, unsigned exclude, const KernelTable::State& kernels) const;
  // Kernel with the highest rK among those of `mask` resident on the SM; nullopt when none is.
  std::optional<unsigned> HighestKernelOn(unsigned sm, KernelMask mask) const;
  // The range of rK over `active` as it is, against what it will be when `victim_tbs` TBs of the
  // victim have left the SM and one of the kernel has come.
  bool RangeShrinks(unsigned kernel, unsigned victim, unsigned victim_tbs, unsigned sm,
                    KernelMask active, const KernelTable::State& kernels) const;
  bool Fits(unsigned sm, const ResourceVector& need) const {
    return FitsIn(state_.taken[sm] + need, config_.limits);
  }
  ResourceVector Free(unsigned sm) const { return config_.limits - state_.taken[sm]; }
  KernelMask ResidentOn(unsigned sm) const;
  // SMs with TBs of the kernel.
  SmMask RunsOn(unsigned kernel) const {
    return SmsNotZero(state_.resident[kernel], config_.num_sms);
  }

 private:
  std::uint32_t Share(unsigned kernel, std::int32_t share, unsigned sm, int tbs) const;
  void ApplyEvent(unsigned sm, const Inputs& in, const KernelTable::State& kernels);
  void ShowShares(bool changes);

  Config config_;
  State state_;
};

}  // namespace smk
