// SPDX-License-Identifier: Apache-2.0
// The configurations, besides the default, that the RTL is built for.
#pragma once

#include "control/control_plane.h"

namespace smk {

inline ControlConfig Fermi() {
  ControlConfig config;
  config.num_schedulers = 2;
  config.warps_per_scheduler = 24;
  config.limits = {128, 192, 48, 8};
  return config;
}

inline ControlConfig V100() {
  ControlConfig config;
  config.num_sms = 80;
  return config;
}

// The smallest.
inline ControlConfig Small() {
  ControlConfig config;
  config.num_sms = 2;
  config.num_kernels = 2;
  config.num_schedulers = 2;
  config.num_kernels = 2;
  config.warps_per_scheduler = 4;
  config.limits = {32, 24, 8, 4};
  config.preempted_depth = 8;
  return config;
}

}  // namespace smk
