// SPDX-License-Identifier: Apache-2.0
// smk_driver beside Driver.
#pragma once

#include <functional>

#include "common/lockstep.h"
#include "control/driver/driver.h"
#include "control/sm/sm_link.h"
#include "cosim/driver_ports.h"
#include "cosim/rtl_package.h"

namespace smk {

// The block and its reference, with the interface of the reference: DriverBench drives either. With
// `distort` the block is compared with a second reference that gets other inputs: one rule
// broken. With `skip_idle` the reference is left alone in cycles in which it has nothing to do.
template <typename Dut, typename PackageType>
class DriverPair {
 public:
  using Package = PackageType;
  using Ports = DriverPorts<Package>;
  using SmRegisters = std::array<SmToDriver, kMaxSms>;
  static constexpr unsigned kSms = Package::NumSms;
  static ControlConfig Config() { return ConfigOf<Package>(); }

  DriverPair(const ControlConfig& config, const PolicyConfig& policy, std::uint64_t seed = 1)
      : lockstep_("driver", seed),
        streams_(TbDispatch::Streams(policy)),
        model_(config, policy),
        broken_(config, policy),
        dice_(seed) {
    Ports::SetPolicy(policy, &lockstep_.dut());
    Drive({}, SmRegisters{});
    lockstep_.Reset();
    CompareRegisters(model_);
  }

  void Step(const Driver::Inputs& in, Cycle now, HostOutputs* out, std::vector<Decision>* log) {
    Drive(in.host, *in.sm);
    lockstep_.Eval();
    decisions_.clear();
    StepReference(in, now, out);
    log->insert(log->end(), decisions_.begin(), decisions_.end());
    if (distort) StepBroken(in, now);
    CompareHost(in.host.launch_valid, distort ? broken_out_ : *out);
    CompareDecision();
    lockstep_.ClockEdge();
    CompareRegisters(distort ? broken_ : model_);
  }
  // The block is compared with a reference of another policy.
  void BreakPolicy(const ControlConfig& config, const PolicyConfig& policy) {
    broken_ = Driver(config, policy);
    distort = [](HostInputs*, SmRegisters*) {};
  }

  bool awake() const { return model_.awake(); }
  const Driver& model() const { return model_; }
  const Driver::State& state() const { return model_.state(); }
  const Lockstep<Dut>& lockstep() const { return lockstep_; }
  const Dut& dut() { return lockstep_.dut(); }

  std::function<void(HostInputs*, SmRegisters*)> distort;
  bool skip_idle = false;
  std::uint64_t skipped = 0;

 private:
  void Drive(const HostInputs& host, const SmRegisters& sms) {
    Ports::DriveHost(host, &lockstep_.dut());
    for (unsigned sm = 0; sm < kSms; ++sm) {
      Ports::Hear(sm, WithNoise(sms[sm]), &lockstep_.dut());
    }
  }
  // Payloads that mean nothing are anything.
  SmToDriver WithNoise(SmToDriver sm) {
    const bool settled = sm.event.kind == EventKind::kSettled;
    if (!sm.event.valid || settled) {
      sm.event.kernel = static_cast<KernelId>(dice_.Below(kNumKernels));
      sm.event.tb = static_cast<TbId>(dice_.Bits());
      sm.event.buffer = static_cast<std::uint16_t>(dice_.Below(Package::PreemptedDepth));
      sm.event.counted = dice_.Percent(50);
    }
    if (!sm.event.valid || !settled) {
      sm.event.shortfall = static_cast<std::uint8_t>(dice_.Below(Package::LimitTbs + 1));
    }
    if (!sm.event.valid) sm.event.kind = static_cast<EventKind>(dice_.Below(5));
    if (!sm.buffer_request) sm.buffer_kernel = static_cast<KernelId>(dice_.Below(kNumKernels));
    if (!sm.sample_valid) {
      sm.sample_issued = static_cast<std::uint16_t>(dice_.Bits());
      sm.sample_stalled = static_cast<std::uint16_t>(dice_.Bits());
    }
    if (sm.profile_valid) return sm;
    for (auto& issued : sm.profile_issued) issued = static_cast<std::uint16_t>(dice_.Bits());
    return sm;
  }
  static bool Pulses(const Driver::Inputs& in) {
    bool any = in.host.launch_valid || in.host.tick;
    for (const SmToDriver& sm : *in.sm) {
      any = any || Speaks(sm);
    }
    return any;
  }
  void StepReference(const Driver::Inputs& in, Cycle now, HostOutputs* out) {
    if (!skip_idle || model_.awake() || Pulses(in)) {
      const HostOutputs wires = model_.Eval(in);
      model_.Step(in, now, out, &decisions_);
      const bool same = wires.launch_ready == out->launch_ready &&
                        wires.launch_error == out->launch_error &&
                        wires.kernel_done == out->kernel_done;
      lockstep_.Expect("Eval, as Step has it", same, true);
      return;
    }
    ++skipped;
    *out = HostOutputs{};
  }
  void StepBroken(const Driver::Inputs& in, Cycle now) {
    SmRegisters distorted = *in.sm;
    Driver::Inputs other{in.host, &distorted};
    distort(&other.host, &distorted);
    decisions_.clear();
    broken_.Step(other, now, &broken_out_, &decisions_);
  }

  void CompareHost(bool launch, const HostOutputs& want) {
    const HostOutputs got = Ports::ReadHost(lockstep_.dut());
    if (launch) lockstep_.Expect("launch_ready", got.launch_ready, want.launch_ready);
    lockstep_.Expect("launch_error", got.launch_error, want.launch_error);
    lockstep_.Expect("kernel_done", got.kernel_done, want.kernel_done);
  }
  void CompareDecision() {
    std::vector<Decision> seen;
    const Dut& dut = lockstep_.dut();
    Ports::ReadDecision(dut, 0, &seen);
    const bool decides = !seen.empty();
    if (streams_) Ports::ReadPlan(dut, dut, 0, &seen);
    lockstep_.Expect("decision.valid", seen.size(), decisions_.size());
    if (!decides || decisions_.empty()) return;
    const Decision& want = decisions_.back();
    ExpectMessage<DecisionFields<Package>>(&lockstep_, "decision", dut.decision_o, want);
    ExpectMessage<TotalShareVec<Package>>(&lockstep_, "share", dut.share_o, want.share);
  }

  // Outputs that come from registers: looked at after the edge.
  void CompareRegisters(const Driver& want) {
    const Driver::State& s = want.state();
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("awake", dut.awake_o, want.awake());
    lockstep_.Expect("tick", dut.tick_o, s.to_sm[0].tick);
    ExpectMessage<TokenFields<Package>>(&lockstep_, "token", dut.token_o,
                                        want.token_arbiter().state().token);
    ExpectMessage<SmTbCnts<Package>>(&lockstep_, "partition", dut.partition_o,
                                     want.tb_dispatch().state().partition);
    ExpectMessage<ContextViews<Package>>(&lockstep_, "views", dut.views_o, s.views);
    for (unsigned sm = 0; sm < kSms; ++sm) CompareToSm(Ports::ToSm(dut, sm), s.to_sm[sm]);
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      ExpectAt<TotalShareVec<Package>>(&lockstep_, "share", k, dut.share_o,
                                       want.drf_tracker().ShownShare(k));
      ExpectAt<NeedVec<Package>>(&lockstep_, "needs", k, dut.needs_o, s.views[k].need);
    }
  }
  void CompareToSm(const DriverToSm& got, const DriverToSm& want) {
    CompareFields<DriverToSmFields<Package>>(
        {"to_sm"}, want, got, [this](const FieldPath& field, auto expected, auto has) {
          lockstep_.Expect(field, has, expected);
        });
    if (!want.command_valid) return;
    ExpectWhole<SmCommandFields<Package>>(&lockstep_, "command", lockstep_.dut().command_o,
                                          want.command);
  }

  Lockstep<Dut> lockstep_;
  const bool streams_;
  Driver model_;
  Driver broken_;
  Dice dice_;
  HostOutputs broken_out_;
  std::vector<Decision> decisions_;  // made in this cycle
};

}  // namespace smk
