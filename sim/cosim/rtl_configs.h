// SPDX-License-Identifier: Apache-2.0
// The verilated classes of each RTL configuration.
#pragma once

#include <Vfermi_cosim_driver.h>
#include <Vfermi_cosim_driver_smk_pkg.h>
#include <Vfermi_cosim_profile.h>
#include <Vfermi_cosim_sample.h>
#include <Vfermi_cosim_scheduler.h>
#include <Vfermi_cosim_tables.h>
#include <Vgtx980_cosim_driver.h>
#include <Vgtx980_cosim_driver_smk_pkg.h>
#include <Vgtx980_cosim_profile.h>
#include <Vgtx980_cosim_sample.h>
#include <Vgtx980_cosim_scheduler.h>
#include <Vgtx980_cosim_tables.h>
#include <Vsmall_cosim_driver.h>
#include <Vsmall_cosim_driver_smk_pkg.h>
#include <Vsmall_cosim_profile.h>
#include <Vsmall_cosim_sample.h>
#include <Vsmall_cosim_scheduler.h>
#include <Vsmall_cosim_tables.h>
#include <Vv100_cosim_driver.h>
#include <Vv100_cosim_driver_smk_pkg.h>

namespace smk {

// `sm` is the configuration whose SMs it has.
#define SMK_RTL_CONFIG(Name, prefix, sm)              \
  struct Name {                                       \
    static constexpr const char* kName = #prefix;     \
    using Package = V##prefix##_cosim_driver_smk_pkg; \
    using Driver = V##prefix##_cosim_driver;          \
    using Tables = V##sm##_cosim_tables;              \
    using Scheduler = V##sm##_cosim_scheduler;        \
    using Profile = V##sm##_cosim_profile;            \
    using Sample = V##sm##_cosim_sample;              \
  }
SMK_RTL_CONFIG(RtlGtx980, gtx980, gtx980);
SMK_RTL_CONFIG(RtlFermi, fermi, fermi);
SMK_RTL_CONFIG(RtlSmall, small, small);
SMK_RTL_CONFIG(RtlV100, v100, gtx980);
#undef SMK_RTL_CONFIG

}  // namespace smk
