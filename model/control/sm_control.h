// SPDX-License-Identifier: Apache-2.0
// Reference of smk_sm_control: the control logic of one SM, wired together.
//
// Purpose     TB table, partition counters, preemption engine, warp schedulers and profile
//             counters, the command port from the driver and the one event register towards it;
//             and the registers between them.
// Paper       [SMK] Fig. 3.
// Idle        Nothing changes in a cycle without a ready warp, an input pulse or awake().
// Doc         docs/blocks/sm_control.md
#pragma once

#include "control/partition_counters.h"
#include "control/preempt_engine.h"
#include "control/profile_counters.h"
#include "control/quota_scheduler.h"
#include "control/tb_table.h"

namespace smk {

class SmControl {
 public:
  SmControl(const ControlConfig& config, const PolicyConfig& policy);

  // One cycle: wires into `out`, registers towards the driver into `to_driver`.
  void Step(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& kernels,
            SmOutputs* out, SmToDriver* to_driver);
  bool awake() const { return awake_; }
  // Quotas received, whether they are in force, and whether to reload at once: registers, and what
  // the schedulers had in the last step.
  struct Quotas {
    std::array<std::uint16_t, kMaxKernels> quota{};
    bool gated = false;
    bool load = false;
  };
  const Quotas& quotas() const { return quotas_; }
  const Quotas& quotas_used() const { return used_; }
  const TbTable& tb_table() const { return table_; }
  const PartitionCounters& partition_counters() const { return partitions_; }
  const PreemptEngine& preempt_engine() const { return engine_; }

 private:
  using Masks = std::array<std::uint16_t, kMaxSchedulers>;
  void Grant(const SmInputs& in, SmOutputs* out);
  void Issue(const SmInputs& in, bool tick, SmOutputs* out);
  void StepTables(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& kernels,
                  SmOutputs* out, SmToDriver* to_driver);
  void TakeCommand(const SmCommand& command, TbTable::Inputs* table,
                   PartitionCounters::Inputs* partitions, PreemptEngine::Inputs* engine);
  void ChooseVictim(PreemptEngine::Inputs* engine);
  void Judge(PartitionCounters::Inputs* partitions, PreemptEngine::Inputs* engine);
  void Launch(const KernelViews& kernels, PartitionCounters::Inputs* partitions,
              TbTable::Inputs* table) const;
  void SendEvent(const PreemptEngine::Outputs& engine, const SmInputs& in, SmToDriver* to_driver,
                 PreemptEngine::Inputs* engine_in);
  Masks WarpsOf(std::uint32_t slots) const;
  void TellSchedulers(const WarpStart& start, std::uint32_t gone);

  ControlConfig config_;
  PolicyConfig policy_;
  TbTable table_;
  PartitionCounters partitions_;
  PreemptEngine engine_;
  std::array<QuotaScheduler, kMaxSchedulers> schedulers_;
  ProfileCounters profile_;
  // Registers of the wiring: quotas received; what the table hears one cycle late; victims to be
  // chosen; finished TBs to report, settle report due; the report before the event register.
  Quotas quotas_, used_;
  std::uint32_t finished_ = 0;
  bool release_ = false;
  bool loaded_ = false;
  bool choosing_ = false;
  KernelId victim_kernel_{0};
  std::uint32_t finish_pending_ = 0;
  std::uint32_t finish_counted_ = 0;
  bool settle_pending_ = false;
  std::uint8_t shortfall_ = 0;
  SmEvent report_{};
  std::uint8_t changed_ = 0;  // cycles in which the schedulers still hear of something
  // What the schedulers hear one cycle late.
  WarpStart start_{};
  Masks leave_{}, stop_{};
  // Derived from the registers above, kept to make a quiet cycle cheap.
  bool awake_ = false;
  bool stops_valid_ = false;
  std::uint32_t stopped_slots_ = 0;
  std::array<Masks, kMaxTbSlots> slot_warps_{};
};

}  // namespace smk
