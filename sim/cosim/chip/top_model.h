// SPDX-License-Identifier: Apache-2.0
// smk_top behind the seam, in any configuration: see top_control.h.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "control/control_probe.h"
#include "cosim/driver_ports.h"
#include "cosim/verilated_unit.h"

namespace smk {

inline bool SameInputs(const SmInputs& a, const SmInputs& b) {
  return a.ready == b.ready && a.tb_finished == b.tb_finished && a.tb_quiet == b.tb_quiet &&
         a.tb_flushable == b.tb_flushable && a.context_ready == b.context_ready &&
         a.context_done == b.context_done && a.memory == b.memory;
}

// The registers between driver and SMs are wires inside smk_top: read under the names that
// DriverPorts knows from smk_driver.
template <typename Root>
struct Between {
  explicit Between(const Root& r)
      : command_valid_o(r.smk_top__DOT__command_valid),
        command_o(r.smk_top__DOT__command),
        buffer_valid_o(r.smk_top__DOT__buffer_valid),
        buffer_o(r.smk_top__DOT__buffer),
        buffer_none_o(r.smk_top__DOT__buffer_none),
        event_ack_o(r.smk_top__DOT__event_ack),
        tick_o(r.smk_top__DOT__tick),
        sample_begin_o(r.smk_top__DOT__sample_begin),
        sample_end_o(r.smk_top__DOT__sample_end),
        sample_kernel_o(r.smk_top__DOT__sample_kernel),
        sample_stalls_o(r.smk_top__DOT__sample_stalls) {}
  decltype(Root::smk_top__DOT__command_valid) command_valid_o;
  decltype(Root::smk_top__DOT__command) command_o;
  decltype(Root::smk_top__DOT__buffer_valid) buffer_valid_o;
  decltype(Root::smk_top__DOT__buffer) buffer_o;
  decltype(Root::smk_top__DOT__buffer_none) buffer_none_o;
  decltype(Root::smk_top__DOT__event_ack) event_ack_o;
  decltype(Root::smk_top__DOT__tick) tick_o;
  decltype(Root::smk_top__DOT__sample_begin) sample_begin_o;
  decltype(Root::smk_top__DOT__sample_end) sample_end_o;
  decltype(Root::smk_top__DOT__sample_kernel) sample_kernel_o;
  decltype(Root::smk_top__DOT__sample_stalls) sample_stalls_o;
};

// `Model`: smk_top, verilated in the configuration of `Package`.
template <typename Model, typename Package>
class TopControl final : public ControlPlane, public ControlProbe {
 public:
  using Ports = DriverPorts<Package>;

  explicit TopControl(const PolicyConfig& policy)
      : top_(&context_, "top"), streams_(TbDispatch::Streams(policy)) {
    context_.fatalOnError(false);
    Ports::SetPolicy(policy, top_.operator->());
    Ports::DriveHost({}, top_.operator->());
    for (unsigned sm = 0; sm < Package::NumSms; ++sm) DriveSm(sm, {});
    top_.Reset();
  }
  // Verilator takes models out of the thread's context when they go: it must be theirs.
  ~TopControl() override { Verilated::threadContextp(&context_); }
  TopControl(const TopControl&) = delete;
  TopControl& operator=(const TopControl&) = delete;

  void BeginCycle(Cycle now, const HostInputs& in, HostOutputs* out) override {
    Ports::DriveHost(in, top_.operator->());
    top_.Settle();
    settled_ = true;
    *out = Ports::ReadHost(model());
    if (log_on_) {
      if (streams_) Ports::ReadPlan(Between(root()), model(), now, &log_);
      Ports::ReadDecision(model(), now, &log_);
    }
    host_spoke_ = in.launch_valid || in.tick;
  }

  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    const unsigned i = Index(sm);
    if (!SameInputs(driven_[i], in)) DriveSm(i, in);
    if (top_->time_i != in.time) {
      top_->time_i = in.time;
      settled_ = false;
    }
    if (!settled_) top_.Settle();
    settled_ = true;
    ReadSm(i, out);
    stepped_.Set(i);
  }

  void EndCycle(Cycle now) override {
    // Nothing arrives at SMs that nobody steps.
    for (unsigned sm = 0; sm < Package::NumSms; ++sm) {
      if (!stepped_.Test(sm) && !driven_[sm].Quiet()) DriveSm(sm, {});
    }
    if (!settled_) top_.Settle();
    top_.Edge();
    Ports::Record(Between(root()), &plans_);
    settled_ = false;
    stepped_ = SmMask();
    if (host_spoke_) Ports::DriveHost({}, top_.operator->());
    host_spoke_ = false;
    if (context_.gotError()) {
      throw CheckFailure("cycle " + std::to_string(now) + ": an assertion of smk_top failed");
    }
  }

  SmMask awake_sms() const override {
    const Between between(root());
    if ((between.tick_o | between.sample_begin_o | between.sample_end_o) != 0) {
      return SmMask::First(Package::NumSms);
    }
    return Sms(model().sm_awake_o) | Sms(between.command_valid_o) | Sms(between.buffer_valid_o) |
           Sms(between.buffer_none_o) | Sms(between.event_ack_o);
  }
  bool driver_awake() const override {
    bool sending = model().driver_awake_o != 0 ||
                   Sms(root().smk_top__DOT__sm_command_credit).Any() ||
                   Sms(root().smk_top__DOT__sm_command_waits).Any() ||
                   Sms(root().smk_top__DOT__sm_buffer_request).Any() ||
                   Sms(root().smk_top__DOT__sm_buffer_withdraw).Any() ||
                   Sms(root().smk_top__DOT__sm_profile_valid).Any() ||
                   Sms(root().smk_top__DOT__sm_sample_valid).Any();
    for (unsigned sm = 0; sm < Package::NumSms; ++sm) {
      SmEvent event;
      UnpackAt<SmEvents<Package>>(sm, root().smk_top__DOT__sm_events, &event);
      sending = sending || event.valid;
    }
    return sending;
  }

  void EnableDecisionLog(bool on) override { log_on_ = on; }
  const std::vector<Decision>& TakeDecisions() override {
    taken_.swap(log_);
    log_.clear();
    return taken_;
  }
  PartitionTable partitions() const override { return Ports::Partitions(model()); }
  TokenView token() const override { return Ports::Token(model()); }
  std::optional<PartitionRange> partition(SmId sm, KernelId kernel) const override {
    return plans_.Of(sm, kernel);
  }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override {
    const bool gated = GetBits(model().gated_o, Index(sm), 1) != 0;
    return gated ? Quotas(model().quota_o, Index(sm)) : std::array<std::uint16_t, kMaxKernels>{};
  }

  DriverToSm to_sm(unsigned sm) const override { return Ports::ToSm(Between(root()), sm); }
  SmToDriver to_driver(unsigned sm) const override {
    const auto& r = root();
    SmToDriver d;
    UnpackAt<SmFlags<Package>>(sm, r.smk_top__DOT__sm_command_credit, &d.command_credit);
    UnpackAt<SmFlags<Package>>(sm, r.smk_top__DOT__sm_command_waits, &d.command_waits);
    UnpackAt<SmEvents<Package>>(sm, r.smk_top__DOT__sm_events, &d.event);
    UnpackAt<SmFlags<Package>>(sm, r.smk_top__DOT__sm_buffer_request, &d.buffer_request);
    UnpackAt<SmKernelId<Package>>(sm, r.smk_top__DOT__sm_buffer_kernel, &d.buffer_kernel);
    UnpackAt<SmFlags<Package>>(sm, r.smk_top__DOT__sm_buffer_withdraw, &d.buffer_withdraw);
    UnpackAt<SmFlags<Package>>(sm, r.smk_top__DOT__sm_profile_valid, &d.profile_valid);
    UnpackAt<SmIssued<Package>>(sm, r.smk_top__DOT__sm_profile_issued, &d.profile_issued);
    UnpackAt<SmFlags<Package>>(sm, r.smk_top__DOT__sm_sample_valid, &d.sample_valid);
    UnpackAt<SmSamples<Package>>(sm, r.smk_top__DOT__sm_sample_issued, &d.sample_issued);
    UnpackAt<SmSamples<Package>>(sm, r.smk_top__DOT__sm_sample_stalled, &d.sample_stalled);
    return d;
  }

 private:
  const Model& model() const { return *top_.operator->(); }
  const auto& root() const { return *model().rootp; }

  template <typename Port>
  static SmMask Sms(const Port& port) {
    return UnpackMask<SmMask, Package::NumSms>(port);
  }
  template <typename Port>
  static std::array<std::uint16_t, kMaxKernels> Quotas(const Port& port, unsigned sm) {
    std::array<std::uint16_t, kMaxKernels> quotas{};
    UnpackAt<SmQuotas<Package>>(sm, port, &quotas);
    return quotas;
  }

  void DriveSm(unsigned sm, const SmInputs& in) {
    Model& top = *top_.operator->();
    PackAt<SmReady<Package>>(sm, in.ready, &top.ready_i);
    PackAt<SmSlots<Package>>(sm, in.tb_finished, &top.tb_finished_i);
    PackAt<SmSlots<Package>>(sm, in.tb_quiet, &top.tb_quiet_i);
    PackAt<SmSlots<Package>>(sm, in.tb_flushable, &top.tb_flushable_i);
    PackAt<SmFlags<Package>>(sm, in.context_ready, &top.context_ready_i);
    PackAt<SmDone<Package>>(sm, in.context_done, &top.context_done_i);
    PackAt<SmMemory<Package>>(sm, in.memory, &top.memory_i);
    driven_[sm] = in;
    settled_ = false;
  }
  void ReadSm(unsigned sm, SmOutputs* out) const {
    const Model& top = model();
    *out = SmOutputs{};
    UnpackAt<SmGrants<Package>>(sm, top.grant_valid_o, &out->grant_valid);
    UnpackAt<SmGrantWarps<Package>>(sm, top.grant_warp_o, &out->grant_warp);
    UnpackAt<SmWarpStarts<Package>>(sm, top.warp_start_o, &out->warp_start);
    UnpackAt<SmSlots<Package>>(sm, top.tb_activate_o, &out->tb_activate);
    UnpackAt<SmSlots<Package>>(sm, top.tb_stop_o, &out->tb_stop);
    UnpackAt<SmContexts<Package>>(sm, top.context_o, &out->context);
    UnpackAt<SmFlags<Package>>(sm, top.release_valid_o, &out->release_valid);
    UnpackAt<SmSlotId<Package>>(sm, top.release_slot_o, &out->release_slot);
    UnpackAt<SmFlags<Package>>(sm, top.release_flushed_o, &out->release_kind);
    UnpackAt<SmFlags<Package>>(sm, top.samples_o, &out->samples);
    UnpackAt<SmFlags<Package>>(sm, top.place_waits_o, &out->place_waits);
    UnpackAt<SmFlags<Package>>(sm, top.gated_o, &out->gated);
    if (out->gated) ReadQuotas(sm, out);
  }
  // What is left after this cycle.
  void ReadQuotas(unsigned sm, SmOutputs* out) const {
    const Model& top = model();
    std::array<std::uint8_t, kMaxKernels> with_quota{};
    UnpackAt<SmMemory<Package>>(sm, top.with_quota_o, &with_quota);
    for (unsigned bit = 0; bit < kMaxSchedulers * kMaxKernels; ++bit) {
      const unsigned some = with_quota[bit % kMaxKernels] >> bit / kMaxKernels & 1;
      out->with_quota |= some << bit;
    }
    if (GetBits(top.reload_o, sm, 1) != 0) {
      out->quota_left = Quotas(top.quota_o, sm);
      return;
    }
    out->quota_left = Quotas(top.quota_left_o, sm);
    if ((out->grant_valid & 1) == 0) return;
    --out->quota_left[BitsAt<SmKernelId<Package>>(sm, top.grant_kernel_o)];
  }

  VerilatedContext context_;
  VerilatedUnit<Model> top_;
  std::array<SmInputs, kMaxSms> driven_{};
  bool settled_ = false;     // the wires are those of this cycle's inputs
  bool host_spoke_ = false;  // its pulses are still driven
  PlanRecord plans_{Package::NumSms};
  SmMask stepped_;
  const bool streams_;
  bool log_on_ = false;
  std::vector<Decision> log_, taken_;
};

}  // namespace smk
