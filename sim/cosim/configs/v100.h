// SPDX-License-Identifier: Apache-2.0
// What Verilator has made of configuration v100: more SMs than gtx980 has, and each one of its.
#pragma once

#include <Vv100_cosim_arbiter.h>
#include <Vv100_cosim_driver.h>
#include <Vv100_cosim_driver_smk_pkg.h>
#include <Vv100_cosim_planner.h>
#include <Vv100_cosim_profiler.h>
#include <Vv100_cosim_usage.h>
#include <v100_scheduler.h>

#include "cosim/configs/gtx980.h"

namespace smk {

SMK_RTL_CONFIG(RtlV100, v100, gtx980);
struct LanesV100 : RtlV100 {
  using SchedulerLanes = lanes::V100Scheduler;
  using ProfileLanes = LanesGtx980::ProfileLanes;
};

}  // namespace smk
