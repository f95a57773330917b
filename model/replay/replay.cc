// SPDX-License-Identifier: Apache-2.0
#include "replay/replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "base/error.h"
#include "host/host.h"
#include "machine/gpu.h"
#include "machine/lanes.h"
#include "replay/resident_set.h"

namespace smk {
namespace {

void CheckRequest(const RunRequest& request) {
  const auto refuse = [](const std::string& what) {
    throw InputError("--device replay: " + what + "; expected --device cycle");
  };
  if (request.until == RunUntil::kWork) refuse("knows no runs until equal work");
  if (request.measure_from != 0 || request.measure_to != kNever) {
    refuse("measures the whole run only");
  }
  if (!request.wave.path.empty()) refuse("has no waveforms");
}

// One run.
class Replay {
 public:
  Replay(const RunRequest& request, RateSource& rates, HostPort& host)
      : request_(request),
        host_(host),
        checks_(request.jobs.size()),
        set_(request, rates, checks_),
        tbs_(request.jobs.size()),
        instructions_(request.jobs.size()),
        dram_bytes_(request.jobs.size()),
        last_end_(request.jobs.size()) {}

  RunResult Run() {
    while (now_ < request_.cycles && !host_.Finished()) {
      Step();
      if (!host_.Finished()) Jump();
    }
    if (host_.Finished()) ++now_;  // a run has the cycle of its last event
    return Result();
  }

 private:
  void Step() {
    HostInputs in;
    HostOutputs out;
    if (now_ >= host_.NextEvent()) host_.Drive(now_, &in);
    if (in.launch_valid) {
      out.launch_ready = true;
      if (!FitsIn(in.launch.need, request_.machine.sm.limits)) {
        out.launch_error = LaunchError::kTooLarge;
      }
    }
    const KernelMask done = set_.Done();
    for (unsigned slots = done; slots != 0; slots &= slots - 1) {
      Done(static_cast<KernelId>(LowestLane(slots)));
    }
    out.kernel_done = done;
    if (in.launch_valid || done != 0) host_.Observe(now_, in, out);
    if (in.launch_valid) Launch(in);
  }

  void Launch(const HostInputs& in) {
    const ::smk::Launch& launch = host_.launches()[Index(in.launch_kernel)];
    if (launch.merged != nullptr) {
      throw InputError(
          "--device replay: has no merged launches; expected --device cycle, or another scheduler");
    }
    LaunchKind kind;
    kind.workload = request_.jobs[Index(launch.job)].workload;
    kind.kernel = static_cast<std::uint16_t>(launch.spec - kind.workload->kernels.data());
    kind.tbs = in.launch.tb_count;
    kind.whole = kind.tbs == launch.spec->tb_count();
    checks_.Launch(launch.job, in.launch.first_tb, kind.tbs, launch.spec->tb_count(), now_);
    set_.Launch(in.launch_kernel, launch.job, kind, in.launch.first_tb, now_);
  }

  void Done(KernelId slot) {
    const ResidentSet::Ended ended = set_.Take(slot, now_);
    last_end_[Index(ended.job)] = now_;
    Count(ended.job, ended.tbs, ended.work, *ended.alone);
  }

  void Count(JobId job, std::uint32_t tbs, double work, const AloneRate& alone) {
    tbs_[Index(job)] += tbs;
    instructions_[Index(job)] += work * alone.instructions;
    dram_bytes_[Index(job)] += work * alone.dram_bytes;
  }

  // To the next event.
  void Jump() {
    const Cycle event = set_.NextEvent();
    const Cycle host = host_.NextEvent();
    bool waits = false;
    for (unsigned k = 0; k < kNumKernels; ++k) waits = waits || set_.Has(KernelId(k));
    if (waits) checks_.Progress(set_.Progresses() || std::min(host, event) != kNever, now_);
    const Cycle next = std::min({std::max(host, now_ + 1), event, request_.cycles});
    checks_.Time(now_, next);
    set_.Advance(next);
    now_ = next;
  }

  RunResult Result() {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      const auto slot = static_cast<KernelId>(k);
      if (!set_.Has(slot)) continue;
      Count(set_.JobOf(slot), set_.TbsDone(slot), set_.WorkDone(slot), set_.AloneOf(slot));
    }
    RunResult result;
    result.cycles = now_;
    result.measured_from = 0;
    result.from_rates = true;
    for (std::size_t i = 0; i < tbs_.size(); ++i) {
      KernelStats kernel;
      kernel.name = request_.jobs[i].workload->name;
      kernel.tbs_completed = tbs_[i];
      kernel.warp_instructions = static_cast<std::uint64_t>(std::floor(instructions_[i] + 0.5));
      kernel.dram_read_bytes = static_cast<std::uint64_t>(std::floor(dram_bytes_[i] + 0.5));
      kernel.last_tb_end = last_end_[i];
      result.warp_instructions += kernel.warp_instructions;
      result.kernels.push_back(std::move(kernel));
    }
    result.checks = checks_.count();
    return result;
  }

  const RunRequest& request_;
  HostPort& host_;
  ReplayChecks checks_;
  ResidentSet set_;
  std::vector<std::uint64_t> tbs_;  // by job, in launches that are done
  std::vector<double> instructions_, dram_bytes_;
  std::vector<Cycle> last_end_;
  Cycle now_ = 0;
};

// A job that was executed once has all its TBs.
void CheckTbs(const RunRequest& request, RunResult* result) {
  ReplayChecks checks(request.jobs.size());
  for (std::size_t i = 0; i < request.jobs.size(); ++i) {
    if (request.jobs[i].repeat || result->jobs[i].finish == kNever) continue;
    const Workload& workload = *request.jobs[i].workload;
    std::uint64_t tbs = 0;
    for (const std::uint16_t kernel : workload.launches) tbs += workload.kernels[kernel].tb_count();
    checks.Ended(static_cast<JobId>(i), result->kernels[i].tbs_completed, tbs, result->cycles);
  }
  result->checks += checks.count();
}

}  // namespace

RunResult RunReplay(const RunRequest& request, RateSource& rates, HostPort& host) {
  Gpu::Validate(request);
  CheckRequest(request);
  const auto begin = std::chrono::steady_clock::now();
  RunResult result = Replay(request, rates, host).Run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  result.wall_seconds = wall.count();
  return result;
}

RunResult RunReplaySimulation(const RunRequest& request, RateSource& rates,
                              std::unique_ptr<HostScheduler> scheduler) {
  if (scheduler == nullptr && request.scheduler) scheduler = request.scheduler();
  Host host(request, std::move(scheduler));
  RunResult result = RunReplay(request, rates, host);
  host.Finish(&result);
  CheckTbs(request, &result);
  return result;
}

}  // namespace smk
