// SPDX-License-Identifier: Apache-2.0
#include "host/kernel_merge/scheduler.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace smk {
namespace {

// Always these two, so that a launch waits launch_latency for the one before.
constexpr KernelMask kSlots = 3;

// See MakeKernelMerge().
class KernelMerge : public HostScheduler {
 public:
  explicit KernelMerge(KernelMergePlan plan) : plan_(std::move(plan)) {}
  const char* name() const override { return "kernel_merge"; }

  void Start(const HostView& view) override {
    waiting_.reserve(view.jobs.size());
    std::vector<const Workload*> workloads;
    for (const JobState& job : view.jobs) {
      workloads.push_back(job.job == nullptr ? nullptr : job.job->workload.get());
    }
    for (MergedPair& pair : MergePairs(workloads, plan_)) {
      merged_.emplace(KeyOf(pair.a, pair.b), std::move(pair.merged));
    }
  }

  void OnReady(JobId job, const HostView& /*view*/) override { waiting_.push_back(job); }
  void OnDone(const LaunchDone& done, const HostView& /*view*/) override {
    running_ -= done.kernel_done ? 1 : 0;
  }

  std::optional<LaunchChoice> Choose(const HostView& view) override {
    if (running_ != 0 || waiting_.empty() || (view.free_slots & kSlots) != kSlots) {
      return std::nullopt;
    }
    const JobState& first = view.jobs[Index(waiting_[0])];
    merge_ = Merge{};
    if (plan_.machine.host.merge_queue != kMergeQueues[0]) {
      merge_.answer_cycles = plan_.machine.host.merge_queue_latency;
    }
    const KernelSpec* partner = nullptr;
    if (waiting_.size() > 1) {
      const JobState& second = view.jobs[Index(waiting_[1])];
      partner = &second.kernel();
      merge_.second = waiting_[1];
      merge_.second_slot = KernelId{1};
      merge_.second_tb_count = second.tbs_left();
      merge_.split = plan_.split;
    }
    merge_.groups = &Merged(&first.kernel(), partner);
    const LaunchChoice choice{waiting_[0], KernelId{0}, first.tbs_left(), &merge_};
    running_ = merge_.second ? 2 : 1;
    waiting_.erase(waiting_.begin(), waiting_.begin() + running_);
    return choice;
  }

  Cycle NextEvent() const override { return kNever; }

 private:
  // Programs, in any order.
  using Pair = std::pair<const Program*, const Program*>;
  static Pair KeyOf(const KernelSpec* a, const KernelSpec* b) {
    return {a->program.get(), b == nullptr ? nullptr : b->program.get()};
  }
  const KernelSpec& Merged(const KernelSpec* a, const KernelSpec* b) const {
    const auto found = merged_.find(KeyOf(a, b));
    return found != merged_.end() ? found->second : merged_.at(KeyOf(b, a));
  }

  const KernelMergePlan plan_;
  std::map<Pair, KernelSpec> merged_;
  std::vector<JobId> waiting_;  // in the order in which they became ready
  int running_ = 0;             // kernels of the launch
  Merge merge_;                 // of the launch
};

}  // namespace

std::unique_ptr<HostScheduler> MakeKernelMerge(KernelMergePlan plan) {
  return std::make_unique<KernelMerge>(std::move(plan));
}

}  // namespace smk
