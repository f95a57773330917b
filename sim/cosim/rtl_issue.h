// SPDX-License-Identifier: Apache-2.0
// What issues on one SM, verilated: its warp schedulers and its profile counters.
//
// Purpose     smk_quota_scheduler (behind input registers) and smk_sm_profile, each verilated once,
//             wired as smk_sm_control wires them. See RtlSm.
// Interface   A cycle is All(), with what the tables say, or Ready(), where nothing else happens
//             than that warps are ready; then Quotas() and grant_kernels() are those of the cycle.
//             Edge() and Tell() follow All(), after the tables' edge.
// Idle        Ready() evaluates schedulers with a ready warp, and the counters when one granted.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "control/message_fields.h"
#include "cosim/pack.h"
#include "cosim/verilated_unit.h"

namespace smk {

// See the head of this file.
template <typename Rtl>
class RtlIssue {
 public:
  using Package = typename Rtl::Package;
  using Tables = typename Rtl::Tables;
  using Scheduler = typename Rtl::Scheduler;
  using Profile = typename Rtl::Profile;

  // Nothing: an SM is evaluated when it is stepped.
  struct Shared {
    static constexpr bool kPrepares = false;
    explicit Shared(const PolicyConfig& /*policy*/) {}
  };

  RtlIssue(VerilatedContext* context, const std::string& scope, unsigned /*sm*/,
           const PolicyConfig& policy, Shared* /*shared*/)
      : profile_(context, scope + " u_profile") {
    schedulers_.reserve(Package::NumSchedulers);
    for (unsigned s = 0; s < Package::NumSchedulers; ++s) {
      schedulers_.emplace_back(context, scope + " gen_scheduler[" + std::to_string(s) + "]");
      schedulers_[s]->policy_i = static_cast<CData>(policy.warp_policy);
      schedulers_[s]->epoch_end_i = static_cast<CData>(policy.epoch_end);
      schedulers_[s].Reset();
    }
    profile_.Reset();
  }

  // Every scheduler, with what the tables say in this cycle.
  void All(const SmInputs& in, const Tables& tables, bool tick, SmOutputs* out);
  // Only schedulers with a ready warp, in a cycle in which nothing else happens.
  void Ready(const SmInputs& in, bool gated, SmOutputs* out);
  // While quotas are in force.
  void Quotas(SmOutputs* out) const {
    out->quota_left = quota_left_;
    out->with_quota = with_quota_;
  }
  void Edge() { profile_.LateEdge(); }
  // The tables are read in the cycle itself.
  void Tell(const Tables& /*tables*/) {}

  const Profile& profile() const { return *profile_.operator->(); }
  // By scheduler; what counts are those that granted.
  const auto& grant_kernels() const { return profile_->grant_kernel_i; }

  template <typename Visitor>
  void VisitUnits(Visitor visit) {
    for (auto& scheduler : schedulers_) visit(&scheduler);
    visit(&profile_);
  }

 private:
  void ReadQuotas(unsigned s);
  void Cycle(unsigned s, bool gated, SmOutputs* out) {
    schedulers_[s].Cycle();
    const Scheduler& scheduler = *schedulers_[s].operator->();
    if (scheduler.grant_valid_o != 0) {
      out->grant_valid |= static_cast<std::uint8_t>(1u << s);
      out->grant_warp[s] = scheduler.grant_warp_o;
      CopyAt<GrantKernels<Package>>(s, scheduler.grant_kernel_o, &profile_->grant_kernel_i);
    }
    if (gated) ReadQuotas(s);
  }

  std::vector<VerilatedUnit<Scheduler>> schedulers_;
  VerilatedUnit<Profile> profile_;
  bool calm_ = true;  // the schedulers' other inputs are those of a quiet cycle
  // While quotas are in force: after the last cycle of each scheduler.
  std::array<std::uint16_t, kMaxKernels> quota_left_{};
  std::uint32_t with_quota_ = 0;
};

// While they are in force: what is left on a scheduler after this cycle.
template <typename Rtl>
void RtlIssue<Rtl>::ReadQuotas(unsigned s) {
  const Scheduler& q = *schedulers_[s].operator->();
  const std::uint32_t all = (1u << kMaxKernels) - 1;
  with_quota_ = (with_quota_ & ~(all << s * kMaxKernels)) | std::uint32_t{q.some_left_o}
                                                                << s * kMaxKernels;
  if (s != 0) return;
  Unpack<QuotaVec<Package>>(q.reload_o != 0 ? q.quota_i : q.left_o, &quota_left_);
  if (q.reload_o == 0 && q.grant_valid_o != 0) --quota_left_[q.grant_kernel_o];
}

template <typename Rtl>
void RtlIssue<Rtl>::All(const SmInputs& in, const Tables& tables, bool tick, SmOutputs* out) {
  using Warps = SchedulerWarps<Package>;
  for (unsigned s = 0; s < Package::NumSchedulers; ++s) {
    Scheduler& q = *schedulers_[s].operator->();
    Pack<typename Warps::Element>(in.ready[s], &q.ready_i);
    Pack<typename Warps::Element>(BitsAt<Warps>(s, tables.stop_warps_o), &q.stop_i);
    Pack<typename Warps::Element>(BitsAt<Warps>(s, tables.leave_warps_o), &q.leave_i);
    q.start_valid_i = (tables.start_valid_o >> s & 1) != 0;
    q.start_warp_i = tables.start_warp_o;
    q.start_kernel_i = tables.start_kernel_o;
    q.gated_i = tables.gated_o;
    q.quota_i = tables.quota_o;
    q.load_i = tables.load_o;
    q.tick_i = tick;
    Cycle(s, tables.gated_o != 0, out);
  }
  calm_ = false;
  profile_->grant_valid_i = out->grant_valid;
  profile_->tick_i = tick;
  profile_.CycleOrSettle();
}

template <typename Rtl>
void RtlIssue<Rtl>::Ready(const SmInputs& in, bool gated, SmOutputs* out) {
  if (!calm_) {
    for (auto& scheduler : schedulers_) {
      scheduler->leave_i = 0;
      scheduler->start_valid_i = 0;
      scheduler->load_i = 0;
      scheduler->tick_i = 0;
    }
    calm_ = true;
  }
  for (unsigned s = 0; s < Package::NumSchedulers; ++s) {
    if (in.ready[s] == 0) continue;
    Pack<Bits<Package::WarpsPerScheduler>>(in.ready[s], &schedulers_[s]->ready_i);
    Cycle(s, gated, out);
  }
  if (out->grant_valid == 0) return;
  profile_->grant_valid_i = out->grant_valid;
  profile_.Cycle();
}

}  // namespace smk
