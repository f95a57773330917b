// SPDX-License-Identifier: Apache-2.0
// The RTL of the driver: one model of smk_driver, its inputs packed and its outputs unpacked.
//
// Purpose     Step() settles the wires of a cycle, Edge() clocks it. SMs read the registers towards
//             them from model() between the two.
#pragma once

#include <vector>

#include "cosim/driver_ports.h"
#include "cosim/verilated_unit.h"

namespace smk {

template <typename Rtl>
class RtlDriver {
 public:
  using Package = typename Rtl::Package;
  using Ports = DriverPorts<Package>;
  using Driver = typename Rtl::Driver;

  RtlDriver(VerilatedContext* context, const PolicyConfig& policy)
      : driver_(context, "top u_driver"), streams_(TbDispatch::Streams(policy)) {
    Ports::SetPolicy(policy, driver_.operator->());
    driver_.Reset();
  }

  // An SM's registers towards the driver.
  template <typename Tables, typename Profile, typename Sample>
  void Hear(unsigned sm, const Tables& tables, const Profile& profile, const Sample& sample) {
    CopyAt<SmEvents<Package>>(sm, tables.event_o, &driver_->sm_events_i);
    CopyAt<SmFlags<Package>>(sm, tables.command_credit_o, &driver_->sm_command_credit_i);
    CopyAt<SmFlags<Package>>(sm, tables.command_waits_o, &driver_->sm_command_waits_i);
    CopyAt<SmFlags<Package>>(sm, tables.buffer_request_o, &driver_->sm_buffer_request_i);
    CopyAt<SmKernelId<Package>>(sm, tables.buffer_kernel_o, &driver_->sm_buffer_kernel_i);
    CopyAt<SmFlags<Package>>(sm, tables.buffer_withdraw_o, &driver_->sm_buffer_withdraw_i);
    CopyAt<SmFlags<Package>>(sm, profile.report_valid_o, &driver_->sm_profile_valid_i);
    CopyAt<SmIssued<Package>>(sm, profile.report_issued_o, &driver_->sm_profile_issued_i);
    CopyAt<SmFlags<Package>>(sm, sample.valid_o, &driver_->sm_sample_valid_i);
    CopyAt<SmSamples<Package>>(sm, sample.issued_o, &driver_->sm_sample_issued_i);
    CopyAt<SmSamples<Package>>(sm, sample.stalled_o, &driver_->sm_sample_stalled_i);
  }

  void Hear(unsigned sm, const SmToDriver& in) { Ports::Hear(sm, in, driver_.operator->()); }

  // The wires of a cycle; the decision made in it, if any, goes to `log`.
  void Step(const HostInputs& in, Cycle now, HostOutputs* out, std::vector<Decision>* log) {
    Ports::DriveHost(in, driver_.operator->());
    driver_.Settle();
    *out = Ports::ReadHost(model());
    if (log == nullptr) return;
    if (streams_) Ports::ReadPlan(model(), model(), now, log);
    Ports::ReadDecision(model(), now, log);
  }
  void Edge() { driver_.Edge(); }

  const Driver& model() const { return *driver_.operator->(); }
  VerilatedUnit<Driver>* unit() { return &driver_; }
  bool awake() const { return driver_->awake_o != 0; }
  // SMs that must look at the driver's registers.
  SmMask look() const {
    if ((driver_->tick_o | driver_->sample_begin_o | driver_->sample_end_o) != 0) {
      return SmMask::First(Package::NumSms);
    }
    const auto sms = [](const auto& port) { return UnpackMask<SmMask, Package::NumSms>(port); };
    return sms(driver_->command_valid_o) | sms(driver_->buffer_valid_o) |
           sms(driver_->buffer_none_o) | sms(driver_->event_ack_o);
  }
  PartitionTable partitions() const { return Ports::Partitions(model()); }
  TokenView token() const { return Ports::Token(model()); }
  void Record(PlanRecord* plans) const { Ports::Record(model(), plans); }
  DriverToSm ToSm(unsigned sm) const { return Ports::ToSm(model(), sm); }

 private:
  VerilatedUnit<Driver> driver_;
  const bool streams_;
};

}  // namespace smk
