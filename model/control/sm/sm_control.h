// SPDX-License-Identifier: Apache-2.0
// Reference of smk_sm_control: the control logic of one SM, wired together.
//
// Purpose     TB table, partition counters, TB places, preemption engine and chooser, warp
//             schedulers and profile counters, the command port from the driver, the one event
//             register towards it, and the registers between them.
// Paper       [SMK] Fig. 3.
// Idle        Nothing changes in a cycle without a ready warp, an input pulse or awake().
// Doc         docs/blocks/sm_control.md
#pragma once

#include "control/sm/joint_schedulers.h"
#include "control/sm/partition_counters.h"
#include "control/sm/preempt_chooser.h"
#include "control/sm/preempt_engine.h"
#include "control/sm/profile_counters.h"
#include "control/sm/quota_scheduler.h"
#include "control/sm/sample_counters.h"
#include "control/sm/sm_link.h"
#include "control/sm/tb_places.h"
#include "control/sm/tb_table.h"

namespace smk {

class SmControl {
 public:
  // What reaches an SM in a cycle.
  struct Inputs {
    const SmInputs* machine = nullptr;
    const DriverToSm* driver = nullptr;    // registers of the driver
    const KernelViews* kernels = nullptr;  // likewise
  };
  using Outputs = SmOutputs;
  // Quotas received, whether they are in force, and whether to reload at once: registers, and what
  // the schedulers had in the last step.
  struct Quotas {
    std::array<std::uint16_t, kMaxKernels> quota{};
    bool gated = false;
    bool load = false;
  };
  using Masks = std::array<WarpMask, kMaxSchedulers>;
  // The registers between the blocks and towards the driver. What every cycle looks at comes first.
  struct alignas(64) State {
    Quotas quotas{}, used{};  // received, and what the schedulers had in the last cycle
    // What the schedulers hear one cycle late.
    Masks stop{};
    // The window: of this kernel, with or without stalls; cycles until its counts are reported.
    bool samples = false, sample_stalls = false;
    KernelId sample_kernel{0};
    std::uint8_t sample_ends = 0;
    Masks leave{};
    WarpStart start{};
    SmToDriver to_driver{};
    // What the table hears one cycle late.
    std::uint32_t finished = 0;
    bool release = false;
    bool loaded = false;
    bool choosing = false;             // victims are to be chosen
    std::uint32_t candidates = 0;      // of the kernel, not yet chosen
    std::uint32_t finish_pending = 0;  // finished TBs to report
    std::uint32_t finish_counted = 0;
    bool settle_pending = false;  // a settle report is due
    std::uint8_t shortfall = 0;
    SmEvent report{};          // before the event register
    std::uint8_t changed = 0;  // cycles in which the schedulers still hear of something
    // The set of quotas that comes, and whether its first has come, its last not, and no plan.
    std::array<std::uint16_t, kMaxKernels> coming{};
    bool set_open = false;
  };

  SmControl(const ControlConfig& config, const PolicyConfig& policy);

  Outputs Eval(const Inputs& in) const {
    SmControl after = *this;
    Outputs out;
    after.Step(*in.machine, *in.driver, *in.kernels, &out);
    return out;
  }
  void Tick(const Inputs& in) {
    Outputs out;
    Step(*in.machine, *in.driver, *in.kernels, &out);
  }
  // Eval and Tick in one: the wires inside are worked out once.
  void Step(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& kernels,
            SmOutputs* out) {
    Step(in, from_driver, Speaks(from_driver), kernels, out);
  }
  // The same for a caller that knows whether the driver says something.
  void Step(const SmInputs& in, const DriverToSm& from_driver, bool speaks,
            const KernelViews& kernels, SmOutputs* out);
  // The same in a cycle in which nothing happens but that warps are ready, if not awake(): the
  // warps that are granted, and whether quotas have been spent or loaded.
  [[gnu::always_inline]] Grants GrantReady(LaneMask ready) {
    if (__builtin_expect(!joint_.Usual(ready), 0)) return GrantUnusual(ready);
    const JointSchedulers::Choice choice = joint_.ChooseUsual(ready);
    if (__builtin_expect(joint_.Unsure(choice), 0)) {
      return GrantUnsure(choice.again, choice.rest, choice.kept, choice.oldest);
    }
    const LaneMask granted = joint_.Take(choice);
    if (joint_.counting() || state_.samples) return CountReady(granted);
    return {granted, 0};
  }
  // What is left of quotas, if they are in force.
  void ShowQuotas(SmOutputs* out);
  const State& state() const { return state_; }
  bool awake() const { return busy_ || (state_.samples && state_.sample_stalls); }
  const TbTable& tb_table() const { return table_; }
  const PartitionCounters& partition_counters() const { return partitions_; }
  const TbPlaces& tb_places() const { return places_; }
  const PreemptEngine& preempt_engine() const { return engine_; }
  const PreemptChooser& preempt_chooser() const { return chooser_; }

 private:
  // Calls that end a grant, so that one without them is short.
  Grants GrantUnusual(LaneMask ready);
  Grants GrantUnsure(LaneMask again, LaneMask rest, LaneMask kept, LaneMask oldest);
  Grants CountReady(LaneMask granted);
  bool CountGrants(LaneMask granted);
  QuotaScheduler::Inputs SchedulerInputs(unsigned scheduler, const Quotas& quotas) const;
  void LoadJoint();
  void EndQuotas(LaneMask spent);
  void GrantQuiet(const SmInputs& in, SmOutputs* out);
  void Issue(const SmInputs& in, bool tick, SmOutputs* out);
  using GrantedKernels = std::array<std::uint8_t, kMaxSchedulers>;
  void SampleJoint(LaneMask granted, std::uint8_t memory);
  void Sample(std::uint8_t grant_valid, const GrantedKernels& kernels, std::uint8_t memory);
  void HearWindow(const DriverToSm& from_driver);
  void StepTables(const SmInputs& in, const DriverToSm& from_driver, const KernelViews& kernels,
                  SmOutputs* out);
  void TakeQuota(const SmCommand& command);
  void TakeCommand(const SmCommand& command, TbTable::Inputs* table,
                   PartitionCounters::Inputs* partitions, PreemptEngine::Inputs* engine);
  std::uint32_t Staying(KernelId kernel) const;
  void ChooseVictim(PreemptEngine::Inputs* engine);
  void Judge(PartitionCounters::Inputs* partitions, PreemptEngine::Inputs* engine);
  void Launch(const KernelViews& kernels, PartitionCounters::Inputs* partitions,
              TbTable::Inputs* table) const;
  void StepPlaces(const KernelViews& kernels, std::uint32_t gone, std::uint32_t pending);
  void SendEvent(const PreemptEngine::Outputs& engine, const SmInputs& in,
                 PreemptEngine::Inputs* engine_in, PreemptChooser::Inputs* chooser);
  void ChooseWays(const SmInputs& in, const TbTable::Inputs& table,
                  const PreemptEngine::Inputs& engine, PreemptChooser::Inputs* chooser);
  Masks WarpsOf(std::uint32_t slots) const;
  void TellSchedulers(const WarpStart& start, std::uint32_t gone);

  State state_;
  // Derived from the registers, kept to make a quiet cycle cheap.
  bool busy_ = false;
  bool stops_valid_ = false;
  bool with_quota_stale_ = true;
  const WarpPolicy warp_policy_;  // of policy_, which is not near
  const EpochEnd epoch_end_;      // likewise
  std::uint32_t with_quota_ = 0;  // as in SmOutputs
  std::uint32_t stopped_slots_ = 0;
  bool warps_stale_ = true;  // joint_ does not know of all warps
  JointSchedulers joint_;
  ProfileCounters profile_;
  SampleCounters sample_;
  std::array<QuotaScheduler, kMaxSchedulers> schedulers_;
  ControlConfig config_;
  PolicyConfig policy_;
  TbTable table_;
  PartitionCounters partitions_;
  TbPlaces places_;
  PreemptEngine engine_;
  PreemptChooser chooser_;
  std::array<Masks, kMaxTbSlots> slot_warps_{};
};

}  // namespace smk
