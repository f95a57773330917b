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

// The same, but the warp schedulers and profile counters of all SMs are lanes of words, made of
// Yosys's netlists (docs/lanes.md): as fast as the reference. CheckFailure when an SM is stepped
// that was not prepared.
std::unique_ptr<ControlPlane> MakeCompiledControl(const ControlConfig& config,
                                                  const PolicyConfig& policy);

}  // namespace smk
