// SPDX-License-Identifier: Apache-2.0
// What Verilator has made of configuration fermi, and its compiled gates.
#pragma once

#include <Vfermi_cosim_arbiter.h>
#include <Vfermi_cosim_driver.h>
#include <Vfermi_cosim_driver_smk_pkg.h>
#include <Vfermi_cosim_planner.h>
#include <Vfermi_cosim_profile.h>
#include <Vfermi_cosim_profiler.h>
#include <Vfermi_cosim_sample.h>
#include <Vfermi_cosim_scheduler.h>
#include <Vfermi_cosim_tables.h>
#include <Vfermi_cosim_tables___024root.h>
#include <Vfermi_cosim_usage.h>
#include <fermi_profile.h>
#include <fermi_scheduler.h>

#include "cosim/rtl_config.h"

namespace smk {

SMK_RTL_CONFIG(RtlFermi, fermi, fermi);
struct LanesFermi : RtlFermi {
  using SchedulerLanes = lanes::FermiScheduler;
  using ProfileLanes = lanes::FermiProfile;
};

}  // namespace smk
