// SPDX-License-Identifier: Apache-2.0
// Which job was in a kernel slot at a time: for what the hardware says of slots.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "run/results.h"

namespace smk::sim {

// Made of RunResult::launches.
class SlotJobs {
 public:
  explicit SlotJobs(const std::vector<LaunchRecord>& launches);

  // Place in RunResult::kernels of the job that was launched last into the slot, up to that cycle;
  // before the first launch, the one that in_order would put there: of the slot's own number.
  std::size_t At(KernelId slot, Cycle cycle) const;

 private:
  std::array<std::vector<std::pair<Cycle, JobId>>, kNumKernels>
      since_;  // by slot, in order of time
};

// Of the baseline, kernel i is in slot i: they did not share the GPU.
inline SlotJobs SlotJobsOf(const Results& results) {
  return results.policy.time_shared ? SlotJobs({}) : SlotJobs(results.result.launches);
}

}  // namespace smk::sim
