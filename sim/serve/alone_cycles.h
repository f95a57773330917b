// SPDX-License-Identifier: Apache-2.0
// How long a kernel takes when it has the GPU to itself.
//
// Purpose     For host schedulers and clients that know durations of kernels and nothing else: one
//             short run of the cycle model per kernel and number of TBs, kept on disk.
// Use         const RunnerOptions runner = MakeRunnerOptions(options);
//             ReplayDevice device(backend, experiment, MeasureLimits{}, runner);
//             const Cycle cycles = AloneCycles(&device, workload, 0, 448);
// Error       docs/replay.md says how far it is from the cycle model: up to
//             MeasureLimits::cycles, it is what the cycle model has.
#pragma once

#include <cstdint>
#include <memory>

#include "serve/replay_rates.h"

namespace smk::sim {

// Core cycles from the cycle in which the launch is taken until it is done, without the launch
// latency. `launch`: place in Workload::launches; `tbs`: the first TBs of its grid, 0: all. Throws
// InputError for a launch or a number of TBs that the workload does not have.
Cycle AloneCycles(ReplayDevice* device, const std::shared_ptr<const Workload>& workload,
                  std::size_t launch, std::uint32_t tbs = 0);

}  // namespace smk::sim
