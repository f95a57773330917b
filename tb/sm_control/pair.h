// SPDX-License-Identifier: Apache-2.0
// smk_sm_control beside SmControl, which is stepped in every cycle.
#pragma once

#include <functional>

#include "common/lockstep.h"
#include "control/sm/sm_control.h"
#include "cosim/rtl_package.h"

namespace smk {

// The block and its reference, with the interface of the reference. With `distort` the block is
// compared with a second reference that gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class SmControlPair {
 public:
  using Package = Pkg;
  static constexpr unsigned kSlots = Package::NumSlots;

  static ControlConfig Config() { return ConfigOf<Package>(); }

  explicit SmControlPair(const PolicyConfig& policy = {}, std::uint64_t seed = 1)
      : lockstep_("sm_control", seed),
        policy_(policy),
        model_(Config(), policy),
        broken_(Config(), policy) {
    lockstep_.dut().warp_policy_i = static_cast<CData>(policy.warp_policy);
    lockstep_.dut().epoch_end_i = static_cast<CData>(policy.epoch_end);
    Pack<ChimeraFields<Package>>(ChimeraOf(policy), &lockstep_.dut().chimera_i);
    Drive({}, {}, {});
    lockstep_.Reset();
    CompareRegisters(model_, {});
  }

  void Step(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& views,
            SmOutputs* out) {
    Drive(in, from_driver, views);
    lockstep_.Eval();
    if (apart) {
      *out = model_.Eval({&in, &from_driver, &views});
      model_.Tick({&in, &from_driver, &views});
    } else {
      model_.Step(in, from_driver, views, out);
    }
    if (distort) {
      SmInputs distorted = in;
      DriverToSm distorted_driver = from_driver;
      distort(&distorted, &distorted_driver);
      broken_.Step(distorted, distorted_driver, views, &broken_out_);
    }
    const SmOutputs& want = distort ? broken_out_ : *out;
    CompareWires(want);
    if (watch) watch(lockstep_.dut());
    if (!gate || gate(lockstep_.dut())) {
      lockstep_.ClockEdge();
    } else {
      ++gated_edges;
    }
    CompareRegisters(distort ? broken_ : model_, want);
  }

  const PolicyConfig& policy() const { return policy_; }
  const SmControl& model() const { return model_; }
  const SmControl::State& state() const { return model_.state(); }
  Lockstep<DutType>& lockstep() { return lockstep_; }
  std::function<void(SmInputs*, DriverToSm*)> distort;
  std::function<void(const DutType&)> watch;  // sees the block's wires of each cycle
  std::function<bool(const DutType&)> gate;   // whether the block's clock has an edge
  unsigned gated_edges = 0;
  bool apart = false;  // the reference is evaluated and ticked, not stepped

 private:
  using Slots = Bits<Package::NumSlots>;

  void Drive(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& views) {
    DutType& dut = lockstep_.dut();
    Pack<SchedulerWarps<Package>>(in.ready, &dut.ready_i);
    Pack<Slots>(in.tb_finished, &dut.tb_finished_i);
    Pack<Slots>(in.tb_quiet, &dut.tb_quiet_i);
    Pack<Slots>(in.tb_flushable, &dut.tb_flushable_i);
    dut.context_ready_i = in.context_ready;
    dut.context_done_i = in.context_done;
    dut.time_i = in.time;
    dut.command_valid_i = from_driver.command_valid;
    Pack<SmCommandFields<Package>>(from_driver.command, &dut.command_i);
    dut.buffer_valid_i = from_driver.buffer_valid;
    dut.buffer_i = from_driver.buffer;
    dut.buffer_none_i = from_driver.buffer_none;
    dut.event_ack_i = from_driver.event_ack;
    dut.tick_i = from_driver.tick;
    dut.sample_begin_i = from_driver.sample_begin;
    dut.sample_end_i = from_driver.sample_end;
    dut.sample_kernel_i = static_cast<CData>(Index(from_driver.sample_kernel));
    dut.sample_stalls_i = from_driver.sample_stalls;
    Pack<KernelSchedulers<Package>>(in.memory, &dut.memory_i);
    Pack<ContextViews<Package>>(views, &dut.views_i);
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      PackAt<NeedVec<Package>>(k, views[k].need, &dut.needs_i);
    }
  }

  // Outputs of the cycle that its inputs make.
  void CompareWires(const SmOutputs& want) {
    const DutType& dut = lockstep_.dut();
    lockstep_.Expect("grant_valid", dut.grant_valid_o, want.grant_valid);
    for (unsigned s = 0; s < Package::NumSchedulers; ++s) {
      if ((want.grant_valid >> s & 1) == 0) continue;
      ExpectAt<GrantWarps<Package>>(&lockstep_, "grant_warp", s, dut.grant_warp_o,
                                    want.grant_warp[s]);
    }
    ExpectMessage<WarpStartFields<Package>>(&lockstep_, "warp_start", dut.warp_start_o,
                                            want.warp_start);
    lockstep_.Expect("tb_activate", dut.tb_activate_o, want.tb_activate);
    lockstep_.Expect("tb_stop", dut.tb_stop_o, want.tb_stop);
    ExpectMessage<ContextRequestFields<Package>>(&lockstep_, "context", dut.context_o,
                                                 want.context);
    lockstep_.Expect("samples", dut.samples_o, want.samples);
    lockstep_.Expect("place_waits", dut.place_waits_o, want.place_waits);
    lockstep_.Expect("release_valid", dut.release_valid_o, want.release_valid);
    CompareQuotas(want);
    if (!want.release_valid) return;
    lockstep_.Expect("release_slot", dut.release_slot_o, Index(want.release_slot));
    lockstep_.Expect("release_kind", dut.release_kind_o, static_cast<unsigned>(want.release_kind));
  }

  // What is left after the cycle.
  void CompareQuotas(const SmOutputs& want) {
    const DutType& dut = lockstep_.dut();
    if (!want.gated) return;
    std::array<std::uint8_t, kMaxKernels> some{};
    Unpack<KernelSchedulers<Package>>(dut.with_quota_o, &some);
    for (unsigned bit = 0; bit < kMaxSchedulers * kMaxKernels; ++bit) {
      const unsigned left = some[bit % kMaxKernels] >> bit / kMaxKernels & 1;
      lockstep_.Expect("with_quota", left, want.with_quota >> bit & 1);
    }
    std::array<std::uint16_t, kMaxKernels> left{};
    Unpack<QuotaVec<Package>>(dut.reload_o != 0 ? dut.quota_o : dut.quota_left_o, &left);
    if (dut.reload_o == 0 && (want.grant_valid & 1) != 0) --left[dut.grant_kernel_o];
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      lockstep_.Expect("quota left", left[k], want.quota_left[k]);
    }
  }

  // Outputs that come from registers: looked at after the edge.
  void CompareRegisters(const SmControl& want, const SmOutputs& out) {
    const SmControl::State& s = want.state();
    const SmToDriver& to_driver = s.to_driver;
    const DutType& dut = lockstep_.dut();
    lockstep_.Expect("command_credit", dut.command_credit_o, to_driver.command_credit);
    lockstep_.Expect("command_waits", dut.command_waits_o, to_driver.command_waits);
    ExpectMessage<SmEventFields<Package>>(&lockstep_, "event", dut.event_o, to_driver.event);
    lockstep_.Expect("buffer_request", dut.buffer_request_o, to_driver.buffer_request);
    lockstep_.Expect("buffer_withdraw", dut.buffer_withdraw_o, to_driver.buffer_withdraw);
    if (to_driver.buffer_request) {
      lockstep_.Expect("buffer_kernel", dut.buffer_kernel_o, Index(to_driver.buffer_kernel));
    }
    lockstep_.Expect("profile_valid", dut.profile_valid_o, to_driver.profile_valid);
    lockstep_.Expect("sample_valid", dut.sample_valid_o, to_driver.sample_valid);
    if (to_driver.sample_valid) {
      lockstep_.Expect("sample_issued", dut.sample_issued_o, to_driver.sample_issued);
      lockstep_.Expect("sample_stalled", dut.sample_stalled_o, to_driver.sample_stalled);
    }
    lockstep_.Expect("gated", dut.gated_o, s.quotas.gated);
    lockstep_.Expect("awake", dut.awake_o, want.awake());
    ExpectMessage<QuotaVec<Package>>(&lockstep_, "quota_left", dut.quota_left_o, out.quota_left);
    ExpectMessage<QuotaVec<Package>>(&lockstep_, "quota", dut.quota_o, s.quotas.quota);
    if (!to_driver.profile_valid) return;
    ExpectMessage<IssuedVec<Package>>(&lockstep_, "profile_issued", dut.profile_issued_o,
                                      to_driver.profile_issued);
  }

  Lockstep<DutType> lockstep_;
  PolicyConfig policy_;
  SmControl model_;
  SmControl broken_;
  SmOutputs broken_out_;
};

}  // namespace smk
