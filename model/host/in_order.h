// SPDX-License-Identifier: Apache-2.0
// The host as GPUs have it without software that shares them: jobs take kernel slots in the order
// in which they come.
#pragma once

#include <memory>

#include "host/host_scheduler.h"

namespace smk {

// Whole kernels, the job that waits longest first, then the one with the lowest JobId. A job keeps
// its kernel slot until its program has ended; then a job that waits gets it, and one that repeats
// waits behind the others. With at most as many jobs as slots, job i is always in slot i.
std::unique_ptr<HostScheduler> MakeInOrder();

// The same in one kernel slot: one kernel after the other, a program without a pause for others.
std::unique_ptr<HostScheduler> MakeSequential();

}  // namespace smk
