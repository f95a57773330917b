// SPDX-License-Identifier: Apache-2.0
// The shared object of `smk rtl build --compiled`: compiled by build_rtl.sh, beside what Verilator
// has made of the driver and of an SM's tables, and synth/lanes of its schedulers and profile
// counters, in one configuration. Not a part of the program.
#include <Vbuilt_cosim_arbiter.h>
#include <Vbuilt_cosim_driver.h>
#include <Vbuilt_cosim_driver_smk_pkg.h>
#include <Vbuilt_cosim_planner.h>
#include <Vbuilt_cosim_profiler.h>
#include <Vbuilt_cosim_sample.h>
#include <Vbuilt_cosim_tables.h>
#include <Vbuilt_cosim_tables___024root.h>
#include <Vbuilt_cosim_usage.h>
#include <built_profile.h>
#include <built_scheduler.h>

#include "cosim/built/built_object.h"
#include "cosim/lanes/lane_issue.h"
#include "cosim/no_waves.h"
#include "cosim/rtl_control_of.h"

// Named by every configuration, and not in this one.
class Vbuilt_cosim_profile;
class Vbuilt_cosim_scheduler;

namespace smk {
namespace {

SMK_RTL_CONFIG(RtlBuilt, built, built);
struct LanesBuilt : RtlBuilt {
  using SchedulerLanes = lanes::BuiltScheduler;
  using ProfileLanes = lanes::BuiltProfile;
};

}  // namespace

ControlPlane* MakeBuilt(const ControlConfig& config, const PolicyConfig& policy,
                        const RtlOptions& options) {
  return new RtlControl<LanesBuilt, NoWaves, LaneIssue<LanesBuilt>>(config, policy, options);
}

}  // namespace smk
