// SPDX-License-Identifier: Apache-2.0
// smk_top behind the seam, in any configuration: see top_control.h.
#pragma once

#include <array>
#include <optional>
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
         a.context_done == b.context_done;
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
        event_ack_o(r.smk_top__DOT__event_ack),
        tick_o(r.smk_top__DOT__tick) {}
  decltype(Root::smk_top__DOT__command_valid) command_valid_o;
  decltype(Root::smk_top__DOT__command) command_o;
  decltype(Root::smk_top__DOT__buffer_valid) buffer_valid_o;
  decltype(Root::smk_top__DOT__buffer) buffer_o;
  decltype(Root::smk_top__DOT__event_ack) event_ack_o;
  decltype(Root::smk_top__DOT__tick) tick_o;
};

// `Model`: smk_top, verilated in the configuration of `Package`.
template <typename Model, typename Package>
class TopControl final : public ControlPlane, public ControlProbe {
 public:
  using Layout = RtlLayout<Package>;
  using Ports = DriverPorts<Package>;

  explicit TopControl(const PolicyConfig& policy) : top_(&context_, "top") {
    context_.fatalOnError(false);
    Ports::SetPolicy(policy, top_.operator->());
    Ports::DriveHost({}, top_.operator->());
    for (unsigned sm = 0; sm < Layout::kSms; ++sm) DriveSm(sm, {});
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
    if (log_on_) Ports::ReadDecision(model(), now, &log_);
    host_spoke_ = in.launch_valid || in.tick;
  }

  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    const unsigned i = Index(sm);
    if (!SameInputs(driven_[i], in)) DriveSm(i, in);
    if (!settled_) top_.Settle();
    settled_ = true;
    ReadSm(i, out);
    stepped_ |= 1u << i;
  }

  void EndCycle(Cycle now) override {
    // Nothing arrives at SMs that nobody steps.
    for (unsigned sm = 0; sm < Layout::kSms; ++sm) {
      if ((stepped_ >> sm & 1) == 0 && !driven_[sm].Quiet()) DriveSm(sm, {});
    }
    if (!settled_) top_.Settle();
    top_.Edge();
    settled_ = false;
    stepped_ = 0;
    if (host_spoke_) Ports::DriveHost({}, top_.operator->());
    host_spoke_ = false;
    if (context_.gotError()) {
      throw CheckFailure("cycle " + std::to_string(now) + ": an assertion of smk_top failed");
    }
  }

  SmMask awake_sms() const override {
    const Between between(root());
    const SmMask all = Layout::kSms == 32 ? ~0u : (1u << Layout::kSms) - 1;
    const SmMask told = between.command_valid_o | between.buffer_valid_o | between.event_ack_o;
    return model().sm_awake_o | (between.tick_o != 0 ? all : told);
  }
  bool driver_awake() const override {
    bool talking = model().driver_awake_o != 0 || root().smk_top__DOT__sm_buffer_request != 0 ||
                   root().smk_top__DOT__sm_profile_valid != 0;
    for (unsigned sm = 0; sm < Layout::kSms; ++sm) {
      talking =
          talking || GetBits(root().smk_top__DOT__sm_events, (sm + 1) * Layout::kEvent - 1, 1) != 0;
    }
    return talking;
  }

  void EnableDecisionLog(bool on) override { log_on_ = on; }
  const std::vector<Decision>& TakeDecisions() override {
    taken_.swap(log_);
    log_.clear();
    return taken_;
  }
  PartitionTable partitions() const override { return Ports::Partitions(model()); }
  std::array<std::uint16_t, kMaxKernels> quotas(SmId sm) const override {
    const bool gated = (model().gated_o >> Index(sm) & 1) != 0;
    return gated ? Vector16(model().quota_o, Index(sm)) : std::array<std::uint16_t, kMaxKernels>{};
  }

  DriverToSm to_sm(unsigned sm) const override { return Ports::ToSm(Between(root()), sm); }
  SmToDriver to_driver(unsigned sm) const override {
    const auto& r = root();
    SmToDriver d;
    d.command_ready = (r.smk_top__DOT__sm_command_ready >> sm & 1) != 0;
    d.event = Layout::ReadEvent(r.smk_top__DOT__sm_events, sm * Layout::kEvent);
    d.buffer_request = (r.smk_top__DOT__sm_buffer_request >> sm & 1) != 0;
    d.buffer_kernel = static_cast<KernelId>(
        GetBits(r.smk_top__DOT__sm_buffer_kernel, sm * Layout::kKernel, Layout::kKernel));
    d.profile_valid = (r.smk_top__DOT__sm_profile_valid >> sm & 1) != 0;
    d.profile_issued = Vector16(r.smk_top__DOT__sm_profile_issued, sm);
    return d;
  }
  std::optional<std::array<std::uint16_t, kMaxKernels>> quota_left(unsigned sm) const override {
    return Vector16(model().quota_left_o, sm);
  }

 private:
  const Model& model() const { return *top_.operator->(); }
  const auto& root() const { return *model().rootp; }

  // Instructions of each kernel, of one SM.
  template <typename Port>
  static std::array<std::uint16_t, kMaxKernels> Vector16(const Port& port, unsigned sm) {
    std::array<std::uint16_t, kMaxKernels> v{};
    for (unsigned k = 0; k < Layout::kKernels; ++k) {
      v[k] = static_cast<std::uint16_t>(GetBits(port, 16 * (sm * Layout::kKernels + k), 16));
    }
    return v;
  }

  void DriveSm(unsigned sm, const SmInputs& in) {
    constexpr unsigned kWarps = Layout::kWarpsPerScheduler;
    Model& top = *top_.operator->();
    for (unsigned s = 0; s < Layout::kSchedulers; ++s) {
      SetBits(&top.ready_i, (sm * Layout::kSchedulers + s) * kWarps, kWarps, in.ready[s]);
    }
    SetBits(&top.tb_finished_i, sm * Layout::kSlots, Layout::kSlots, in.tb_finished);
    SetBits(&top.tb_quiet_i, sm * Layout::kSlots, Layout::kSlots, in.tb_quiet);
    SetBits(&top.tb_flushable_i, sm * Layout::kSlots, Layout::kSlots, in.tb_flushable);
    SetBits(&top.context_ready_i, sm, 1, in.context_ready ? 1 : 0);
    SetBits(&top.context_done_i, sm * Layout::kDone, Layout::kDone, in.context_done);
    driven_[sm] = in;
    settled_ = false;
  }
  void ReadSm(unsigned sm, SmOutputs* out) const {
    const Model& top = model();
    *out = SmOutputs{};
    out->grant_valid = static_cast<std::uint8_t>(
        GetBits(top.grant_valid_o, sm * Layout::kSchedulers, Layout::kSchedulers));
    for (unsigned s = 0; s < Layout::kSchedulers; ++s) {
      if ((out->grant_valid >> s & 1) == 0) continue;
      constexpr unsigned kWarp = Layout::kSchedulerWarp;
      out->grant_warp[s] = static_cast<std::uint8_t>(
          GetBits(top.grant_warp_o, (sm * Layout::kSchedulers + s) * kWarp, kWarp));
    }
    const auto slots = [sm](const auto& port) {
      return static_cast<std::uint32_t>(GetBits(port, sm * Layout::kSlots, Layout::kSlots));
    };
    out->warp_start = Layout::ReadWarpStart(top.warp_start_o, sm * Layout::kWarpStart);
    out->tb_activate = slots(top.tb_activate_o);
    out->tb_stop = slots(top.tb_stop_o);
    out->context = Layout::ReadContext(top.context_o, sm * Layout::kContext);
    out->release_valid = (top.release_valid_o >> sm & 1) != 0;
    out->release_slot =
        static_cast<TbSlot>(GetBits(top.release_slot_o, sm * Layout::kSlot, Layout::kSlot));
    out->release_kind =
        (top.release_flushed_o >> sm & 1) != 0 ? TbRelease::kFlushed : TbRelease::kSaved;
  }

  VerilatedContext context_;
  VerilatedUnit<Model> top_;
  std::array<SmInputs, kMaxSms> driven_{};
  bool settled_ = false;     // the wires are those of this cycle's inputs
  bool host_spoke_ = false;  // its pulses are still driven
  SmMask stepped_ = 0;
  bool log_on_ = false;
  std::vector<Decision> log_, taken_;
};

}  // namespace smk
