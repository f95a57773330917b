// SPDX-License-Identifier: Apache-2.0
#include "host/host.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "host/in_order.h"
#include "machine/address_space.h"
#include "machine/lanes.h"
#include "machine/run_checks.h"

namespace smk {
namespace {

const char* ErrorText(LaunchError error) {
  switch (error) {
    case LaunchError::kTooLarge:
      return "one thread block needs more than an SM (or the kernel's part of it) has";
    case LaunchError::kSlotBusy:
      return "the kernel slot is busy";
    case LaunchError::kNoTbs:
      return "the grid has no thread blocks";
    case LaunchError::kBadSlot:
      return "the control plane has fewer kernel slots";
    case LaunchError::kNone:
      break;
  }
  return "no reason";
}

}  // namespace

Host::Host(const RunRequest& request, std::unique_ptr<HostScheduler> scheduler)
    : launch_latency_(request.machine.launch_latency),
      measure_from_(request.measure_from),
      measure_to_(request.measure_to),
      record_(request.record_tbs || request.record_decisions || request.record_timeline),
      until_(request.until),
      unfinished_(request.jobs.size()),
      scheduler_(scheduler != nullptr ? std::move(scheduler) : MakeInOrder()),
      jobs_(request.jobs.size()),
      progress_(request.jobs.size()),
      copies_(request) {
  timers_.reserve(jobs_.size());
  std::map<std::string, std::uint64_t> twins;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const Job& job = request.jobs[i];
    // The GPU refuses a request with such a job.
    if (job.workload == nullptr || job.workload->launches.empty()) continue;
    const std::string& name = job.workload->name;
    jobs_[i].job = &job;
    progress_[i].key = ProgramKey(request.seed, name, twins[name]++);
    progress_[i].stats.client = job.client.empty() ? name : job.client;
    progress_[i].stats.arrival = job.arrival;
    Wake(static_cast<JobId>(i), job.arrival);
  }
  scheduler_->Start(view_);
  FindNextEvent();
}

// The job will be ready at that time.
void Host::Wake(JobId job, Cycle at) {
  timers_.emplace_back(at, job);
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
}

void Host::WakeReady() {
  while (!timers_.empty() && timers_.front().first <= view_.now) {
    const JobId job = timers_.front().second;
    std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
    timers_.pop_back();
    // A job with copies is executed once: its first kernel waits for its input.
    const bool arrives = progress_[Index(job)].stats.ready == kNever;
    if (arrives && CopyEngines::HasCopies(*jobs_[Index(job)].job)) {
      copies_.AskIn(job);
    } else {
      SetReady(job);
    }
  }
}

void Host::SetReady(JobId job) {
  JobStats& stats = progress_[Index(job)].stats;
  stats.ready = std::min(stats.ready, view_.now);
  jobs_[Index(job)].ready = true;
  scheduler_->OnReady(job, view_);
}

bool Host::KernelsRun() const {
  return offer_ || std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.busy; });
}

// Ends the copies that have ended, and starts those that can.
void Host::AdvanceCopies() {
  if (!copies_.any()) return;
  copies_.Account(view_.now, KernelsRun());
  // A copy of no bytes ends as it starts.
  for (bool more = true; more;) {
    copies_.Start(view_.now, KernelsRun());
    const std::optional<JobId> out = copies_.TakeOut(view_.now);
    if (out) Finish(*out);
    const std::optional<JobId> in = copies_.TakeIn(view_.now);
    if (in) SetReady(*in);
    more = in || out;
  }
}

void Host::SetFreeSlots() {
  view_.free_slots = 0;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if (!slots_[k].busy && slots_[k].free_at <= view_.now) {
      view_.free_slots |= static_cast<KernelMask>(1u << k);
    }
  }
}

// Nothing happens before the next job becomes ready, the next slot free, or the scheduler wakes.
void Host::FindNextEvent() {
  next_event_ = std::max(std::min(scheduler_->NextEvent(), copies_.NextEvent()), view_.now + 1);
  if (!timers_.empty()) next_event_ = std::min(next_event_, timers_.front().first);
  for (const Slot& slot : slots_) {
    if (!slot.busy && slot.free_at > view_.now) next_event_ = std::min(next_event_, slot.free_at);
  }
}

void Host::Drive(Cycle now, HostInputs* in) {
  view_.now = now;
  if (!offer_) {
    SetFreeSlots();
    WakeReady();
    AdvanceCopies();
    if (copies_.HoldsLaunches()) view_.free_slots = 0;
    offer_ = scheduler_->Choose(view_);
    if (!offer_) {
      FindNextEvent();
      return;
    }
    Check(*offer_);
    const std::uint32_t most = MostTbs(offer_->job);
    offer_cut_ = offer_->tb_count > most;
    if (offer_cut_) offer_->tb_count = most;
  }
  const JobState& state = jobs_[Index(offer_->job)];
  const bool merged = offer_->merge != nullptr;
  const KernelSpec& spec = merged ? *offer_->merge->groups : state.kernel();
  in->launch_valid = true;
  in->launch_kernel = offer_->slot;
  in->launch.need = spec.need;
  in->launch.first_tb = merged ? 0 : state.next_tb;
  in->launch.tb_count = merged ? spec.tb_count() : offer_->tb_count;
  in->launch.context_base = ContextBase(offer_->slot);
  in->launch.idempotent = spec.idempotence != Idempotence::kNo;
}

void Host::Observe(Cycle now, const HostInputs& in, const HostOutputs& out) {
  view_.now = now;
  if (in.launch_valid) {
    next_event_ = now + 1;
    if (out.launch_ready) {
      if (out.launch_error != LaunchError::kNone) Refuse(*offer_, out.launch_error);
      Begin(*offer_, in.launch);
      offer_.reset();
    }
  }
  for (unsigned done = out.kernel_done; done != 0; done &= done - 1) {
    Done(static_cast<KernelId>(LowestLane(done)));
  }
}

void Host::Refuse(const LaunchChoice& choice, LaunchError error) const {
  const JobState& state = jobs_[Index(choice.job)];
  throw InputError(state.job->workload->source_file + ": kernel " + state.kernel().name +
                   " cannot be launched: " + ErrorText(error));
}

// What its work takes, then little by little.
std::uint32_t Host::MostTbs(JobId job) const {
  constexpr std::uint64_t kFew = 64;
  const JobState& state = jobs_[Index(job)];
  const std::uint64_t tbs = until_ == RunUntil::kWork ? state.job->work.tbs : 0;
  const std::uint64_t launched = progress_[Index(job)].tbs_launched;
  if (tbs == 0) return ~std::uint32_t{0};
  const std::uint64_t most = std::max(kFew, tbs - std::min(tbs, launched));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, ~std::uint32_t{0}));
}

void Host::Done(KernelId id) {
  Slot& slot = slots_[Index(id)];
  // The machine ends the run when no launch is in the slot.
  if (!slot.busy) return;
  copies_.Account(view_.now, /*kernels=*/true);
  if (slot.merged == nullptr) return PartDone(id);
  const std::unique_ptr<MergedLaunch> merged = std::move(slot.merged);
  launches_[Index(id)].merged = nullptr;
  if (!merged->complete()) {
    RunChecks::Fail(view_.now, RunChecks::kNoSm, "a merged launch is done, but not all of its TBs");
  }
  for (std::size_t i = 0; i < merged->members(); ++i) PartDone(merged->member(i).slot);
}

void Host::PartDone(KernelId id) {
  Slot& slot = slots_[Index(id)];
  slot.busy = false;
  slot.free_at = view_.now + launch_latency_;
  if (record_) records_[slot.record].end = view_.now;
  const JobId job = slot.launch.job;
  JobState& state = jobs_[Index(job)];
  Progress& progress = progress_[Index(job)];
  ++progress.stats.slices_completed;
  --state.running;
  state.tbs_done += slot.launch.tb_count;
  LaunchDone done{job, id};
  if (progress.work_done) {
    done.kernel_done = done.job_done = state.running == 0;
  } else {
    done.kernel_done = state.tbs_done == state.kernel().tb_count();
    if (done.kernel_done) done.job_done = NextKernel(job);
    if (!done.kernel_done && progress.cut && state.running == 0) {
      Wake(job, view_.now + launch_latency_);
    }
  }
  scheduler_->OnDone(done, view_);
  next_event_ = view_.now + 1;
}

bool Host::NextKernel(JobId job) {
  JobState& state = jobs_[Index(job)];
  Progress& progress = progress_[Index(job)];
  ++progress.stats.kernels_completed;
  progress.kernels_measured += Measured();
  state.next_tb = state.tbs_done = 0;
  state.ready = false;
  const bool ended = ++state.place == state.job->workload->launches.size();
  if (ended) {
    state.place = 0;
    ++progress.stats.executions;
    progress.executions_measured += Measured();
    if (CopyEngines::HasCopies(*state.job)) {
      copies_.AskOut(job);
    } else {
      Finish(job);
    }
  }
  if (!ended || state.job->repeat) Wake(job, view_.now + launch_latency_);
  return ended;
}

void Host::Finish(JobId job) {
  JobStats& stats = progress_[Index(job)].stats;
  if (stats.finish == kNever) {
    stats.finish = view_.now;
    if (until_ == RunUntil::kDone) --unfinished_;
  }
  if (!jobs_[Index(job)].job->repeat) End(job, view_.now);
}

void Host::End(JobId job, Cycle at) {
  progress_[Index(job)].stats.end = at;
  if (until_ == RunUntil::kWork) --unfinished_;
}

void Host::OnWorkDone(JobId job, Cycle end) {
  progress_[Index(job)].work_done = true;
  jobs_[Index(job)].ready = false;
  End(job, end);
}

void Host::Finish(RunResult* result) {
  result->cut_short = until_ != RunUntil::kCycles && !Finished();
  for (std::size_t i = 0; i < progress_.size(); ++i) {
    const JobStats& stats = progress_[i].stats;
    const Cycle begin = std::max(stats.arrival, result->measured_from);
    const Cycle end = std::min({stats.end, result->cycles, result->measured_to});
    KernelStats& kernel = result->kernels.at(i);
    kernel.cycles_present = end > begin ? end - begin : 0;
    kernel.launches_completed = progress_[i].kernels_measured;
    kernel.program_runs = progress_[i].executions_measured;
    result->jobs.push_back(std::move(progress_[i].stats));
  }
  result->launches = std::move(records_);
  copies_.Account(result->cycles, KernelsRun());
  result->copies = copies_.stats();
  if (record_) result->copy_records = copies_.TakeRecords();
}

}  // namespace smk
