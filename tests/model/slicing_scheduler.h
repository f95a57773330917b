// SPDX-License-Identifier: Apache-2.0
// A host scheduler for tests: every kernel goes to the GPU in slices.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "host/host_scheduler.h"
#include "machine/lanes.h"

namespace smk {

// Launches slices of the given sizes, one after the other and again from the first, of the job with
// the fewest launches in slots, in the lowest free slot; at least `pause` cycles apart. Slices of
// one kernel may run at the same time.
class SlicingScheduler : public HostScheduler {
 public:
  explicit SlicingScheduler(std::vector<std::uint32_t> sizes, Cycle pause = 0)
      : sizes_(std::move(sizes)), pause_(pause) {}

  const char* name() const override { return "slicing"; }
  void Start(const HostView&) override {}
  void OnReady(JobId, const HostView&) override {}
  void OnDone(const LaunchDone&, const HostView&) override {}
  std::optional<LaunchChoice> Choose(const HostView& view) override {
    waits_ = false;
    const JobState* best = nullptr;
    for (const JobState& job : view.jobs) {
      if (job.ready && (best == nullptr || job.running < best->running)) best = &job;
    }
    if (best == nullptr || view.free_slots == 0) return std::nullopt;
    waits_ = view.now < next_;
    if (waits_) return std::nullopt;
    next_ = view.now + pause_;
    const std::uint32_t size = sizes_[turn_++ % sizes_.size()];
    return LaunchChoice{static_cast<JobId>(best - view.jobs.data()),
                        static_cast<KernelId>(LowestLane(view.free_slots)),
                        std::min(size, best->tbs_left())};
  }
  Cycle NextEvent() const override { return waits_ ? next_ : kNever; }

 private:
  const std::vector<std::uint32_t> sizes_;
  const Cycle pause_;
  std::size_t turn_ = 0;
  Cycle next_ = 0;
  bool waits_ = false;
};

}  // namespace smk
