// SPDX-License-Identifier: Apache-2.0
#include "cli/controls.h"

#include <fmt/format.h>

#include "base/error.h"

namespace smk::cli {
namespace {

// One row for each control plane; `built` says whether this version has it.
struct ControlRow {
  ControlKind kind;
  const char* name;
  bool built;
};

constexpr ControlRow kControls[] = {
    {ControlKind::kReference, "reference", true},
    {ControlKind::kRtl, "rtl", false},
    {ControlKind::kLockstep, "lockstep", false},
};

}  // namespace

const char* Name(ControlKind kind) {
  for (const ControlRow& row : kControls) {
    if (row.kind == kind) return row.name;
  }
  return "?";
}

ControlKind ParseControl(std::string_view text) {
  for (const ControlRow& row : kControls) {
    if (text != row.name) continue;
    if (!row.built) {
      throw InputError(fmt::format("--control {}: not built in this version", text));
    }
    return row.kind;
  }
  throw InputError(fmt::format("--control: expected reference, rtl or lockstep, got '{}'", text));
}

}  // namespace smk::cli
