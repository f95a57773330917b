// SPDX-License-Identifier: Apache-2.0
#include "experiment/controls.h"

#include <fmt/format.h>

#include <iterator>

#include "base/error.h"

namespace smk::sim {
namespace {

struct ControlRow {
  ControlKind kind;
  const char* name;
};

constexpr ControlRow kControls[] = {
    {ControlKind::kReference, "reference"}, {ControlKind::kRtl, "rtl"},
    {ControlKind::kCompiled, "compiled"},   {ControlKind::kChip, "chip"},
    {ControlKind::kLockstep, "lockstep"},   {ControlKind::kLockstepCompiled, "lockstep-compiled"},
};

}  // namespace

const char* Name(ControlKind kind) {
  for (const ControlRow& row : kControls) {
    if (row.kind == kind) return row.name;
  }
  return "?";
}

const std::vector<ControlKind>& ControlKinds() {
  static const std::vector<ControlKind> kKinds = [] {
    std::vector<ControlKind> all;
    for (const ControlRow& row : kControls) all.push_back(row.kind);
    return all;
  }();
  return kKinds;
}

ControlKind ParseControl(std::string_view text) {
  for (const ControlRow& row : kControls) {
    if (text == row.name) return row.kind;
  }
  std::string names;
  for (const ControlRow& row : kControls) {
    const bool last = &row + 1 == std::end(kControls);
    names += (names.empty() ? "" : last ? " or " : ", ") + std::string(row.name);
  }
  throw InputError(fmt::format("--control: expected {}, got '{}'", names, text));
}

}  // namespace smk::sim
