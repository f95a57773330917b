// SPDX-License-Identifier: Apache-2.0
// smk_driver beside Driver.
#pragma once

#include <functional>

#include "common/lockstep.h"
#include "control/driver.h"
#include "cosim/driver_ports.h"

namespace smk {

// The block and its reference, with the interface of the reference: DriverBench drives either. With
// `distort` the block is compared with a second reference that is told something else: one rule
// broken. With `skip_idle` the reference is left alone in cycles in which it has nothing to do.
template <typename Dut, typename Package>
class DriverPair {
 public:
  using Layout = RtlLayout<Package>;
  using Ports = DriverPorts<Package>;
  using SmRegisters = std::array<SmToDriver, kMaxSms>;

  DriverPair(const ControlConfig& config, const PolicyConfig& policy, std::uint64_t seed = 1)
      : lockstep_("driver", seed), model_(config, policy), broken_(config, policy), dice_(seed) {
    Ports::SetPolicy(policy, &lockstep_.dut());
    Drive({}, SmRegisters{});
    lockstep_.Reset();
    CompareRegisters(model_, {});
  }

  SmMask Step(const Driver::Inputs& in, Cycle now, HostOutputs* out, std::vector<Decision>* log,
              std::array<DriverToSm, kMaxSms>* to_sm) {
    Drive(in.host, *in.sm);
    lockstep_.Eval();
    decisions_.clear();
    const SmMask look = StepReference(in, now, out, to_sm);
    log->insert(log->end(), decisions_.begin(), decisions_.end());
    if (distort) StepBroken(in, now);
    CompareHost(in.host.launch_valid, distort ? broken_out_ : *out);
    CompareDecision();
    lockstep_.ClockEdge();
    CompareRegisters(distort ? broken_ : model_, distort ? broken_to_sm_ : *to_sm);
    return look;
  }
  // The block is compared with a reference of another policy.
  void BreakPolicy(const ControlConfig& config, const PolicyConfig& policy) {
    broken_ = Driver(config, policy);
    distort = [](HostInputs*, SmRegisters*) {};
  }

  bool awake() const { return model_.awake(); }
  const Driver& model() const { return model_; }
  const Lockstep<Dut>& lockstep() const { return lockstep_; }
  const Dut& dut() { return lockstep_.dut(); }

  std::function<void(HostInputs*, SmRegisters*)> distort;
  bool skip_idle = false;
  std::uint64_t skipped = 0;

 private:
  void Drive(const HostInputs& host, const SmRegisters& sms) {
    Ports::DriveHost(host, &lockstep_.dut());
    for (unsigned sm = 0; sm < Layout::kSms; ++sm) {
      Ports::Hear(sm, WithNoise(sms[sm]), &lockstep_.dut());
    }
  }
  // Payloads that mean nothing are anything.
  SmToDriver WithNoise(SmToDriver sm) {
    const bool settled = sm.event.kind == EventKind::kSettled;
    if (!sm.event.valid || settled) {
      sm.event.kernel = static_cast<KernelId>(dice_.Below(kMaxKernels));
      sm.event.tb = static_cast<TbId>(dice_.Bits());
      sm.event.buffer = static_cast<std::uint16_t>(dice_.Below(Package::PreemptedDepth));
      sm.event.counted = dice_.Percent(50);
    }
    if (!sm.event.valid || !settled) {
      sm.event.shortfall = static_cast<std::uint8_t>(dice_.Below(Package::LimitTbs + 1));
    }
    if (!sm.event.valid) sm.event.kind = static_cast<EventKind>(dice_.Below(5));
    if (!sm.buffer_request) sm.buffer_kernel = static_cast<KernelId>(dice_.Below(kMaxKernels));
    if (sm.profile_valid) return sm;
    for (auto& issued : sm.profile_issued) issued = static_cast<std::uint16_t>(dice_.Bits());
    return sm;
  }
  static bool Pulses(const Driver::Inputs& in) {
    bool any = in.host.launch_valid || in.host.tick;
    for (const SmToDriver& sm : *in.sm) {
      any = any || sm.event.valid || sm.buffer_request || sm.profile_valid;
    }
    return any;
  }
  SmMask StepReference(const Driver::Inputs& in, Cycle now, HostOutputs* out,
                       std::array<DriverToSm, kMaxSms>* to_sm) {
    if (!skip_idle || model_.awake() || Pulses(in)) {
      return model_.Step(in, now, out, &decisions_, to_sm);
    }
    ++skipped;
    *out = HostOutputs{};
    return 0;
  }
  void StepBroken(const Driver::Inputs& in, Cycle now) {
    SmRegisters told = *in.sm;
    Driver::Inputs other{in.host, &told};
    distort(&other.host, &told);
    decisions_.clear();
    broken_.Step(other, now, &broken_out_, &decisions_, &broken_to_sm_);
  }

  void CompareHost(bool launch, const HostOutputs& want) {
    const HostOutputs got = Ports::ReadHost(lockstep_.dut());
    if (launch) lockstep_.Expect("launch_ready", got.launch_ready, want.launch_ready);
    lockstep_.Expect("launch_error", got.launch_error, want.launch_error);
    lockstep_.Expect("kernel_done", got.kernel_done, want.kernel_done);
  }
  void CompareDecision() {
    std::vector<Decision> seen;
    Ports::ReadDecision(lockstep_.dut(), 0, &seen);
    lockstep_.Expect("decision.valid", seen.size(), decisions_.size());
    if (seen.size() != 1 || decisions_.size() != 1) return;
    const Decision &want = decisions_.front(), &got = seen.front();
    lockstep_.Expect("decision.reason", got.reason, want.reason);
    lockstep_.Expect("decision.kernel", got.kernel, want.kernel);
    lockstep_.Expect("decision.sm", got.sm, want.sm);
    for (unsigned k = 0; k < Layout::kKernels; ++k) {
      lockstep_.Expect("share", got.share[k], want.share[k]);
    }
    if (want.reason <= DecisionReason::kDispatchRestarted) {
      lockstep_.Expect("decision.tb", got.tb, want.tb);
    }
    if (want.reason != DecisionReason::kPreempt) return;
    lockstep_.Expect("decision.victim", got.victim, want.victim);
    lockstep_.Expect("decision.victim_tbs", got.victim_tbs, want.victim_tbs);
  }

  // Outputs that come from registers: looked at after the edge.
  void CompareRegisters(const Driver& want, const std::array<DriverToSm, kMaxSms>& to_sm) {
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("awake", dut.awake_o, want.awake());
    lockstep_.Expect("tick", dut.tick_o, to_sm[0].tick);
    const PartitionTable got = Ports::Partitions(dut);
    for (unsigned sm = 0; sm < Layout::kSms; ++sm) {
      CompareToSm(Ports::ToSm(dut, sm), to_sm[sm]);
      for (unsigned k = 0; k < Layout::kKernels; ++k) {
        lockstep_.Expect("partition", got[sm][k], want.tb_dispatch().state().partition[sm][k]);
      }
    }
    FieldReader view(dut.views_o);
    for (unsigned k = 0; k < Layout::kKernels; ++k) {
      const KernelView& v = want.views()[k];
      lockstep_.Expect("share", Ports::Share(dut, k), want.drf_tracker().ShownShare(k));
      lockstep_.Expect("warps", GetBits(dut.warps_o, k * Layout::kThreadCnt, Layout::kThreadCnt),
                       v.need.threads);
      lockstep_.Expect("context_log2_lines", view.Take(Layout::kLogLines), v.context_log2_lines);
      lockstep_.Expect("context_lines", view.Take(Layout::kLine), v.context_lines);
      lockstep_.Expect("context_base", view.Take(Layout::kAddress), v.context_base);
    }
  }
  void CompareToSm(const DriverToSm& got, const DriverToSm& want) {
    lockstep_.Expect("event_ack", got.event_ack, want.event_ack);
    lockstep_.Expect("buffer_valid", got.buffer_valid, want.buffer_valid);
    if (want.buffer_valid) lockstep_.Expect("buffer", got.buffer, want.buffer);
    lockstep_.Expect("command_valid", got.command_valid, want.command_valid);
    if (want.command_valid) CompareCommand(got.command, want.command);
  }
  void CompareCommand(const SmCommand& got, const SmCommand& want) {
    lockstep_.Expect("command.op", got.op, want.op);
    lockstep_.Expect("command.kernel", got.kernel, want.kernel);
    lockstep_.Expect("command.tb", got.tb, want.tb);
    lockstep_.Expect("command.restore", got.restore, want.restore);
    lockstep_.Expect("command.buffer", got.buffer, want.buffer);
    lockstep_.Expect("command.count", got.count, want.count);
    lockstep_.Expect("command.mode", got.mode, want.mode);
    lockstep_.Expect("command.first", got.first, want.first);
    lockstep_.Expect("command.last", got.last, want.last);
    lockstep_.Expect("command.quota", got.quota, want.quota);
    const PartitionRange &g = got.range, &w = want.range;
    lockstep_.Expect("range.registers_base", g.registers_base, w.registers_base);
    lockstep_.Expect("range.registers_limit", g.registers_limit, w.registers_limit);
    lockstep_.Expect("range.shared_memory_base", g.shared_memory_base, w.shared_memory_base);
    lockstep_.Expect("range.shared_memory_limit", g.shared_memory_limit, w.shared_memory_limit);
    lockstep_.Expect("range.threads_base", g.threads_base, w.threads_base);
    lockstep_.Expect("range.threads_limit", g.threads_limit, w.threads_limit);
    lockstep_.Expect("range.tb_base", g.tb_base, w.tb_base);
    lockstep_.Expect("range.tb_count", g.tb_count, w.tb_count);
  }

  Lockstep<Dut> lockstep_;
  Driver model_;
  Driver broken_;
  Dice dice_;
  HostOutputs broken_out_;
  std::array<DriverToSm, kMaxSms> broken_to_sm_{};
  std::vector<Decision> decisions_;  // made in this cycle
};

}  // namespace smk
