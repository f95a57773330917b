// SPDX-License-Identifier: Apache-2.0
// The C++ side of the numbers in rtl/common/smk_pkg.sv. `Package`: the class that Verilator makes
// of it in one configuration.
#pragma once

#include "control/control_plane.h"

namespace smk {

template <typename Package>
ControlConfig ConfigOf() {
  ControlConfig config;
  config.num_sms = Package::NumSms;
  config.num_kernels = Package::NumKernels;
  config.num_schedulers = Package::NumSchedulers;
  config.warps_per_scheduler = Package::WarpsPerScheduler;
  config.limits = {Package::LimitRegisters, Package::LimitSharedMemory, Package::LimitThreads,
                   Package::LimitTbs};
  config.preempted_depth = Package::PreemptedDepth;
  config.num_kernels = Package::NumKernels;
  return config;
}

}  // namespace smk
