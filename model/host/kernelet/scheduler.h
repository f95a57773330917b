// SPDX-License-Identifier: Apache-2.0
// Kernelet as a host scheduler ([Kernelet] Algorithm 1): slices of two kernels at a time, chosen by
// the performance model, until a kernel comes or ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/host_scheduler.h"
#include "host/kernelet/co_schedule.h"

namespace smk {

// What it knows of the kernels before the run: each was profiled alone.
struct KerneletPlan {
  KerneletMachine machine;
  std::vector<KerneletKernel> kernels;
  // Place in `kernels` of every kernel that a job can launch.
  std::map<const KernelSpec*, std::size_t> places;
  CoScheduleParams params;
  // What is known of pairs, by places in `kernels`, instead of what the model predicts: OPT.
  std::map<std::pair<std::size_t, std::size_t>, SlicePair> known;
  // Any pair in any of its sizes, by this seed, instead of the best: MC.
  std::optional<std::uint64_t> random_seed;
};

// The two kernels have a kernel slot each, so that a slice follows the one before it of its kernel,
// and not that of its partner; one without a partner has both, so that a slice begins while the one
// before it drains [D49]. When the set of pending kernels has changed a pair is chosen
// anew; what runs of the old one ends first. InputError for a plan that cannot be, and in Start()
// for a job with a kernel that the plan does not have.
std::unique_ptr<HostScheduler> MakeKernelet(KerneletPlan plan);

// Every kernel in slices of so many TBs, in every kernel slot that is free: what slicing costs
// [D46].
std::unique_ptr<HostScheduler> MakeSliced(std::uint32_t size);

// Two jobs in slices of so many TBs, each in a kernel slot of its own, as above.
std::unique_ptr<HostScheduler> MakeSlicedPair(std::uint32_t first, std::uint32_t second);

}  // namespace smk
