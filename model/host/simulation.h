// SPDX-License-Identifier: Apache-2.0
// One whole simulation: host, machine and control plane.
#pragma once

#include <memory>

#include "host/host_scheduler.h"
#include "machine/run.h"

namespace smk {

// Runs one simulation in this process (the SystemC kernel allows one at a time, one after another)
// and returns every statistic. Without a scheduler: that of the request, else in_order.
RunResult RunSimulation(const RunRequest& request, std::unique_ptr<ControlPlane> control,
                        std::unique_ptr<HostScheduler> scheduler = nullptr);

}  // namespace smk
