// SPDX-License-Identifier: Apache-2.0
#include "run/slot_jobs.h"

#include <algorithm>
#include <iterator>

namespace smk::sim {

SlotJobs::SlotJobs(const std::vector<LaunchRecord>& launches) {
  for (const LaunchRecord& launch : launches) {
    auto& since = since_.at(Index(launch.slot));
    if (since.empty() || since.back().second != launch.job) {
      since.emplace_back(launch.start, launch.job);
    }
  }
}

std::size_t SlotJobs::At(KernelId slot, Cycle cycle) const {
  const auto& since = since_.at(Index(slot));
  const auto next = std::upper_bound(since.begin(), since.end(), cycle,
                                     [](Cycle at, const auto& entry) { return at < entry.first; });
  return next == since.begin() ? Index(slot) : Index(std::prev(next)->second);
}

}  // namespace smk::sim
