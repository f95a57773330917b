// SPDX-License-Identifier: Apache-2.0
// The ports of smk_driver, packed and unpacked. smk_top has those towards the host under the same
// names.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "control/driver/plan_record.h"
#include "control/driver/tb_dispatch.h"
#include "control/message_fields.h"
#include "cosim/pack.h"

namespace smk {

// `Model`: any verilated model with these ports, of the configuration of `Package`.
template <typename Package>
struct DriverPorts {
  template <typename Model>
  static void SetPolicy(PolicyConfig policy, Model* model) {
    policy.kernels_per_sm = std::min<std::uint8_t>(policy.kernels_per_sm, Package::NumKernels);
    Pack<PolicyFields<Package>>(policy, &model->policy_i);
  }

  template <typename Model>
  static void DriveHost(const HostInputs& in, Model* model) {
    model->tick_i = in.tick;
    model->launch_valid_i = in.launch_valid;
    if (!in.launch_valid) return;
    // One bit more than an id: whatever is no id at all stays none.
    model->launch_kernel_i = static_cast<std::uint8_t>(
        std::min<unsigned>(Index(in.launch_kernel), (2u << Package::KernelWidth) - 1));
    Pack<KernelDescriptorFields<Package>>(in.launch, &model->launch_i);
  }
  template <typename Model>
  static HostOutputs ReadHost(const Model& model) {
    HostOutputs out;
    out.launch_ready = model.launch_ready_o != 0;
    out.launch_error = static_cast<LaunchError>(model.launch_error_o);
    out.kernel_done = model.kernel_done_o;
    return out;
  }

  // The decision that is made in this cycle, if any, goes to `log`.
  template <typename Model>
  static void ReadDecision(const Model& model, Cycle now, std::vector<Decision>* log) {
    using Fields = DecisionFields<Package>;
    if (GetBits(model.decision_o, kWidthOf<Fields>, 1) == 0) return;
    Decision d = Unpack<Fields>(model.decision_o);
    d.cycle = now;
    Unpack<TotalShareVec<Package>>(model.share_o, &d.share);
    log->push_back(d);
  }
  // While TBs stream, a plan is a decision for each SM to which its last command is sent. `between`
  // has the registers towards the SMs, `model` the shares.
  template <typename Between, typename Model>
  static void ReadPlan(const Between& between, const Model& model, Cycle now,
                       std::vector<Decision>* log) {
    const auto sms = UnpackMask<SmMask, Package::NumSms>(between.command_valid_o);
    if (sms.None()) return;
    const auto command = Unpack<SmCommandFields<Package>>(between.command_o);
    if (command.op != CommandOp::kPartition || !command.last) return;
    Decision d;
    d.cycle = now;
    d.reason = DecisionReason::kRepartition;
    d.kernel = command.kernel;
    Unpack<TotalShareVec<Package>>(model.share_o, &d.share);
    for (const unsigned sm : sms) {
      d.sm = static_cast<SmId>(sm);
      log->push_back(d);
    }
  }
  // A command that is sent goes to the record of plans.
  template <typename Between>
  static void Record(const Between& between, PlanRecord* plans) {
    const auto sms = UnpackMask<SmMask, Package::NumSms>(between.command_valid_o);
    if (sms.None()) return;
    const auto command = Unpack<SmCommandFields<Package>>(between.command_o);
    for (const unsigned sm : sms) plans->Hear(sm, command);
  }
  template <typename Model>
  static PartitionTable Partitions(const Model& model) {
    PartitionTable table{};
    Unpack<SmTbCnts<Package>>(model.partition_o, &table);
    return table;
  }
  template <typename Model>
  static TokenView Token(const Model& model) {
    return Unpack<TokenFields<Package>>(model.token_o);
  }

  // An SM's registers towards the driver.
  template <typename Model>
  static void Hear(unsigned sm, const SmToDriver& in, Model* model) {
    PackAt<SmEvents<Package>>(sm, in.event, &model->sm_events_i);
    PackAt<SmFlags<Package>>(sm, in.command_credit, &model->sm_command_credit_i);
    PackAt<SmFlags<Package>>(sm, in.command_waits, &model->sm_command_waits_i);
    PackAt<SmFlags<Package>>(sm, in.buffer_request, &model->sm_buffer_request_i);
    PackAt<SmKernelId<Package>>(sm, in.buffer_kernel, &model->sm_buffer_kernel_i);
    PackAt<SmFlags<Package>>(sm, in.buffer_withdraw, &model->sm_buffer_withdraw_i);
    PackAt<SmFlags<Package>>(sm, in.profile_valid, &model->sm_profile_valid_i);
    PackAt<SmIssued<Package>>(sm, in.profile_issued, &model->sm_profile_issued_i);
    PackAt<SmFlags<Package>>(sm, in.sample_valid, &model->sm_sample_valid_i);
    PackAt<SmSamples<Package>>(sm, in.sample_issued, &model->sm_sample_issued_i);
    PackAt<SmSamples<Package>>(sm, in.sample_stalled, &model->sm_sample_stalled_i);
  }
  template <typename Model>
  static DriverToSm ToSm(const Model& model, unsigned sm) {
    DriverToSm d;
    UnpackAt<SmFlags<Package>>(sm, model.command_valid_o, &d.command_valid);
    if (d.command_valid) Unpack<SmCommandFields<Package>>(model.command_o, &d.command);
    UnpackAt<SmFlags<Package>>(sm, model.buffer_valid_o, &d.buffer_valid);
    d.buffer = model.buffer_o;
    UnpackAt<SmFlags<Package>>(sm, model.buffer_none_o, &d.buffer_none);
    UnpackAt<SmFlags<Package>>(sm, model.event_ack_o, &d.event_ack);
    d.tick = model.tick_o != 0;
    d.sample_begin = model.sample_begin_o != 0;
    d.sample_end = model.sample_end_o != 0;
    UnpackAt<SmKernelId<Package>>(sm, model.sample_kernel_o, &d.sample_kernel);
    d.sample_stalls = model.sample_stalls_o != 0;
    return d;
  }
};

}  // namespace smk
