// SPDX-License-Identifier: Apache-2.0
// The part of Driver that is Warped-Slicer, as smk_driver_slicer is of smk_driver.
//
// Purpose     Joins slicer_profiler with waterfill_planner; keeps what each SM is given, what its
//             window counted and the plan that the kernels share, and says what the partition
//             planner has to plan on an SM.
// Paper       [Warped-Slicer] Sec. IV. Deviations [D30], [D33], [D37], [D38], [D39].
// Interface   assign: pulse, the set of kernels has changed: all are profiled again. plan_start: of
//             the partition planner, which sees mode and table one cycle later.
// Latency     Begin and end of a window reach the SMs 1 cycle after the profiler's.
// Reset       Nothing given, no plan.
// Doc         docs/blocks/driver.md
// An SM that is given a kernel alone hosts no other; one that is given none is split evenly until
// there is a plan. Of several kernels the youngest lives at the end of every SM, the others at its
// beginning: of two, each stays where it is under any plan.
#pragma once

#include "control/driver/slicer_profiler.h"
#include "control/driver/sm_assign.h"
#include "control/driver/waterfill_planner.h"
#include "control/messages.h"

namespace smk {

class DriverSlicer {
 public:
  struct Inputs {
    bool assign = false;
    KernelMask members = 0;
    SmMask settled{};     // SMs whose partition is in force; asked for while settles()
    KernelMask able = 0;  // kernels that have TBs to dispatch
    bool plan_start = false;
    KernelMask plan_kernels = 0;
    SmId plan_sm{0};
    SmMask samples{};  // SMs whose counts come
    const std::array<SmToDriver, kMaxSms>* sm = nullptr;
    const KernelTable::State* kernel_table = nullptr;
  };
  struct Counts {
    std::uint16_t issued = 0, stalled = 0;
  };
  struct State {
    // By SM: the kernel that it samples or watches, and of those that have it alone its TBs.
    std::array<std::uint8_t, kMaxSms> kernel{}, tbs{};
    SmMask alone{};
    SmMask changed{};     // pulses: SMs that are given something else
    bool giving = false;  // the first SMs of a profile are still to be given something
    bool asked = false;   // a plan was asked for
    // The plan that kernels share, once there is one; or each has its own SMs.
    bool shared = false, spatial = false;
    KernelMask kernels = 0;
    std::array<std::uint8_t, kMaxKernels> table{};
    bool assign = false;  // pulse: SMs are assigned anew
    // For the partition planner.
    DispatchMode plan_mode = DispatchMode::kEven;
    std::array<std::uint8_t, kMaxKernels> plan_table{};
    bool plan_at_end = false;
    bool settled = false;  // the SMs that the profiler waits for
    // Pulses to the SMs.
    bool window = false, begin = false, end = false, stalls = false;
    std::array<Counts, kMaxSms> counts{};
  };
  // All outputs are registers.
  using Outputs = State;

  DriverSlicer(const ControlConfig& config, const PolicyConfig& policy);
  bool enabled() const { return policy_.dispatch == DispatchMode::kSlicer; }
  const State& state() const { return state_; }
  const SlicerProfiler& profiler() const { return profiler_; }
  const WaterfillPlanner& planner() const { return planner_; }
  bool busy() const;
  bool settles() const { return profiler_.state().step == SlicerProfiler::Step::kSettle; }
  // Which kernels may run on each SM, from what sm_assign says.
  void Allow(const SmAssign::State& assign, SmAssign::State* seen) const;
  void Tick(const Inputs& in);

 private:
  bool AllSettled(const Inputs& in) const;
  void Give();
  void TakePlan();
  void Restart(bool profiles);
  static KernelMask Youngest(const Inputs& in);
  void Mode(const Inputs& in);

  ControlConfig config_;
  PolicyConfig policy_;
  SlicerProfiler profiler_;
  WaterfillPlanner planner_;
  State state_;
};

}  // namespace smk
