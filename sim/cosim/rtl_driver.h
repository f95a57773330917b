// SPDX-License-Identifier: Apache-2.0
// The RTL of the driver: one model of smk_driver, its inputs packed and its outputs unpacked.
//
// Purpose     Step() settles the wires of a cycle, Edge() clocks it. SMs read the registers towards
//             them from model() between the two.
#pragma once

#include <array>
#include <vector>

#include "cosim/rtl_layout.h"
#include "cosim/verilated_unit.h"

namespace smk {

template <typename Rtl>
class RtlDriver {
 public:
  using Layout = RtlLayout<typename Rtl::Package>;
  using Driver = typename Rtl::Driver;

  RtlDriver(VerilatedContext* context, const PolicyConfig& policy)
      : driver_(context, "top u_driver") {
    SetPolicy(policy);
    driver_.Reset();
  }

  // An SM's registers towards the driver.
  template <typename Tables, typename Profile>
  void Hear(unsigned sm, const Tables& tables, const Profile& profile) {
    const auto bit = [sm](auto* port, bool value) { SetBits(port, sm, 1, value ? 1 : 0); };
    SetBits(&driver_->sm_events_i, sm * Layout::kEvent, Layout::kEvent, tables.event_o);
    bit(&driver_->sm_command_ready_i, tables.command_ready_o != 0);
    bit(&driver_->sm_buffer_request_i, tables.buffer_request_o != 0);
    SetBits(&driver_->sm_buffer_kernel_i, sm * Layout::kKernel, Layout::kKernel,
            tables.buffer_kernel_o);
    bit(&driver_->sm_profile_valid_i, profile.report_valid_o != 0);
    constexpr unsigned kIssued = Layout::kIssued * Layout::kKernels;
    SetBits(&driver_->sm_profile_issued_i, sm * kIssued, kIssued, profile.report_issued_o);
  }

  // The wires of a cycle; the decision made in it, if any, goes to `log`.
  void Step(const HostInputs& in, Cycle now, HostOutputs* out, std::vector<Decision>* log) {
    DriveHost(in);
    driver_.Settle();
    *out = HostOutputs{};
    out->launch_ready = driver_->launch_ready_o != 0;
    out->launch_error = static_cast<LaunchError>(driver_->launch_error_o);
    out->kernel_done = driver_->kernel_done_o;
    if (log != nullptr) ReadDecision(now, log);
  }
  void Edge() { driver_.Edge(); }

  const Driver& model() const { return *driver_.operator->(); }
  VerilatedUnit<Driver>* unit() { return &driver_; }
  bool awake() const { return driver_->awake_o != 0; }
  // SMs that must look at the driver's registers.
  SmMask look() const {
    const SmMask all = Layout::kSms == 32 ? ~0u : (1u << Layout::kSms) - 1;
    return driver_->tick_o != 0
               ? all
               : driver_->command_valid_o | driver_->buffer_valid_o | driver_->event_ack_o;
  }
  PartitionTable partitions() const {
    PartitionTable table{};
    for (unsigned sm = 0; sm < Layout::kSms; ++sm) {
      for (unsigned k = 0; k < Layout::kKernels; ++k) {
        table[sm][k] = static_cast<std::uint8_t>(GetBits(
            driver_->partition_o, (sm * Layout::kKernels + k) * Layout::kTbCnt, Layout::kTbCnt));
      }
    }
    return table;
  }
  DriverToSm ToSm(unsigned sm) const {
    DriverToSm d;
    d.command_valid = (driver_->command_valid_o >> sm & 1) != 0;
    if (d.command_valid) d.command = Layout::ReadCommand(driver_->command_o);
    d.buffer_valid = (driver_->buffer_valid_o >> sm & 1) != 0;
    d.buffer = driver_->buffer_o;
    d.event_ack = (driver_->event_ack_o >> sm & 1) != 0;
    d.tick = driver_->tick_o != 0;
    return d;
  }

 private:
  void SetPolicy(const PolicyConfig& policy);
  void DriveHost(const HostInputs& in);
  void ReadDecision(Cycle now, std::vector<Decision>* log) const;

  VerilatedUnit<Driver> driver_;
};

template <typename Rtl>
void RtlDriver<Rtl>::SetPolicy(const PolicyConfig& policy) {
  FieldWriter w(&driver_->policy_i);
  w.Put(8, policy.latency_scale).Put(16, policy.linger_ticks);
  w.Put(Layout::kQuota, policy.epoch_length);
  for (unsigned k = 0; k < Layout::kKernels; ++k) w.Put(Layout::kTbCnt, policy.table[k]);
  w.Put(Layout::kKernelCnt, std::min<unsigned>(policy.kernels_per_sm, Layout::kKernels));
  w.Put(1, policy.quota_enable ? 1 : 0).Put(1, static_cast<unsigned>(policy.warp_policy));
  w.Put(2, static_cast<unsigned>(policy.preempt)).Put(3, static_cast<unsigned>(policy.dispatch));
}

template <typename Rtl>
void RtlDriver<Rtl>::DriveHost(const HostInputs& in) {
  driver_->tick_i = in.tick;
  driver_->launch_valid_i = in.launch_valid;
  if (!in.launch_valid) return;
  // One bit more than an id: whatever is no id at all stays none.
  driver_->launch_kernel_i =
      static_cast<CData>(std::min<unsigned>(Index(in.launch_kernel), (2u << Layout::kKernel) - 1));
  FieldWriter w(&driver_->launch_i);
  w.Put(Layout::kAddress, in.launch.context_base).Put(Layout::kTb, in.launch.tb_count);
  w.Put(16, in.launch.need.threads).Put(16, in.launch.need.shared_memory);
  w.Put(16, in.launch.need.registers);
}

template <typename Rtl>
void RtlDriver<Rtl>::ReadDecision(Cycle now, std::vector<Decision>* log) const {
  FieldReader r(driver_->decision_o);
  Decision d;
  d.cycle = now;
  d.victim_tbs = static_cast<std::uint8_t>(r.Take(Layout::kTbCnt));
  d.victim = static_cast<KernelId>(r.Take(Layout::kKernel));
  d.tb = static_cast<TbId>(r.Take(Layout::kTb));
  d.sm = static_cast<SmId>(r.Take(Layout::kSm));
  d.kernel = static_cast<KernelId>(r.Take(Layout::kKernel));
  d.reason = static_cast<DecisionReason>(r.Take(4));
  if (r.Take(1) == 0) return;
  for (unsigned k = 0; k < Layout::kKernels; ++k) {
    d.share[k] = static_cast<std::uint32_t>(
        GetBits(driver_->share_o, k * Layout::kTotalShare, Layout::kTotalShare));
  }
  log->push_back(d);
}

}  // namespace smk
