// SPDX-License-Identifier: Apache-2.0
#include "run/runner.h"

#include <fmt/format.h>
#include <sched.h>

#include <utility>

#include "base/progress.h"

namespace smk::sim {

unsigned Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

Runner::Runner(const Backend& backend, const Experiment& experiment, RunnerOptions options)
    : backend_(backend),
      experiment_(experiment),
      options_(std::move(options)),
      cache_(options_.cache_folder) {}

RunResult Runner::Simulate(const RunRequest& request) const {
  RunResult result =
      backend_.run(request, experiment_.control_choice(), experiment_.control_config);
  CheckResult(request, &result);
  return result;
}

std::size_t Runner::Representative(std::size_t kernel) const {
  return FirstAlike(experiment_, kernel);
}

std::vector<std::size_t> Runner::LookUp(bool use_cache) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < experiment_.workloads.size(); ++i) {
    if (Representative(i) != i) continue;
    std::optional<RunResult> found;
    if (use_cache) found = cache_.Find(experiment_, i);
    if (found) {
      isolated_[i] = {std::move(*found), true};
    } else {
      missing.push_back(i);
    }
  }
  return missing;
}

void Runner::AddIsolatedTasks(const std::vector<std::size_t>& kernels, const Recording& recording,
                              std::vector<Task>* tasks) const {
  for (const std::size_t kernel : kernels) {
    tasks->push_back({experiment_.workloads[kernel]->name + " alone", [this, kernel, recording] {
                        return Simulate(IsolatedRequest(experiment_, kernel, recording));
                      }});
  }
}

void Runner::Keep(std::size_t kernel, RunResult result) {
  cache_.Store(experiment_, kernel, result);
  isolated_[kernel] = {std::move(result), false};
}

std::vector<RunResult> Runner::InChildren(const std::vector<Task>& tasks) {
  Progress progress(options_.quiet);
  if (!tasks.empty()) progress.Runs(0, tasks.size());
  return RunTasks(tasks, options_.jobs,
                  [&](std::size_t done) { progress.Runs(done, tasks.size()); });
}

RunRequest Runner::Request(const Policy& policy, const Recording& recording) const {
  RunRequest request = SharedRequest(experiment_, policy, recording);
  for (std::size_t i = 0; i < request.jobs.size() && request.until == RunUntil::kWork; ++i) {
    SetWork(i, isolated_.at(Representative(i)).result, &request);
  }
  return request;
}

Results Runner::Baseline(const Policy& policy) const {
  Results results;
  std::vector<RunResult> alone;
  for (std::size_t i = 0; i < experiment_.workloads.size(); ++i) {
    alone.push_back(isolated_.at(Representative(i)).result);
    results.baseline_cycles += alone.back().cycles;
  }
  results.experiment = &experiment_;
  results.policy = policy;
  results.result = MergeBaseline(std::move(alone));
  // An isolated run may be that of another client, from the cache.
  for (std::size_t i = 0; i < experiment_.clients.size(); ++i) {
    if (!experiment_.clients[i].empty()) results.result.jobs.at(i).client = experiment_.clients[i];
  }
  results.metrics = BaselineMetrics(results.result);
  return results;
}

Results Runner::Shared(const Policy& policy, RunResult result) const {
  std::vector<double> ipc;
  Results results;
  for (std::size_t i = 0; i < experiment_.workloads.size(); ++i) {
    const Isolated& isolated = isolated_.at(Representative(i));
    // A job of a stream that has ended did the same work alone: time is what counts. In a merged
    // launch it has executed the scheduler's code as well.
    const KernelStats& alone = isolated.result.kernels.at(0);
    const bool ended = !experiment_.stream.name.empty() && result.jobs.at(i).turnaround() &&
                       isolated.result.jobs.at(0).turnaround();
    ipc.push_back(ended ? result.kernels.at(i).ipc(alone.cycles_present) : Ipc(alone));
    results.isolated_from_cache.push_back(isolated.from_cache);
    const std::vector<JobStats>& jobs = isolated.result.jobs;
    results.isolated_ends.push_back(jobs.empty() ? kNever : jobs[0].end);
  }
  results.experiment = &experiment_;
  results.policy = policy;
  results.metrics = ComputeMetrics(result, ipc);
  results.result = std::move(result);
  return results;
}

Results Runner::Run(const Policy& policy, const Recording& recording) {
  const std::vector<std::size_t> missing = LookUp(!policy.time_shared);
  const bool alone = policy.time_shared && missing.size() == 1;
  Progress progress(options_.quiet);
  const auto here = [&](RunRequest request) {
    request.progress = [&](Cycle done) {
      progress.Cycles(experiment_.workload_name(), done, request.cycles);
    };
    return Simulate(request);
  };
  if (alone) {
    Keep(missing[0], here(IsolatedRequest(experiment_, missing[0], recording)));
  } else {
    std::vector<Task> tasks;
    AddIsolatedTasks(missing, policy.time_shared ? recording : Recording{}, &tasks);
    std::vector<RunResult> results = InChildren(tasks);
    for (std::size_t i = 0; i < missing.size(); ++i) Keep(missing[i], std::move(results[i]));
  }
  if (policy.time_shared) return Baseline(policy);
  return Shared(policy, here(Request(policy, recording)));
}

std::vector<Results> Runner::Compare(const std::vector<Policy>& policies,
                                     const Recording& recording) {
  bool baseline = false;
  for (const Policy& policy : policies) baseline = baseline || policy.time_shared;
  const bool record_baseline =
      baseline && (recording.tbs || recording.decisions || recording.timeline);
  const std::vector<std::size_t> missing = LookUp(!record_baseline);
  std::vector<Task> tasks;
  AddIsolatedTasks(missing, record_baseline ? recording : Recording{}, &tasks);
  // Equal work is known when the isolated runs are.
  std::vector<RunResult> results;
  const bool first = experiment_.run_config.until == RunUntil::kWork;
  if (first) results = InChildren(std::exchange(tasks, {}));
  const auto keep = [&] {
    for (std::size_t i = 0; i < missing.size(); ++i) Keep(missing[i], std::move(results[i]));
  };
  if (first) keep();
  for (const Policy& policy : policies) {
    if (policy.time_shared) continue;
    tasks.push_back(
        {policy.name, [this, policy, recording] { return Simulate(Request(policy, recording)); }});
  }
  results = InChildren(tasks);
  if (!first) keep();
  std::size_t next = first ? 0 : missing.size();
  std::vector<Results> runs;
  runs.reserve(policies.size());
  for (const Policy& policy : policies) {
    runs.push_back(policy.time_shared ? Baseline(policy)
                                      : Shared(policy, std::move(results[next++])));
  }
  return runs;
}

}  // namespace smk::sim
