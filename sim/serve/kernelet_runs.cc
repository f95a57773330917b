// SPDX-License-Identifier: Apache-2.0
#include "serve/kernelet_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/progress.h"
#include "machine/lanes.h"

namespace smk::sim {

KerneletRuns::KerneletRuns(const Backend& backend, const Experiment& experiment,
                           RunnerOptions options)
    : backend_(backend),
      experiment_(experiment),
      options_(std::move(options)),
      cache_(options_.cache_folder, "profile") {}

RunRequest KerneletRuns::Request(const std::vector<std::shared_ptr<const Workload>>& jobs,
                                 bool repeat) const {
  RunRequest request;
  request.machine = experiment_.machine;
  request.policy = InEffectAlone(experiment_).policy;
  request.cycles = std::min(experiment_.cycles, kMaxRunCycles);
  request.until = repeat ? RunUntil::kCycles : RunUntil::kDone;
  request.seed = experiment_.seed;
  for (const auto& workload : jobs) request.jobs.push_back({workload, 0, repeat});
  return request;
}

std::vector<RunResult> KerneletRuns::Get(const std::vector<KerneletRun>& runs) {
  std::string common = fmt::format("seed {}\n", experiment_.seed);
  const Configuration alone = InEffectAlone(experiment_);
  for (const Knob& knob : Knobs()) {
    if (knob.alone) common += fmt::format("{} {}\n", knob.path, knob.print(alone));
  }
  const auto key = [&](const KerneletRun& run) {
    return fmt::format("kernelet {}\ncycles {}\n{}{}", run.key, run.request.cycles, common,
                       WithoutHost(experiment_.machine_toml));
  };
  std::vector<RunResult> results(runs.size());
  std::vector<std::size_t> missing;
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (std::optional<RunResult> found = cache_.Find(key(runs[i]))) {
      results[i] = std::move(*found);
      continue;
    }
    missing.push_back(i);
    tasks.push_back({runs[i].name, [this, &request = runs[i].request] {
                       RunResult result = backend_.run(request, ControlKind::kReference,
                                                       experiment_.control_config);
                       CheckResult(request, &result);
                       return result;
                     }});
  }
  Progress progress(options_.quiet);
  std::vector<RunResult> made = RunTasks(tasks, options_.jobs, [&](std::size_t done) {
    progress.Line(fmt::format("profiles: {} of {}", done, tasks.size()));
  });
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const KerneletRun& run = runs[missing[i]];
    if (run.request.until == RunUntil::kDone && made[i].cut_short) {
      throw InputError(
          fmt::format("kernelet: {} does not end within {} cycles", run.name, run.request.cycles));
    }
    cache_.Store(key(run), made[i]);
    results[missing[i]] = std::move(made[i]);
  }
  return results;
}

}  // namespace smk::sim
