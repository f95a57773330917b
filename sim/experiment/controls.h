// SPDX-License-Identifier: Apache-2.0
// The control planes by name: what `--control` accepts.
#pragma once

#include <memory>
#include <string_view>

#include "control/control_plane.h"

namespace smk::sim {

enum class ControlKind {
  kReference,  // the C++ classes of the blocks
  kRtl,        // the verilated RTL, in parts that are evaluated when they can change
  kChip,       // the verilated RTL of the whole chip, smk_top, as one model
  kLockstep,   // both, compared in every cycle
};

const char* Name(ControlKind kind);

// Throws InputError for an unknown name, and for a control plane that this version does not have.
ControlKind ParseControl(std::string_view text);

}  // namespace smk::sim
