// SPDX-License-Identifier: Apache-2.0
// The seam between what software decides and the GPU: which launch goes into which kernel slot
// next.
//
// Purpose     HostScheduler is the one interface behind which every policy of the host stands. The
//             host (host.h) keeps the jobs and speaks with the GPU; a scheduler only chooses.
// Timing      In a cycle of interest the host calls OnReady() for each job that can go on from this
//             cycle, by time and then by JobId, and then Choose() once: one launch per cycle. When
//             launches are done, OnDone() follows in the same cycle, by kernel slot.
// Idle        Choose() is called again after OnReady(), after OnDone(), when a slot becomes free,
//             in the cycle after a launch, and in the cycle that NextEvent() names; in no other, so
//             that the machine can jump over idle cycles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "control/messages.h"
#include "machine/merged_launch.h"
#include "machine/run.h"

namespace smk {

// Where a job is. It executes the kernels of its workload one after the other, each in one launch
// or in several slices of consecutive TBs, which may be in several kernel slots at a time.
struct JobState {
  const Job* job = nullptr;
  bool ready = false;          // TBs of its kernel can be launched: it has arrived, and what it
                               // executed before is done
  std::size_t place = 0;       // of its kernel in Workload::launches
  std::uint32_t next_tb = 0;   // first TB of its kernel that no launch has held yet
  std::uint32_t tbs_done = 0;  // TBs of its kernel in launches that are done
  unsigned running = 0;        // its launches in kernel slots

  const KernelSpec& kernel() const {
    return job->workload->kernels[job->workload->launches[place]];
  }
  std::uint32_t tbs_left() const { return kernel().tb_count() - next_tb; }
};

// What a scheduler may look at.
struct HostView {
  Cycle now = 0;
  const std::vector<JobState>& jobs;  // by JobId
  KernelMask free_slots = 0;          // can take a launch in this cycle
};

// What makes a launch a merged one: the TBs of the job, and of a second one, are executed by the
// TBs of another kernel, its groups (machine/merged_launch.h).
struct Merge {
  const KernelSpec* groups = nullptr;  // with what each needs, and as many TBs as there are groups
  std::optional<JobId> second;         // another job; none: the first alone
  KernelId second_slot{0};             // free; nothing is launched into it, but it is taken
  std::uint32_t second_tb_count = 0;
  MergeSplit split;
  unsigned answer_cycles = 0;  // of a queue in hardware; 0: in memory
};

// The next `tb_count` TBs of a job's kernel, from JobState::next_tb on: slices are consecutive, so
// that each TB is launched exactly once.
struct LaunchChoice {
  JobId job{0};
  KernelId slot{0};
  std::uint32_t tb_count = 0;
  const Merge* merge = nullptr;  // stays until the launch is done
};

// A launch whose TBs have all completed.
struct LaunchDone {
  JobId job{0};
  KernelId slot{0};
  bool kernel_done = false;  // no TB of its kernel is left
  bool job_done = false;     // the program has ended; a job that repeats becomes ready again
};

// Contract:
//   - Deterministic: the choices depend on the calls and what they show, on nothing else.
//   - Allocates nothing after Start().
//   - In a run until equal work (RunUntil::kWork) the host may give a launch fewer TBs than it was
//     chosen with; then OnReady() comes when these are done. A job that has done its work is no
//     longer ready, and job_done when its launches are.
//   - Chooses only jobs that are ready, slots that are free and 1 to tbs_left() TBs; anything else
//     ends the run. A launch that is chosen counts as launched.
//   - A merged launch is alone in the kernel slots, with what it merges, so that nobody preempts
//     its groups; not in a run until equal work. OnDone() follows for each of the two jobs.
class HostScheduler {
 public:
  virtual ~HostScheduler() = default;
  // For messages.
  virtual const char* name() const = 0;
  // Once, before anything else.
  virtual void Start(const HostView& view) = 0;
  // The job's next kernel can be launched from this cycle on.
  virtual void OnReady(JobId job, const HostView& view) = 0;
  virtual void OnDone(const LaunchDone& done, const HostView& view) = 0;
  // The launch of this cycle, if there is one.
  virtual std::optional<LaunchChoice> Choose(const HostView& view) = 0;
  // After Choose() gave none: the cycle, after this one, in which to ask again though nothing has
  // happened; kNever if there is none.
  virtual Cycle NextEvent() const = 0;
};

}  // namespace smk
