// SPDX-License-Identifier: Apache-2.0
#include "replay/repeated_launches.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace smk {
namespace {

// See MakeRepeatedLaunches().
class RepeatedLaunches : public HostScheduler {
 public:
  explicit RepeatedLaunches(std::vector<std::uint32_t> sizes) : sizes_(std::move(sizes)) {}
  const char* name() const override { return "repeated_launches"; }
  void Start(const HostView& view) override {
    if (view.jobs.size() == sizes_.size() && sizes_.size() <= kNumKernels) return;
    throw InputError("launches: expected a kernel slot for each job");
  }
  void OnReady(JobId /*job*/, const HostView& /*view*/) override {}
  void OnDone(const LaunchDone& /*done*/, const HostView& /*view*/) override {}
  std::optional<LaunchChoice> Choose(const HostView& view) override {
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const JobState& job = view.jobs[i];
      if (!job.ready || job.running != 0 || (view.free_slots >> i & 1) == 0) continue;
      const std::uint32_t size = sizes_[i] == 0 ? job.tbs_left() : sizes_[i];
      return LaunchChoice{static_cast<JobId>(i), static_cast<KernelId>(i),
                          std::min(size, job.tbs_left())};
    }
    return std::nullopt;
  }
  Cycle NextEvent() const override { return kNever; }

 private:
  const std::vector<std::uint32_t> sizes_;
};

}  // namespace

std::unique_ptr<HostScheduler> MakeRepeatedLaunches(std::vector<std::uint32_t> sizes) {
  return std::make_unique<RepeatedLaunches>(std::move(sizes));
}

}  // namespace smk
