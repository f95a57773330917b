// SPDX-License-Identifier: Apache-2.0
// The verilated classes of each RTL configuration.
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
#include <Vv100_cosim_arbiter.h>
#include <Vv100_cosim_driver.h>
#include <Vv100_cosim_driver_smk_pkg.h>
#include <Vv100_cosim_planner.h>
#include <Vv100_cosim_profiler.h>
#include <Vv100_cosim_usage.h>

#include "cosim/rtl_config.h"

namespace smk {

SMK_RTL_CONFIG(RtlGtx980, gtx980, gtx980);
SMK_RTL_CONFIG(RtlFermi, fermi, fermi);
SMK_RTL_CONFIG(RtlSmall, small, small);
SMK_RTL_CONFIG(RtlV100, v100, gtx980);

}  // namespace smk
