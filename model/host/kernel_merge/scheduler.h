// SPDX-License-Identifier: Apache-2.0
// KernelMerge as a host scheduler ([KernelMerge] Sec. 2): two kernels at a time, merged into one
// launch.
#pragma once

#include <memory>

#include "host/host_scheduler.h"
#include "host/kernel_merge/merge.h"

namespace smk {

// The two kernels that are ready for the longest time, of two jobs, whole; one alone when no other
// is ready. Then the next two. InputError in Start() as from MergePairs().
std::unique_ptr<HostScheduler> MakeKernelMerge(KernelMergePlan plan);

}  // namespace smk
