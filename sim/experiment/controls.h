// SPDX-License-Identifier: Apache-2.0
// The control planes by name: what `--control` accepts.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/control_plane.h"

namespace smk::sim {

enum class ControlKind {
  kReference,  // the C++ classes of the blocks
  kRtl,        // the verilated RTL, in parts that are evaluated when they can change
  kCompiled,   // the same, with schedulers and profile counters as compiled gates
  kChip,       // the verilated RTL of the whole chip, smk_top, as one model
  kLockstep,   // reference and RTL, compared in every cycle
  kLockstepCompiled,
};

const char* Name(ControlKind kind);
const std::vector<ControlKind>& ControlKinds();
constexpr bool IsLockstep(ControlKind kind) {
  return kind == ControlKind::kLockstep || kind == ControlKind::kLockstepCompiled;
}
constexpr bool IsCompiled(ControlKind kind) {
  return kind == ControlKind::kCompiled || kind == ControlKind::kLockstepCompiled;
}
// With the RTL as Verilator makes it, in parts: it has waveforms, and may have gates in it.
constexpr bool IsVerilated(ControlKind kind) {
  return kind == ControlKind::kRtl || kind == ControlKind::kLockstep;
}

// The control plane of a run; most who choose one, or ask for it, know its kind alone.
struct ControlChoice {
  ControlChoice(ControlKind of_kind, std::string of_object = "")
      : kind(of_kind), object(std::move(of_object)) {}
  operator ControlKind() const { return kind; }

  ControlKind kind;
  std::string object;  // rtl, lockstep: a shared object to be taken; "": the usual one
};

// Throws InputError for an unknown name, and for a control plane that this version does not have.
ControlKind ParseControl(std::string_view text);

}  // namespace smk::sim
