// SPDX-License-Identifier: Apache-2.0
// The RTL of the driver: a model of sim_driver, and of the blocks that it has apart; inputs packed
// and outputs unpacked.
//
// Purpose     Hear() what the SMs will say in the next cycle, then Edge(), which ends a cycle;
//             Step() begins the next. SMs read the registers towards them from model() between.
// Idle        The driver is evaluated only in cycles in which it can change: while it is awake and
//             when it hears something. While only its token arbiter or its profiler is busy, only
//             that one is.
#pragma once

#include <vector>

#include "cosim/apart_block.h"
#include "cosim/apart_usages.h"
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
      : driver_(context, "top"),
        arbiter_(context, "top u_driver"),
        planner_(context, "top u_driver u_decision"),
        profiler_(context, "top u_driver u_slicer"),
        usages_(context, "top u_driver u_decision u_drf_tracker"),
        streams_(TbDispatch::Streams(policy)) {
    Ports::SetPolicy(policy, driver_.operator->());
    driver_.Reset();
    arbiter_.Reset(driver_->arbiter_hears_o);
    planner_.Reset(driver_->planner_hears_o);
    profiler_.Reset(driver_->profiler_hears_o);
    usages_.Reset(driver_->usages_need_o, driver_->usages_hear_o);
  }

  // An SM's registers towards the driver, of the next cycle.
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
    const bool host = in.tick || in.launch_valid;
    if (host || host_) {
      Ports::DriveHost(in, driver_.operator->());
      driver_.Settle();
      Tell();
    }
    host_ = host;
    *out = Ports::ReadHost(model());
    if (log == nullptr) return;
    if (streams_) Ports::ReadPlan(model(), model(), now, log);
    Ports::ReadDecision(model(), now, log);
  }
  // The end of a cycle; `speaks`: some SM says something in the next one. With `all`, everything is
  // evaluated, which changes nothing but what a waveform shows. False when the driver itself was
  // not: its registers are what they were.
  bool Edge(bool speaks, bool all) {
    bool hears = speaks;
    hears |= arbiter_.Edge(all, &driver_->arbiter_says_i);
    hears |= planner_.Edge(all, &driver_->planner_says_i);
    hears |= profiler_.Edge(all, &driver_->profiler_says_i);
    hears |= usages_.Edge(all, &driver_->usages_say_i);
    const bool changes = hears || hears_ || host_ || driver_->awake_o != 0;
    hears_ = hears;
    if (!changes && !all) return false;
    driver_.Cycle();
    Tell();
    return true;
  }

  const Driver& model() const { return *driver_.operator->(); }
  bool awake() const { return driver_->awake_o != 0 || arbiter_.busy() || profiler_.busy(); }
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

  template <typename Visitor>
  void VisitUnits(Visitor visit) {
    visit(&driver_);
    if (driver_->apart_o == 0) return;
    visit(arbiter_.unit());
    visit(planner_.unit());
    visit(profiler_.unit());
    usages_.VisitUnits(visit);
  }

 private:
  void Tell() {
    arbiter_.Hear(driver_->arbiter_hears_o);
    planner_.Hear(driver_->planner_hears_o);
    profiler_.Hear(driver_->profiler_hears_o);
    usages_.Hear(driver_->usages_need_o, driver_->usages_hear_o);
  }

  VerilatedUnit<Driver> driver_;
  ApartBlock<typename Rtl::Arbiter> arbiter_;
  ApartBlock<typename Rtl::Planner> planner_;
  ApartBlock<typename Rtl::Profiler> profiler_;
  ApartUsages<typename Rtl::Usage, Package::NumSms> usages_;
  bool host_ = false;   // the host said something in this cycle
  bool hears_ = false;  // the SMs or the blocks apart say something in it
  const bool streams_;
};

}  // namespace smk
