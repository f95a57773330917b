// SPDX-License-Identifier: Apache-2.0
// Host: how a launch that was chosen is checked, and begins.
#include <algorithm>
#include <string>

#include "host/host.h"
#include "machine/address_space.h"
#include "machine/run_checks.h"

namespace smk {
namespace {

// Context buffers are a power of two of lines.
std::uint64_t ContextStride(unsigned lines) {
  std::uint64_t stride = kLineBytes;
  while (stride < std::uint64_t{lines} * kLineBytes) stride *= 2;
  return stride;
}

}  // namespace

void Host::FailChoice(const std::string& what) const {
  RunChecks::Fail(view_.now, RunChecks::kNoSm,
                  std::string("host scheduler ") + scheduler_->name() + " launches " + what);
}

void Host::Check(const LaunchChoice& choice) const {
  CheckPart(choice.job, choice.slot, choice.tb_count);
  const bool alone = std::none_of(slots_.begin(), slots_.end(),
                                  [](const Slot& slot) { return slot.merged != nullptr; });
  if (!alone) FailChoice("beside a merged launch");
  if (choice.merge != nullptr) CheckMerge(choice);
}

void Host::CheckPart(JobId id, KernelId slot, std::uint32_t tb_count) const {
  const unsigned job = Index(id);
  if (job >= jobs_.size()) FailChoice("job " + std::to_string(job) + ", which does not exist");
  if (!jobs_[job].ready) FailChoice("job " + std::to_string(job) + ", which is not ready");
  if (Index(slot) >= kNumKernels || (view_.free_slots >> Index(slot) & 1) == 0) {
    FailChoice("into kernel slot " + std::to_string(Index(slot)) + ", which is not free");
  }
  if (tb_count == 0 || tb_count > jobs_[job].tbs_left()) {
    FailChoice(std::to_string(tb_count) + " TBs of job " + std::to_string(job) + ", which has " +
               std::to_string(jobs_[job].tbs_left()) + " left");
  }
}

void Host::CheckMerge(const LaunchChoice& choice) const {
  const Merge& merge = *choice.merge;
  const auto busy = [](const Slot& slot) { return slot.busy; };
  if (std::any_of(slots_.begin(), slots_.end(), busy)) FailChoice("a merged launch beside another");
  if (until_ == RunUntil::kWork) FailChoice("a merged launch in a run until equal work");
  if (merge.second) {
    CheckPart(*merge.second, merge.second_slot, merge.second_tb_count);
    if (*merge.second == choice.job) FailChoice("a job merged with itself");
    if (merge.second_slot == choice.slot) FailChoice("two merged kernels into one kernel slot");
  }
  const unsigned threads = merge.groups->threads;
  const bool smaller = jobs_[Index(choice.job)].kernel().threads > threads ||
                       (merge.second && jobs_[Index(*merge.second)].kernel().threads > threads);
  if (smaller) FailChoice("a kernel in groups of fewer threads than it has");
}

void Host::Begin(const LaunchChoice& choice, const KernelDescriptor& descriptor) {
  Launch& launch = launches_[Index(choice.slot)];
  launch = MakeLaunch(choice.job);
  if (choice.merge != nullptr) BeginMerged(choice, descriptor);
  launch.context_base = descriptor.context_base;
  launch.context_lines = ContextLines(launch.spec->need);
  launch.context_stride = ContextStride(launch.context_lines);
  copies_.Account(view_.now, KernelsRun());
  Occupy(choice.job, choice.slot, choice.tb_count);
  if (choice.merge != nullptr && choice.merge->second) {
    Occupy(*choice.merge->second, choice.merge->second_slot, choice.merge->second_tb_count);
  }
}

// The launch is that of the groups. Their queue is where contexts would be saved: a merged launch
// saves none.
void Host::BeginMerged(const LaunchChoice& choice, const KernelDescriptor& descriptor) {
  const Merge& merge = *choice.merge;
  Launch& launch = launches_[Index(choice.slot)];
  std::vector<MergedLaunch::Member> members;
  members.push_back({launch, choice.slot, jobs_[Index(choice.job)].next_tb, choice.tb_count});
  if (merge.second) {
    Launch& second = launches_[Index(merge.second_slot)];
    second = MakeLaunch(*merge.second);
    members.push_back(
        {second, merge.second_slot, jobs_[Index(*merge.second)].next_tb, merge.second_tb_count});
  }
  launch.spec = merge.groups;
  launch.program = merge.groups->program.get();
  launch.warps = (merge.groups->threads + kWarpThreads - 1) / kWarpThreads;
  launch.memory_base = descriptor.context_base;
  auto& merged = slots_[Index(choice.slot)].merged;
  merged = std::make_unique<MergedLaunch>(std::move(members), merge.split, merge.answer_cycles);
  launch.merged = merged.get();
}

// The next one of the job's kernel, but for what depends on its slot.
Launch Host::MakeLaunch(JobId job) {
  const JobState& state = jobs_[Index(job)];
  Progress& progress = progress_[Index(job)];
  const KernelSpec& spec = state.kernel();
  Launch launch;
  launch.spec = &spec;
  launch.program = spec.program.get();
  launch.job = job;
  launch.number = static_cast<std::uint32_t>(++progress.stats.slices_begun);
  launch.warps = (spec.threads + kWarpThreads - 1) / kWarpThreads;
  launch.key = MixHash(progress.key, state.place);
  launch.memory_base = MemoryBase(job);
  return launch;
}

void Host::Occupy(JobId job, KernelId id, std::uint32_t tb_count) {
  JobState& state = jobs_[Index(job)];
  Progress& progress = progress_[Index(job)];
  JobStats& stats = progress.stats;
  stats.start = std::min(stats.start, view_.now);
  stats.slot = id;
  Slot& slot = slots_[Index(id)];
  slot.busy = true;
  slot.launch = {job, id, tb_count, nullptr};
  if (record_) {
    slot.record = records_.size();
    records_.push_back({view_.now, kNever, job, id, state.job->workload->launches[state.place],
                        static_cast<std::uint32_t>(stats.slices_begun), state.next_tb, tb_count});
  }
  state.next_tb += tb_count;
  progress.tbs_launched += tb_count;
  progress.cut = offer_cut_;
  state.ready = state.tbs_left() != 0 && !progress.cut && !progress.work_done;
  ++state.running;
}

}  // namespace smk
