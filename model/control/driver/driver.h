// SPDX-License-Identifier: Apache-2.0
// Reference of smk_driver: the GPU's SM driver, wired together.
//
// Purpose     Kernel table, token arbiter, SM assignment, DRF tracker, dispatch, partition planner,
//             preempted queue and quota calculator; the command bus to the SMs.
// Paper       [SMK] Sec. 5.1, Fig. 3.
// Idle        Nothing changes in a cycle without an input pulse or awake().
// Doc         docs/blocks/driver.md
#pragma once

#include <vector>

#include "control/driver/drf_tracker.h"
#include "control/driver/driver_slicer.h"
#include "control/driver/kernel_table.h"
#include "control/driver/partition_planner.h"
#include "control/driver/preempted_queue.h"
#include "control/driver/quota_calculator.h"
#include "control/driver/sm_assign.h"
#include "control/driver/tb_dispatch.h"
#include "control/driver/tb_stream.h"
#include "control/driver/token_arbiter.h"

namespace smk {

class Driver {
 public:
  struct Inputs {
    HostInputs host{};
    std::array<SmToDriver, kMaxSms>* sm = nullptr;  // registers of the SMs
  };

  using Outputs = HostOutputs;
  // The registers between the blocks and towards the SMs.
  struct State {
    std::array<DriverToSm, kMaxSms> to_sm{};
    SmMask look{};  // SMs to which it says something
    KernelViews views{};
    SmMask credit{};              // SMs that can take another command
    SmMask waiting{};             // SMs on which a TB waits for a gap
    bool assign_pending = false;  // the set of kernels changed
    bool assigned = false;        // SMs were being assigned in the last cycle
    KernelMask need_changed = 0;  // launched with another need
    KernelMask gone = 0;          // places given away since
    KernelMask hosted = 0;        // kernels that had an SM in the last cycle, if some are held
    // What the kernel table hears one cycle later.
    std::array<std::uint8_t, kMaxKernels> finished{};
    bool some_finished = false;
    // The most TBs of each member on its profiling SM since the last tick. Members: one cycle late.
    std::array<std::uint8_t, kMaxKernels> peak{};
    KernelMask members = 0;
    // Who was a member with an SM at the last tick, and whose windows have come since.
    bool tick = false;
    KernelMask wanted = 0, got = 0;
    // The profile that the quota calculator hears of one cycle late, too.
    KernelMask profile_valid = 0;
    std::array<std::uint16_t, kMaxKernels> profile_issued{};
    std::array<std::uint8_t, kMaxKernels> profile_tbs{};
    KernelTable::State planned_kernels{};  // as the planner sees them, one cycle late
    bool quota_ready = false;     // its SM has had a credit in the last cycle, and it is not used
    bool quota_owns_bus = false;  // a quota command was offered and is not yet taken
  };

  Driver(const ControlConfig& config, const PolicyConfig& policy);

  Outputs Eval(const Inputs& in) const { return ToHost(kernels_.Eval(KernelInputs(in.host))); }
  void Tick(const Inputs& in) {
    Outputs out;
    Step(in, 0, &out, nullptr);
  }
  // Eval and Tick in one: the wires inside are worked out once. A decision made goes to `log`.
  void Step(const Inputs& in, Cycle now, Outputs* out, std::vector<Decision>* log);
  const State& state() const { return state_; }
  bool awake() const { return awake_; }
  const KernelTable& kernel_table() const { return kernels_; }
  const DrfTracker& drf_tracker() const { return drf_; }
  const SmAssign& sm_assign() const { return assign_; }
  const TbDispatch& tb_dispatch() const { return dispatch_; }
  const TbStream& tb_stream() const { return stream_; }
  const PreemptedQueue& preempted_queue() const { return queue_; }
  const QuotaCalculator& quota_calculator() const { return quota_; }
  const DriverSlicer& slicer() const { return slicer_; }
  const TokenArbiter& token_arbiter() const { return tokens_; }

 private:
  // What the SMs' registers say in this cycle, regrouped per receiver.
  struct Events {
    SmMask any;
    SmMask settled;
    SmMask to_queue;
    SmMask credit;
    SmMask waits;
    SmMask samples;
    std::array<std::uint8_t, kMaxKernels> finished{};
  };
  Events Collect(const Inputs& in);
  KernelTable::Inputs KernelInputs(const HostInputs& host) const;
  TbStream::Inputs StreamInputs() const;
  // Left-over is strict: younger kernels may be held.
  bool Holds() const {
    return policy_.leftover_strict && policy_.dispatch == DispatchMode::kLeftover;
  }
  KernelMask Able() const;
  KernelMask Held() const;
  void NoteHosted();
  void SetDrfInputs(const Events& events, KernelMask kernel_done);
  void SetQueueInputs(const Inputs& in, const Events& events);
  QuotaCalculator::Inputs QuotaInputs() const;
  void CountTbs();
  void HearProfile(const Inputs& in);
  TbDispatch::Inputs DispatchInputs(const Events& events) const;
  SmMask Settled(KernelMask kernels) const;
  static Outputs ToHost(const KernelTable::Outputs& kernels);
  void DriveSms(bool tick);
  void DriveWindow(unsigned sm);
  PartitionPlanner::Inputs PlannerInputs() const;
  DriverSlicer::Inputs SlicerInputs(const Inputs& in, const Events& events) const;
  // Members have SMs of their own, whose windows count.
  bool Profiles() const {
    return policy_.quota_enable && policy_.quota_gate && !slicer_.profiler().state().profiling();
  }
  bool Tokens() const { return policy_.dispatch == DispatchMode::kToken; }
  TokenArbiter::Inputs TokenInputs() const;
  SmAssign::Inputs AssignInputs() const;
  // Which kernels may run on each SM, and whether that is about to change.
  const SmAssign::State& allowed() const { return slicer_.enabled() ? seen_ : assign_.state(); }
  bool AssignBusy() const {
    return state_.assign_pending || assign_.state().busy || slicer_.state().giving ||
           slicer_.state().assign || tokens_.state().assign;
  }
  void LogPlan(Cycle now, std::vector<Decision>* log) const;

  ControlConfig config_;
  PolicyConfig policy_;
  KernelTable kernels_;
  TokenArbiter tokens_;
  SmAssign assign_;
  DrfTracker drf_;
  TbDispatch dispatch_;
  TbStream stream_;
  PartitionPlanner planner_;
  PreemptedQueue queue_;
  QuotaCalculator quota_;
  DriverSlicer slicer_;
  SmAssign::State seen_;
  State state_;
  KernelMask kernel_done_ = 0;  // outputs of the kernel table in this cycle
  KernelMask member_expired_ = 0;
  // Wires to the two blocks that hear of events. Of the entries per SM, only those that a mask
  // names are written in a cycle; the others are old.
  DrfTracker::Inputs drf_in_;
  PreemptedQueue::Inputs queue_in_;
  bool awake_ = false;
};

}  // namespace smk
