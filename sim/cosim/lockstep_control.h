// SPDX-License-Identifier: Apache-2.0
// Reference and RTL side by side.
//
// Purpose     A control plane that runs both and compares every output of every cycle: to the host,
//             to the SMs, the registers between driver and SMs, decisions, quotas, partitions, and
//             who is awake. The machine sees the RTL's. In an ordinary cycle of an SM its outputs
//             are grants and quotas: where both have the short way, both go it.
// Errors      CheckFailure at the first mismatch: cycle, block, SM, signal, expected, seen.
#pragma once

#include <memory>
#include <string>

#include "control/control_plane.h"
#include "control/control_probe.h"

namespace smk {

// What was compared so far.
struct LockstepCounts {
  std::uint64_t cycles = 0;  // cycles in which anything was stepped
  std::uint64_t events = 0;  // outputs compared
  std::uint64_t mismatches = 0;
};

// Both must implement ControlProbe. `counts` may be null, and outlives the control plane.
std::unique_ptr<ControlPlane> MakeLockstepControl(const ControlConfig& config,
                                                  std::unique_ptr<ControlPlane> reference,
                                                  std::unique_ptr<ControlPlane> rtl,
                                                  LockstepCounts* counts);

}  // namespace smk
