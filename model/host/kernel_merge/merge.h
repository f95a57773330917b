// SPDX-License-Identifier: Apache-2.0
// The kernel that stands for two ([KernelMerge] Sec. 2.1, 2.4).
#pragma once

#include <cstdint>
#include <vector>

#include "config/machine_config.h"
#include "machine/merged_launch.h"
#include "workload/workload.h"

namespace smk {

// The groups that execute the TBs of both kernels, or of `a` alone when `b` is null. A group needs
// the larger of the kernels' threads, registers per thread (host.merge_registers at least) and
// shared memory; there are as many as the GPU holds at once. Their program is the scheduler's code
// before each TB: an atomic on the queue by one thread, its result for all through shared memory,
// and the spoofing of ids, host.merge_spoof instructions [D54], [D55]. With a queue in hardware
// (host.merge_queue) there is the spoofing only, behind a barrier. Throws InputError when the
// GPU does not hold one group, and for kernels of different sizes of which the smaller has
// barriers, unless barriers count the warps of the TB (host.merge_barrier, Sec. 2.5).
KernelSpec MergedKernel(const KernelSpec& a, const KernelSpec* b, const MachineConfig& machine);

// How many of them the GPU holds at once: S.
unsigned SchedulerGroups(const KernelSpec& merged, const MachineConfig& machine);

struct KernelMergePlan {
  MachineConfig machine;
  MergeSplit split;  // none: all take what comes (work stealing)
};

struct MergedPair {
  const KernelSpec *a = nullptr, *b = nullptr;  // b null: a alone
  KernelSpec merged;
};

// Every kernel of the jobs, alone and with each that it can meet: one of another job. Kernels are
// the same that have the same program. A job's place may be empty. InputError for kernels that
// cannot be merged, and where no group would be left for the second.
std::vector<MergedPair> MergePairs(const std::vector<const Workload*>& jobs,
                                   const KernelMergePlan& plan);

}  // namespace smk
