// SPDX-License-Identifier: Apache-2.0
// The verilated RTL behind the seam.
//
// Purpose     The same interface and the same timing as ReferenceControl: every decision is made by
//             the RTL. Parts are evaluated only in cycles in which they can change.
// Errors      InputError when no RTL configuration fits the machine; CheckFailure when an assertion
//             of the RTL fires.
#pragma once

#include <memory>
#include <string>

#include "base/wave_request.h"
#include "control/control_plane.h"

namespace smk {

struct RtlOptions {
  WaveRequest wave;
  // Where the reason goes when the waveform cannot be ended, which happens with the control plane.
  std::string* wave_failure = nullptr;
  // Evaluate every part in every cycle: for waveforms, and to test that skipping changes nothing.
  bool evaluate_all = false;
};

std::unique_ptr<ControlPlane> MakeRtlControl(const ControlConfig& config,
                                             const PolicyConfig& policy,
                                             const RtlOptions& options = {});

// Whether the RTL is built for this machine.
bool HasRtl(const ControlConfig& config);

// Names of the machines that the RTL is built for, with commas between them. There is one more
// configuration, of tests, which is no machine's.
std::string RtlConfigurations();

}  // namespace smk
