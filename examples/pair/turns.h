// SPDX-License-Identifier: Apache-2.0
// A scheduler of one's own: what the host launches next is all that it decides.
#pragma once

#include <memory>

#include "host/host_scheduler.h"

namespace pair {

// One launch at a time, of at most `tbs` TBs, and of another job each time.
std::unique_ptr<smk::HostScheduler> MakeTurns(std::uint32_t tbs);

}  // namespace pair
