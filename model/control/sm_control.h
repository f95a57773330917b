// SPDX-License-Identifier: Apache-2.0
// Reference of rtl/top/smk_sm_control.sv: the control logic of one SM, wired together.
//
// Purpose     TB table, partition counters, preemption engine, warp schedulers and profile
//             counters, the command port from the driver and the one event register towards it.
// Paper       [SMK] Fig. 3.
// Idle        Nothing changes in a cycle without a ready warp, an input pulse or awake().
// Doc         docs/modules/sm_control.md
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
  const std::array<std::uint16_t, kMaxKernels>& quota() const { return quota_; }
  bool gated() const { return gated_; }
  const TbTable& tb_table() const { return table_; }
  const PartitionCounters& partition_counters() const { return partitions_; }
  const PreemptEngine& preempt_engine() const { return engine_; }

 private:
  struct Command;
  void Grant(const SmInputs& in, SmOutputs* out);
  void Issue(const SmInputs& in, bool tick, const std::array<std::uint16_t, kMaxSchedulers>& leave,
             const WarpStart& start, bool load_quota, SmOutputs* out);
  void StepTables(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& kernels,
                  SmOutputs* out, SmToDriver* to_driver);
  void TakeCommand(const SmCommand& command, const SmInputs& in, TbTable::Inputs* table,
                   PreemptEngine::Inputs* engine, bool* load_quota);
  std::uint32_t ChooseVictims(KernelId kernel, unsigned count, std::uint32_t finished) const;
  void SendEvent(const PreemptEngine::Outputs& engine, const SmInputs& in, SmToDriver* to_driver,
                 PreemptEngine::Inputs* engine_in);
  void UpdateStops(std::uint32_t tb_stop);

  ControlConfig config_;
  PolicyConfig policy_;
  TbTable table_;
  PartitionCounters partitions_;
  PreemptEngine engine_;
  std::array<QuotaScheduler, kMaxSchedulers> schedulers_;
  ProfileCounters profile_;
  // Registers of the wiring: quotas received, finished TBs to report, settle report due.
  std::array<std::uint16_t, kMaxKernels> quota_{};
  bool gated_ = false;
  std::uint32_t finish_pending_ = 0;
  std::uint32_t finish_counted_ = 0;
  bool settle_pending_ = false;
  std::uint8_t shortfall_ = 0;
  // Derived from the registers above, kept to make a quiet cycle cheap.
  bool awake_ = false;
  bool stops_valid_ = false;
  std::uint32_t stopped_slots_ = 0;
  std::array<std::uint16_t, kMaxSchedulers> stop_{};
  std::array<std::array<std::uint16_t, kMaxSchedulers>, kMaxTbSlots> slot_warps_{};
};

}  // namespace smk
