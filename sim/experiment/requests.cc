// SPDX-License-Identifier: Apache-2.0
#include "experiment/requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "machine/lanes.h"

namespace smk::sim {
namespace {

constexpr Cycle kLongerForWork = 10;  // than all isolated runs together

// A run that waits for the programs' ends executes each once.
bool Repeats(const Experiment& experiment, const RunConfig& config) {
  return experiment.repeat && config.until != RunUntil::kDone;
}

void SetMeasured(const RunConfig& config, RunRequest* request) {
  request->measure_from = config.warm_up;
  if (config.measure != 0) request->measure_to = config.warm_up + config.measure;
}

RunRequest BaseRequest(const Experiment& experiment, const Recording& recording) {
  RunRequest request;
  request.machine = experiment.machine;
  request.cycles = experiment.cycles;
  request.seed = experiment.seed;
  request.ideal_preemption = experiment.run_config.ideal_preemption;
  request.record_tbs = recording.tbs;
  request.record_decisions = recording.decisions;
  request.record_timeline = recording.timeline || recording.samples;
  request.timeline_most_steps = kMostSteps;
  if (recording.timeline) {
    request.timeline_from = experiment.timeline_from;
    request.timeline_to = experiment.timeline_to;
    request.timeline_step = experiment.timeline_step;
    request.timeline_most_steps = experiment.timeline_most_steps;
  }
  if (recording.wave) request.wave = experiment.wave;
  return request;
}

void SetCopies(const Experiment& experiment, std::size_t kernel, Job* job) {
  if (experiment.copies.empty()) return;
  job->copy_in = experiment.copies[kernel].in;
  job->copy_out = experiment.copies[kernel].out;
}

// TBs that an SM can hold, of the smallest of the workload's kernels.
std::uint64_t MostResident(const Workload& workload, const ResourceVector& limits) {
  std::uint64_t most = 1;
  for (const KernelSpec& kernel : workload.kernels) {
    most = std::max<std::uint64_t>(most, MaxTbs(kernel.need, limits));
  }
  return most;
}

}  // namespace

Cycle MostCycles(const Experiment& experiment) {
  if (experiment.run_config.until != RunUntil::kWork) return experiment.cycles;
  return std::min(kMaxRunCycles, experiment.cycles * kLongerForWork * experiment.names.size());
}

RunRequest SharedRequest(const Experiment& experiment, const Policy& policy,
                         const Recording& recording) {
  RunRequest request = BaseRequest(experiment, recording);
  request.policy = policy.config;
  request.until = experiment.run_config.until;
  request.scheduler = experiment.stream.make_scheduler;
  request.overlap_copies = experiment.stream.overlap_copies;
  SetMeasured(experiment.run_config, &request);
  request.cycles = MostCycles(experiment);
  const bool repeat = Repeats(experiment, experiment.run_config);
  for (std::size_t i = 0; i < experiment.workloads.size(); ++i) {
    request.jobs.push_back(
        {experiment.workloads[i], experiment.arrivals[i], repeat, experiment.clients[i]});
    SetCopies(experiment, i, &request.jobs.back());
  }
  return request;
}

void SetWork(std::size_t job, const RunResult& alone, RunRequest* request) {
  const KernelStats& did = alone.kernels.at(0);
  if (did.warp_instructions == 0) {
    throw InputError(fmt::format("--until work: {} does nothing when it is alone", did.name));
  }
  const MachineConfig& machine = request->machine;
  const std::uint64_t resident =
      machine.sms * MostResident(*request->jobs.at(job).workload, machine.sm.limits);
  WorkTarget& work = request->jobs[job].work;
  work.warp_instructions = did.warp_instructions;
  // Besides those that were completed, those that the SMs hold, then and at the end of this run.
  work.tbs = did.tbs_completed + 2 * resident;
}

RunRequest IsolatedRequest(const Experiment& experiment, std::size_t kernel,
                           const Recording& recording) {
  RunRequest request = BaseRequest(experiment, recording);
  const Configuration alone = InEffectAlone(experiment);
  request.policy = alone.policy;
  request.until = alone.run.until;
  SetMeasured(alone.run, &request);
  request.ideal_preemption = alone.run.ideal_preemption;
  request.jobs.push_back({experiment.workloads[kernel], 0, Repeats(experiment, alone.run)});
  SetCopies(experiment, kernel, &request.jobs.back());
  return request;
}

std::size_t FirstAlike(const Experiment& experiment, std::size_t job) {
  const auto copies = [&](std::size_t i) {
    return experiment.copies.empty() ? JobCopies{} : experiment.copies[i];
  };
  const Workload& own = *experiment.workloads[job];
  for (std::size_t i = 0; i < job; ++i) {
    const Workload& other = *experiment.workloads[i];
    if (copies(i) == copies(job) && other.name == own.name &&
        other.content_hash == own.content_hash) {
      return i;
    }
  }
  return job;
}

}  // namespace smk::sim
