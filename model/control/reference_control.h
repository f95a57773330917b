// SPDX-License-Identifier: Apache-2.0
// The reference control plane: the C++ twins of the RTL blocks behind the seam.
#pragma once

#include <memory>

#include "control/control_plane.h"

namespace smk {

// Throws InputError unless `config` and `policy` are consistent: limits not zero, at most kMaxSms
// SMs.
void CheckControl(const ControlConfig& config, const PolicyConfig& policy);

// Checks both first.
std::unique_ptr<ControlPlane> MakeReferenceControl(const ControlConfig& config,
                                                   const PolicyConfig& policy);

}  // namespace smk
