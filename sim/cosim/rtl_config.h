// SPDX-License-Identifier: Apache-2.0
// The names of the verilated classes of one RTL configuration.
#pragma once

// struct Name: configuration `prefix`, which has the SMs of configuration `sm`.
#define SMK_RTL_CONFIG(Name, prefix, sm)              \
  struct Name {                                       \
    static constexpr const char* kName = #prefix;     \
    using Package = V##prefix##_cosim_driver_smk_pkg; \
    using Driver = V##prefix##_cosim_driver;          \
    using Arbiter = V##prefix##_cosim_arbiter;        \
    using Planner = V##prefix##_cosim_planner;        \
    using Profiler = V##prefix##_cosim_profiler;      \
    using Usage = V##prefix##_cosim_usage;            \
    using Tables = V##sm##_cosim_tables;              \
    using Scheduler = V##sm##_cosim_scheduler;        \
    using Profile = V##sm##_cosim_profile;            \
    using Sample = V##sm##_cosim_sample;              \
  }
