// SPDX-License-Identifier: Apache-2.0
// Rates from runs of the cycle model: what is run, and what is counted there.
//
// Work        Instructions, by those of a TB: a launch that issues as many as its TBs have is done.
//             They are sampled every 250 cycles.
// Window      Cycles after the warm-up in which all launches of a set were in their kernel slots,
//             and those that feed fed for the first time. Of slices: whole ones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/host_scheduler.h"
#include "machine/run.h"
#include "replay/rates.h"

namespace smk {

// How long is measured.
struct MeasureLimits {
  Cycle cycles = 300'000;  // of a run, at most
  Cycle warm_up = 20'000;  // at its beginning, not counted; at most a quarter of the window
};

// What the runs have in common.
struct MeasureConfig {
  MachineConfig machine;
  PolicyConfig policy;
  bool ideal_preemption = false;
  std::uint64_t seed = 1;
  MeasureLimits limits;
};

// More TBs than the GPU can hold of the kernel: the launch feeds, and then drains.
bool Feeds(const LaunchKind& launch, const MachineConfig& machine);

// The launch alone and once, until it is done: its whole course, when the limit allows.
RunRequest WholeRequest(const MeasureConfig& config, const LaunchKind& launch);
// Of that run, which must not have been cut short.
AloneRate WholeRate(const RunResult& result, const LaunchKind& launch, const MeasureConfig& config);
// Of a run that was cut short: the rate while the launch fed. `shorter`: of a launch that was not.
double FeedingRate(const RunResult& result, const AloneRate& shorter, const MeasureConfig& config);
// A shorter one that drains as the launch does: at the end as many TBs are left over of whole
// waves.
LaunchKind Shortened(const LaunchKind& launch, const MachineConfig& machine);

// The launches together, each in a kernel slot; one that ends begins again with its next TBs.
// `alone`: of each, for the length of the run.
RunRequest SetRequest(const MeasureConfig& config, const std::vector<LaunchKind>& set,
                      const std::vector<AloneRate>& alone);
// Of each; one that issued nothing has its part of what it has alone. By age of slices.
// Nothing when there was no such window.
std::optional<SetRates> RatesOfSet(const RunResult& result, const std::vector<LaunchKind>& set,
                                   const std::vector<AloneRate>& alone,
                                   const MeasureConfig& config);

}  // namespace smk
