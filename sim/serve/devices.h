// SPDX-License-Identifier: Apache-2.0
// What executes a stream of jobs: what `--device` accepts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiment/experiment.h"
#include "replay/measure.h"
#include "serve/schedulers.h"
#include "serve/spec.h"

namespace smk::sim {

enum class DeviceKind : std::uint8_t {
  kCycle,   // the machine model, cycle by cycle
  kReplay,  // rates that it has measured, model/replay
};

const char* Name(DeviceKind kind);

// The options of the command as text; empty: not given.
struct DeviceOptions {
  std::string device, rate_cycles, rate_warm_up;
};

// One that was chosen.
struct DeviceChoice {
  DeviceKind kind = DeviceKind::kCycle;
  MeasureLimits limits;  // of kReplay
};

// Options go before the specification. Throws InputError for an unknown name, for numbers that
// cannot be, and for a scheduler, control plane or timeline that replay does not have.
DeviceChoice ChooseDevice(const DeviceOptions& options, const StreamSpec& spec,
                          const Options& others, const SchedulerChoice& scheduler);

}  // namespace smk::sim
