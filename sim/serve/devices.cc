// SPDX-License-Identifier: Apache-2.0
#include "serve/devices.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/numbers.h"

namespace smk::sim {
namespace {

constexpr Cycle kLeastRateCycles = 1000, kMostRateCycles = 100'000'000;

DeviceKind ParseDevice(const std::string& text) {
  for (const DeviceKind kind : {DeviceKind::kCycle, DeviceKind::kReplay}) {
    if (text == Name(kind)) return kind;
  }
  throw InputError(fmt::format("--device: expected cycle or replay, got '{}'", text));
}

const std::string& First(const std::string& option, const std::optional<std::string>& file) {
  return option.empty() && file ? *file : option;
}

void CheckReplay(const Options& others, const SchedulerChoice& scheduler) {
  if (scheduler.info.merges) {
    throw InputError(fmt::format(
        "--device replay: has no merged launches; expected --device cycle, or a scheduler other "
        "than {}",
        scheduler.text));
  }
  if (others.control && *others.control != Name(ControlKind::kReference)) {
    throw InputError(fmt::format(
        "--device replay: has no control plane, got --control {}; expected --device cycle",
        *others.control));
  }
  if (others.timeline) {
    throw InputError(
        "--device replay --timeline: has nothing of SMs to draw; expected --device cycle");
  }
}

}  // namespace

const char* Name(DeviceKind kind) { return kind == DeviceKind::kReplay ? "replay" : "cycle"; }

DeviceChoice ChooseDevice(const DeviceOptions& options, const StreamSpec& spec,
                          const Options& others, const SchedulerChoice& scheduler) {
  DeviceChoice choice;
  const std::string& name = First(options.device, spec.device);
  if (!name.empty()) choice.kind = ParseDevice(name);
  const std::string& cycles = First(options.rate_cycles, spec.rate_cycles);
  const std::string& warm_up = First(options.rate_warm_up, spec.rate_warm_up);
  if (choice.kind == DeviceKind::kReplay) {
    CheckReplay(others, scheduler);
  } else if (!options.rate_cycles.empty() || !options.rate_warm_up.empty()) {
    throw InputError("--rate-cycles, --rate-warm-up: need --device replay");
  }
  MeasureLimits& limits = choice.limits;
  if (!cycles.empty()) {
    limits.cycles = ParseCount("--rate-cycles", cycles, kLeastRateCycles, kMostRateCycles);
  }
  limits.warm_up = std::min(limits.warm_up, limits.cycles);
  if (!warm_up.empty()) {
    limits.warm_up = ParseCount("--rate-warm-up", warm_up, 0, limits.cycles);
  }
  return choice;
}

}  // namespace smk::sim
