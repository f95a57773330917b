// SPDX-License-Identifier: Apache-2.0
#include "host/kernelet/scheduler.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "machine/lanes.h"
#include "workload/random.h"

namespace smk {
namespace {

constexpr std::size_t kPair = 2;

std::uint32_t SliceOf(const JobState& job, std::uint32_t size) {
  return std::min(size, job.tbs_left());
}

// See MakeKernelet(). Memory is allocated when a pair is chosen, and not for its slices.
class Kernelet : public HostScheduler {
 public:
  explicit Kernelet(KerneletPlan plan)
      : places_(std::move(plan.places)),
        finder_(plan.machine, std::move(plan.kernels), plan.params),
        random_seed_(plan.random_seed) {
    for (const auto& [kernels, pair] : plan.known) finder_.Set(kernels.first, kernels.second, pair);
  }

  const char* name() const override { return "kernelet"; }

  void Start(const HostView& view) override {
    is_pending_.resize(view.jobs.size());
    pending_.reserve(view.jobs.size());
    kernels_.reserve(view.jobs.size());
    for (const JobState& job : view.jobs) {
      if (job.job == nullptr) continue;
      const Workload& workload = *job.job->workload;
      for (const std::uint16_t number : workload.launches) {
        const KernelSpec& kernel = workload.kernels[number];
        if (places_.count(&kernel) != 0) continue;
        throw InputError("kernelet: kernel " + kernel.name + " was not profiled");
      }
    }
  }

  void OnReady(JobId job, const HostView& /*view*/) override {
    if (is_pending_[Index(job)]) return;
    is_pending_[Index(job)] = true;
    pending_.push_back(job);
    changed_ = true;
  }

  void OnDone(const LaunchDone& done, const HostView& /*view*/) override {
    if (!done.kernel_done || !is_pending_[Index(done.job)]) return;
    is_pending_[Index(done.job)] = false;
    pending_.erase(std::find(pending_.begin(), pending_.end(), done.job));
    changed_ = true;
  }

  std::optional<LaunchChoice> Choose(const HostView& view) override {
    if (changed_) ChoosePair(view);
    const bool alone = pair_[0].has_value() != pair_[1].has_value();
    for (std::size_t i = 0; i < kPair; ++i) {
      const std::optional<Member>& member = alone && !pair_[i] ? pair_[1 - i] : pair_[i];
      if (!member || (view.free_slots >> i & 1) == 0) continue;
      const JobState& job = view.jobs[Index(member->job)];
      // Its last slice is on the GPU, or, in a pair, so is the one before it.
      if (!job.ready || (!alone && job.running != 0)) continue;
      return LaunchChoice{member->job, static_cast<KernelId>(i), SliceOf(job, member->size)};
    }
    return std::nullopt;
  }

  Cycle NextEvent() const override { return kNever; }

 private:
  struct Member {
    JobId job{0};
    std::uint32_t size = 0;  // TBs of a slice
  };

  // FindCoSchedule, of the kernels that have TBs to launch.
  void ChoosePair(const HostView& view) {
    changed_ = false;
    kernels_.clear();
    candidates_.clear();
    for (const JobId job : pending_) {
      if (!view.jobs[Index(job)].ready) continue;
      candidates_.push_back(job);
      kernels_.push_back(places_.at(&view.jobs[Index(job)].kernel()));
    }
    std::array<std::optional<Member>, kPair> next;
    if (!candidates_.empty()) {
      const CoSchedule found = random_seed_
                                   ? finder_.Draw(kernels_, ScrambleBits(*random_seed_ + ++draws_))
                                   : finder_.Find(kernels_);
      next[0] = Member{candidates_[found.first], found.size[0]};
      if (found.second) next[1] = Member{candidates_[*found.second], found.size[1]};
    }
    // Who stays, stays in its slot.
    const auto is = [](const std::optional<Member>& a, const std::optional<Member>& b) {
      return a && b && a->job == b->job;
    };
    const bool alone_in_busy = !next[1] && !is(next[0], pair_[0]) && (view.free_slots & 1) == 0;
    if (is(next[0], pair_[1]) || is(next[1], pair_[0]) || alone_in_busy) {
      std::swap(next[0], next[1]);
    }
    pair_ = next;
  }

  const std::map<const KernelSpec*, std::size_t> places_;
  CoScheduleFinder finder_;
  const std::optional<std::uint64_t> random_seed_;
  std::uint64_t draws_ = 0;
  std::vector<JobId> pending_;                     // R, in the order in which they became ready
  std::vector<bool> is_pending_;                   // by JobId
  bool changed_ = false;                           // R, since the pair was chosen
  std::array<std::optional<Member>, kPair> pair_;  // by kernel slot
  std::vector<JobId> candidates_;                  // of ChoosePair()
  std::vector<std::size_t> kernels_;
};

// See MakeSliced().
class Sliced : public HostScheduler {
 public:
  explicit Sliced(std::uint32_t size) : size_(size) {}
  const char* name() const override { return "sliced"; }
  void Start(const HostView& /*view*/) override {}
  void OnReady(JobId /*job*/, const HostView& /*view*/) override {}
  void OnDone(const LaunchDone& /*done*/, const HostView& /*view*/) override {}
  std::optional<LaunchChoice> Choose(const HostView& view) override {
    const auto job = std::find_if(view.jobs.begin(), view.jobs.end(),
                                  [](const JobState& state) { return state.ready; });
    if (view.free_slots == 0 || job == view.jobs.end()) return std::nullopt;
    return LaunchChoice{static_cast<JobId>(job - view.jobs.begin()),
                        static_cast<KernelId>(LowestLane(view.free_slots)), SliceOf(*job, size_)};
  }
  Cycle NextEvent() const override { return kNever; }

 private:
  const std::uint32_t size_;
};

// See MakeSlicedPair().
class SlicedPair : public HostScheduler {
 public:
  SlicedPair(std::uint32_t first, std::uint32_t second) : sizes_{first, second} {}
  const char* name() const override { return "sliced_pair"; }
  void Start(const HostView& view) override {
    if (view.jobs.size() != kPair) throw InputError("slices: expected two jobs");
  }
  void OnReady(JobId /*job*/, const HostView& /*view*/) override {}
  void OnDone(const LaunchDone& /*done*/, const HostView& /*view*/) override {}
  std::optional<LaunchChoice> Choose(const HostView& view) override {
    for (std::size_t i = 0; i < kPair; ++i) {
      const JobState& job = view.jobs[i];
      if (!job.ready || job.running != 0 || (view.free_slots >> i & 1) == 0) continue;
      return LaunchChoice{static_cast<JobId>(i), static_cast<KernelId>(i), SliceOf(job, sizes_[i])};
    }
    return std::nullopt;
  }
  Cycle NextEvent() const override { return kNever; }

 private:
  const std::array<std::uint32_t, kPair> sizes_;
};

}  // namespace

std::unique_ptr<HostScheduler> MakeKernelet(KerneletPlan plan) {
  return std::make_unique<Kernelet>(std::move(plan));
}

std::unique_ptr<HostScheduler> MakeSliced(std::uint32_t size) {
  if (size == 0) throw InputError("slices: expected at least one TB in each");
  return std::make_unique<Sliced>(size);
}

std::unique_ptr<HostScheduler> MakeSlicedPair(std::uint32_t first, std::uint32_t second) {
  if (first == 0 || second == 0) throw InputError("slices: expected at least one TB in each");
  return std::make_unique<SlicedPair>(first, second);
}

}  // namespace smk
