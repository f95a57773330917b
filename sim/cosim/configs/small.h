// SPDX-License-Identifier: Apache-2.0
// What Verilator has made of configuration small, and its compiled gates.
#pragma once

#include <Vsmall_cosim_arbiter.h>
#include <Vsmall_cosim_driver.h>
#include <Vsmall_cosim_driver_smk_pkg.h>
#include <Vsmall_cosim_planner.h>
#include <Vsmall_cosim_profile.h>
#include <Vsmall_cosim_profiler.h>
#include <Vsmall_cosim_sample.h>
#include <Vsmall_cosim_scheduler.h>
#include <Vsmall_cosim_tables.h>
#include <Vsmall_cosim_tables___024root.h>
#include <Vsmall_cosim_usage.h>
#include <small_profile.h>
#include <small_scheduler.h>

#include "cosim/rtl_config.h"

namespace smk {

SMK_RTL_CONFIG(RtlSmall, small, small);
struct LanesSmall : RtlSmall {
  using SchedulerLanes = lanes::SmallScheduler;
  using ProfileLanes = lanes::SmallProfile;
};

}  // namespace smk
