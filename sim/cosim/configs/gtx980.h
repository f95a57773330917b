// SPDX-License-Identifier: Apache-2.0
// What Verilator has made of configuration gtx980, and its compiled gates.
#pragma once

#include <Vgtx980_cosim_arbiter.h>
#include <Vgtx980_cosim_driver.h>
#include <Vgtx980_cosim_driver_smk_pkg.h>
#include <Vgtx980_cosim_planner.h>
#include <Vgtx980_cosim_profile.h>
#include <Vgtx980_cosim_profiler.h>
#include <Vgtx980_cosim_sample.h>
#include <Vgtx980_cosim_scheduler.h>
#include <Vgtx980_cosim_tables.h>
#include <Vgtx980_cosim_tables___024root.h>
#include <Vgtx980_cosim_usage.h>
#include <gtx980_profile.h>
#include <gtx980_scheduler.h>

#include "cosim/rtl_config.h"

namespace smk {

SMK_RTL_CONFIG(RtlGtx980, gtx980, gtx980);
struct LanesGtx980 : RtlGtx980 {
  using SchedulerLanes = lanes::Gtx980Scheduler;
  using ProfileLanes = lanes::Gtx980Profile;
};

}  // namespace smk
