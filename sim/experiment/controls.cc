// SPDX-License-Identifier: Apache-2.0
#include "experiment/controls.h"

#include <fmt/format.h>

#include "base/error.h"

namespace smk::sim {
namespace {

struct ControlRow {
  ControlKind kind;
  const char* name;
};

constexpr ControlRow kControls[] = {
    {ControlKind::kReference, "reference"},
    {ControlKind::kRtl, "rtl"},
    {ControlKind::kChip, "chip"},
    {ControlKind::kLockstep, "lockstep"},
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
    if (text == row.name) return row.kind;
  }
  throw InputError(
      fmt::format("--control: expected reference, rtl, chip or lockstep, got '{}'", text));
}

}  // namespace smk::sim
