// SPDX-License-Identifier: Apache-2.0
// The ports of smk_driver, packed and unpacked. smk_top has those towards the host under the same
// names.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "cosim/rtl_layout.h"

namespace smk {

// `Model`: any verilated model with these ports, of the configuration of `Package`.
template <typename Package>
struct DriverPorts {
  using Layout = RtlLayout<Package>;

  template <typename Model>
  static void SetPolicy(const PolicyConfig& policy, Model* model) {
    FieldWriter w(&model->policy_i);
    w.Put(8, policy.latency_scale).Put(16, policy.linger_ticks);
    w.Put(Layout::kQuota, policy.epoch_length);
    for (unsigned k = 0; k < Layout::kKernels; ++k) w.Put(Layout::kTbCnt, policy.table[k]);
    w.Put(Layout::kKernelCnt, std::min<unsigned>(policy.kernels_per_sm, Layout::kKernels));
    w.Put(1, policy.quota_enable ? 1 : 0).Put(1, static_cast<unsigned>(policy.warp_policy));
    w.Put(2, static_cast<unsigned>(policy.preempt)).Put(3, static_cast<unsigned>(policy.dispatch));
  }

  template <typename Model>
  static void DriveHost(const HostInputs& in, Model* model) {
    model->tick_i = in.tick;
    model->launch_valid_i = in.launch_valid;
    if (!in.launch_valid) return;
    // One bit more than an id: whatever is no id at all stays none.
    model->launch_kernel_i = static_cast<std::uint8_t>(
        std::min<unsigned>(Index(in.launch_kernel), (2u << Layout::kKernel) - 1));
    FieldWriter w(&model->launch_i);
    w.Put(Layout::kAddress, in.launch.context_base).Put(Layout::kTb, in.launch.tb_count);
    w.Put(16, in.launch.need.threads).Put(16, in.launch.need.shared_memory);
    w.Put(16, in.launch.need.registers);
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
    FieldReader r(model.decision_o);
    Decision d;
    d.cycle = now;
    d.victim_tbs = static_cast<std::uint8_t>(r.Take(Layout::kTbCnt));
    d.victim = static_cast<KernelId>(r.Take(Layout::kKernel));
    d.tb = static_cast<TbId>(r.Take(Layout::kTb));
    d.sm = static_cast<SmId>(r.Take(Layout::kSm));
    d.kernel = static_cast<KernelId>(r.Take(Layout::kKernel));
    d.reason = static_cast<DecisionReason>(r.Take(4));
    if (r.Take(1) == 0) return;
    for (unsigned k = 0; k < Layout::kKernels; ++k) d.share[k] = Share(model, k);
    log->push_back(d);
  }
  // rK x NumSms.
  template <typename Model>
  static std::uint32_t Share(const Model& model, unsigned kernel) {
    return static_cast<std::uint32_t>(
        GetBits(model.share_o, kernel * Layout::kTotalShare, Layout::kTotalShare));
  }
  template <typename Model>
  static PartitionTable Partitions(const Model& model) {
    PartitionTable table{};
    for (unsigned sm = 0; sm < Layout::kSms; ++sm) {
      for (unsigned k = 0; k < Layout::kKernels; ++k) {
        table[sm][k] = static_cast<std::uint8_t>(GetBits(
            model.partition_o, (sm * Layout::kKernels + k) * Layout::kTbCnt, Layout::kTbCnt));
      }
    }
    return table;
  }

  // An SM's registers towards the driver.
  template <typename Model>
  static void Hear(unsigned sm, const SmToDriver& in, Model* model) {
    const auto bit = [sm](auto* port, bool value) { SetBits(port, sm, 1, value ? 1 : 0); };
    Layout::WriteEvent(in.event, &model->sm_events_i, sm * Layout::kEvent);
    bit(&model->sm_command_ready_i, in.command_ready);
    bit(&model->sm_buffer_request_i, in.buffer_request);
    SetBits(&model->sm_buffer_kernel_i, sm * Layout::kKernel, Layout::kKernel,
            Index(in.buffer_kernel));
    bit(&model->sm_profile_valid_i, in.profile_valid);
    for (unsigned k = 0; k < Layout::kKernels; ++k) {
      SetBits(&model->sm_profile_issued_i, (sm * Layout::kKernels + k) * Layout::kIssued,
              Layout::kIssued, in.profile_issued[k]);
    }
  }
  template <typename Model>
  static DriverToSm ToSm(const Model& model, unsigned sm) {
    DriverToSm d;
    d.command_valid = (model.command_valid_o >> sm & 1) != 0;
    if (d.command_valid) d.command = Layout::ReadCommand(model.command_o);
    d.buffer_valid = (model.buffer_valid_o >> sm & 1) != 0;
    d.buffer = model.buffer_o;
    d.event_ack = (model.event_ack_o >> sm & 1) != 0;
    d.tick = model.tick_o != 0;
    return d;
  }
};

}  // namespace smk
