// SPDX-License-Identifier: Apache-2.0
// The RTL beside the reference at sizes that no machine has: one SM, fewer SMs than kernels, 33
// SMs, 8 kernels, fewer TBs than kernels, schedulers of 24 warps, a single scheduler. 2 SMs, 16,
// 80, and 2 and 4 kernels are in lockstep_control_test.cc.
#include <Veight_cosim_arbiter.h>
#include <Veight_cosim_driver.h>
#include <Veight_cosim_driver_smk_pkg.h>
#include <Veight_cosim_planner.h>
#include <Veight_cosim_profile.h>
#include <Veight_cosim_profiler.h>
#include <Veight_cosim_sample.h>
#include <Veight_cosim_scheduler.h>
#include <Veight_cosim_tables.h>
#include <Veight_cosim_tables___024root.h>
#include <Veight_cosim_usage.h>
#include <Vfew_cosim_arbiter.h>
#include <Vfew_cosim_driver.h>
#include <Vfew_cosim_driver_smk_pkg.h>
#include <Vfew_cosim_planner.h>
#include <Vfew_cosim_profile.h>
#include <Vfew_cosim_profiler.h>
#include <Vfew_cosim_sample.h>
#include <Vfew_cosim_scheduler.h>
#include <Vfew_cosim_tables.h>
#include <Vfew_cosim_tables___024root.h>
#include <Vfew_cosim_usage.h>
#include <Vmany_cosim_arbiter.h>
#include <Vmany_cosim_driver.h>
#include <Vmany_cosim_driver_smk_pkg.h>
#include <Vmany_cosim_planner.h>
#include <Vmany_cosim_profile.h>
#include <Vmany_cosim_profiler.h>
#include <Vmany_cosim_sample.h>
#include <Vmany_cosim_scheduler.h>
#include <Vmany_cosim_tables.h>
#include <Vmany_cosim_tables___024root.h>
#include <Vmany_cosim_usage.h>
#include <Vone_cosim_arbiter.h>
#include <Vone_cosim_driver.h>
#include <Vone_cosim_driver_smk_pkg.h>
#include <Vone_cosim_planner.h>
#include <Vone_cosim_profile.h>
#include <Vone_cosim_profiler.h>
#include <Vone_cosim_sample.h>
#include <Vone_cosim_scheduler.h>
#include <Vone_cosim_tables.h>
#include <Vone_cosim_tables___024root.h>
#include <Vone_cosim_usage.h>

#include <algorithm>

#include "control/reference_control.h"
#include "cosim/no_waves.h"
#include "cosim/rtl_control_of.h"
#include "cosim/scenarios.h"

namespace smk::plane {
namespace {

SMK_RTL_CONFIG(RtlOne, one, one);
SMK_RTL_CONFIG(RtlEight, eight, eight);
SMK_RTL_CONFIG(RtlFew, few, few);
SMK_RTL_CONFIG(RtlMany, many, many);

template <typename Rtl>
void RunSize(DispatchMode mode, unsigned scenarios) {
  const ControlConfig config = ConfigOf<typename Rtl::Package>();
  const auto both = [](const ControlConfig& c, const PolicyConfig& policy, LockstepCounts* counts) {
    return MakeLockstepControl(c, MakeReferenceControl(c, policy),
                               std::make_unique<RtlControl<Rtl, NoWaves>>(c, policy, RtlOptions()),
                               counts);
  };
  RunScenarios(mode, config, config.num_kernels, scenarios, both);
}

class Sizes : public testing::TestWithParam<DispatchMode> {};

TEST_P(Sizes, OneSmWith24WarpsPerSchedulerEqualsTheReference) {
  // TBs on demand on one SM can preempt each other for ever: see RandomScenario.
  if (GetParam() == DispatchMode::kOnDemand) GTEST_SKIP();
  RunSize<RtlOne>(GetParam(), 2);
}
TEST_P(Sizes, EightKernelsAndOneSchedulerEqualTheReference) { RunSize<RtlEight>(GetParam(), 3); }
TEST_P(Sizes, FewerTbsThanKernelsEqualTheReference) { RunSize<RtlFew>(GetParam(), 6); }
TEST_P(Sizes, ThirtyThreeSmsEqualTheReference) { RunSize<RtlMany>(GetParam(), 1); }

INSTANTIATE_TEST_SUITE_P(Modes, Sizes, testing::ValuesIn(kAllModes),
                         [](const auto& info) { return Name(info.param); });

}  // namespace
}  // namespace smk::plane
