// SPDX-License-Identifier: Apache-2.0
// The RTL behind the seam with its many equal parts as compiled gates.
//
// Purpose     As RtlControl, but the warp schedulers and profile counters of all SMs are lanes of
//             words, made of Yosys's netlists (docs/lanes.md): as fast as the reference.
// Errors      InputError when the machine is none of those that were compiled; CheckFailure when
//             an assertion fires in the parts that Verilator has made, or when an SM is stepped
//             that was not prepared.
#pragma once

#include <memory>

#include "control/control_plane.h"

namespace smk {

std::unique_ptr<ControlPlane> MakeCompiledControl(const ControlConfig& config,
                                                  const PolicyConfig& policy);

// Whether there are compiled gates for this machine.
bool HasCompiled(const ControlConfig& config);

}  // namespace smk
