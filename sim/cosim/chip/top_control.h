// SPDX-License-Identifier: Apache-2.0
// smk_top behind the seam: the RTL of driver and SMs verilated as one design.
//
// Purpose     For tests: shows that the wiring of smk_top does what RtlControl does with its parts.
//             Everything is evaluated in every cycle in which anything is, so it is slow.
// Errors      CheckFailure when an assertion of the RTL fires.
#pragma once

#include <memory>

#include "control/control_plane.h"

namespace smk {

// On the machines of these configurations. Each is a library of its own: gtx980 takes minutes to
// compile, and is built on demand only.
std::unique_ptr<ControlPlane> MakeSmallTopControl(const PolicyConfig& policy);
// small with 5 relay stations to SM 0 and 2 to SM 1.
std::unique_ptr<ControlPlane> MakeLinkedTopControl(const PolicyConfig& policy);
std::unique_ptr<ControlPlane> MakeGtx980TopControl(const PolicyConfig& policy);

}  // namespace smk
