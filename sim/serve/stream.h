// SPDX-License-Identifier: Apache-2.0
// The jobs of a stream: when each arrives, and what it executes.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "serve/devices.h"
#include "serve/spec.h"

namespace smk::sim {

// The workload of this name or file; InputError begins with `where`.
std::shared_ptr<const Workload> WorkloadAt(const std::string& where, const std::string& name,
                                           const Backend& backend);

// The workload with the first launches only, and in each kernel the first TBs. Its content hash
// says so.
std::shared_ptr<const Workload> Reduced(const std::shared_ptr<const Workload>& workload,
                                        const JobSize& size);

// Bytes of the job's copies. Those of a workload shrink as the TBs of its launches do.
JobCopies CopiesOf(const Workload& whole, const Workload& reduced, const JobSize& size);

// Arrivals of a Poisson process: `count` cycles in ascending order from `start` on, `mean_gap`
// cycles apart on average. The same for the same seed and name, whatever else is in the stream.
std::vector<Cycle> PoissonArrivals(std::uint64_t seed, const std::string& name, std::size_t count,
                                   Cycle start, double mean_gap);

// A job and what it is made of.
struct PlannedJob {
  StreamJob job;
  JobSize size;
};

// All jobs in the order of their arrivals, and of those that arrive together, of the file. Throws
// InputError for a workload that does not exist, for more jobs than a run takes, for copies that
// the GPU's memory cannot hold, and for an arrival at or after `cycles`.
std::vector<PlannedJob> ExpandStream(const StreamSpec& spec, const MachineConfig& machine,
                                     std::uint64_t seed, Cycle cycles, const Backend& backend);

// The file that makes the same stream again: every job, and what the command was given.
std::string StreamToml(const StreamSpec& spec, const Options& options, const std::string& scheduler,
                       bool overlap, const std::vector<PlannedJob>& jobs,
                       const DeviceChoice& device = {});

}  // namespace smk::sim
