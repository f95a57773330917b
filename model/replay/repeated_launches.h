// SPDX-License-Identifier: Apache-2.0
// A host scheduler for runs that measure rates.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/host_scheduler.h"

namespace smk {

// Job i in kernel slot i, in launches of sizes[i] TBs, 0: as many as are left; each as soon as the
// one before is done. For at most as many jobs as slots.
std::unique_ptr<HostScheduler> MakeRepeatedLaunches(std::vector<std::uint32_t> sizes);

}  // namespace smk
