// SPDX-License-Identifier: Apache-2.0
// What Kernelet knows before a stream begins: each kernel's profile, and how the machine's memory
// answers under load ([Kernelet] Algorithm 1, line 4; Sec. 4.1; Sec. 4.3).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/kernelet/scheduler.h"
#include "serve/kernelet_runs.h"

namespace smk::sim {

// Of how many of its first TBs a kernel's profile is taken; empty: of all. One that profiles all
// has its own number [D61].
using ProfiledTbs = std::function<std::uint32_t(const std::shared_ptr<const Workload>& workload,
                                                std::uint16_t kernel)>;

// One kernel alone on the machine.
struct KerneletProfile {
  std::string workload;
  std::string id;                         // of the kernel, for caches
  std::shared_ptr<const Workload> alone;  // with this launch only
  std::uint32_t tbs = 0;                  // of the kernel
  std::uint32_t profiled = 0;             // of the profile: its first
  Cycle cycles = 0;                       // of these, from the first launch to the end
  double ipc = 0;                         // warp instructions per cycle of an SM
  KerneletKernel model;
  double slice_overhead = 0;  // of the smallest slice; 0.02: 2 %
};

struct KerneletProfiles {
  KerneletMachine machine;
  std::vector<KerneletProfile> kernels;
  std::map<const KernelSpec*, std::size_t> places;  // in `kernels`
};

// The plan of a run with these profiles.
KerneletPlan PlanOf(const KerneletProfiles& profiles);
// A row for each kernel.
std::string ProfilesCsv(const KerneletProfiles& profiles);

// A row for each pair of kernels: the balanced sizes, and what is predicted of them.
std::string PairsCsv(const KerneletProfiles& profiles);

class KerneletProfiler {
 public:
  explicit KerneletProfiler(KerneletRuns* runs, ProfiledTbs tbs = {})
      : runs_(*runs), tbs_(std::move(tbs)) {}

  // Of every kernel that a job launches, before the run and in none of its time [D99]. Throws
  // InputError for a trace, whose instructions are not known before it runs, and for a kernel that
  // does not end within the cycles of the run.
  KerneletProfiles Measure();

 private:
  // In slices of so many TBs; 0: whole.
  KerneletRun Alone(const KerneletProfile& profile, std::uint32_t slice) const;
  std::vector<LatencyPoint> Latencies(bool coalesced);
  KerneletMachine MeasureMachine();
  void AddKernels(KerneletProfiles* profiles) const;
  void MeasureKernel(const RunResult& alone, const KerneletMachine& machine,
                     KerneletProfile* profile);

  KerneletRuns& runs_;
  const ProfiledTbs tbs_;
};

}  // namespace smk::sim
