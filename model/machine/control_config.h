// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/machine_config.h"
#include "control/control_plane.h"

namespace smk {

// The control plane that a machine needs; what no machine file says has its default.
inline ControlConfig ControlConfigOf(const MachineConfig& machine) {
  ControlConfig config;
  config.num_sms = machine.sms;
  config.num_schedulers = machine.sm.schedulers;
  config.warps_per_scheduler = machine.sm.warps_per_scheduler;
  config.limits = machine.sm.limits;
  return config;
}

}  // namespace smk
