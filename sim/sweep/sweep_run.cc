// SPDX-License-Identifier: Apache-2.0
#include "sweep/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/sha256.h"
#include "experiment/model_version.h"
#include "experiment/requests.h"
#include "run/manifest.h"
#include "sweep/mixes.h"

namespace smk::sim {
namespace {

Serving ServingOf(const SweepRun& run, const Backend& backend) {
  Options options = run.options;
  options.quiet = true;
  options.jobs = "1";
  if (!run.is_isolated()) {
    options.policy = run.policy;
    if (!run.preempt.empty()) options.preempt = run.preempt;
  }
  return ServingOf(*run.stream, options, backend);
}

// What decides a run besides kernels, policy and machine.
std::string StreamText(const SweepRun& run, const LoadedRun& loaded) {
  if (!run.stream) return "";
  const SweepStream& stream = *run.stream;
  std::string text = fmt::format("device {}", stream.device);
  if (stream.device == Name(DeviceKind::kReplay)) {
    text += fmt::format(" rates {} {}", loaded.limits.cycles, loaded.limits.warm_up);
  }
  text += stream.alone ? " alone\n"
                       : fmt::format("\nscheduler {} overlap {}\n", stream.scheduler,
                                     loaded.request.overlap_copies);
  for (const Job& job : loaded.request.jobs) {
    text += fmt::format("job of {} copies {} {}\n", stream.alone ? "" : job.client, job.copy_in,
                        job.copy_out);
  }
  return text;
}

bool Copies(const std::vector<Job>& jobs) {
  return std::any_of(jobs.begin(), jobs.end(),
                     [](const Job& job) { return job.copy_in != 0 || job.copy_out != 0; });
}

char TypeLetter(const Workload& workload) {
  return workload.type == "compute" ? 'C' : workload.type == "memory" ? 'M' : '?';
}

// The types of jobs of a stream, each once.
std::string GroupOfJobs(const RunRequest& request) {
  std::set<char> letters;
  for (const Job& job : request.jobs) letters.insert(TypeLetter(*job.workload));
  return MixGroup({letters.begin(), letters.end()});
}

// Machine keys that are not those of the machine's file, then knobs that are not the policy's own
// or the default.
std::vector<std::string> SettingsOf(const LoadedRun& run, const Backend& backend) {
  std::vector<std::string> settings;
  const Experiment& e = run.experiment;
  const auto base = LoadMachine(backend, e.machine_path, {});
  const auto& from = base->leaves;
  const auto& to = e.loaded_machine->leaves;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i >= from.size() || from[i] != to[i]) settings.push_back(to[i].first + "=" + to[i].second);
  }
  const Configuration set = InEffect(e, run.request.policy);
  Configuration usual;
  usual.policy = FindPolicy(run.policy.name, e.names.size()).config;
  usual.run = UsualRunConfig(e.names);
  if (!e.stream.name.empty()) usual.run.until = RunUntil::kDone;
  for (const Knob* knob : SettableKnobs()) {
    const std::string value = knob->print(set);
    if (value != knob->print(usual)) settings.push_back(knob->path + "=" + value);
  }
  return settings;
}

}  // namespace

Serving ServingOf(const SweepStream& stream, const Options& options, const Backend& backend) {
  return PrepareServing(stream.path, options, stream.scheduler, true, backend,
                        {stream.device, "", ""});
}

LoadedRun LoadStream(const SweepRun& run, const Serving& serving) {
  LoadedRun loaded;
  loaded.experiment = serving.experiment;
  if (run.is_isolated()) {
    loaded.policy = ResolvePolicy(run.policy, std::nullopt, serving.experiment);
    loaded.request = IsolatedRequest(serving.experiment, *run.stream->alone, {});
  } else {
    loaded.policy = serving.policy;
    loaded.request = SharedRequest(serving.experiment, serving.policy, {});
  }
  loaded.limits = serving.device.limits;
  return loaded;
}

LoadedRun LoadShared(const SweepRun& run, const Experiment& experiment) {
  const std::optional<std::string> preempt =
      run.preempt.empty() ? std::nullopt : std::optional<std::string>(run.preempt);
  LoadedRun loaded;
  loaded.experiment = experiment;
  loaded.policy = ResolvePolicy(run.policy, preempt, experiment);
  loaded.request = SharedRequest(experiment, loaded.policy, {});
  return loaded;
}

LoadedRun LoadRun(const SweepRun& run, const Backend& backend) {
  if (run.stream) return LoadStream(run, ServingOf(run, backend));
  if (!run.is_isolated()) return LoadShared(run, Resolve(run.options, backend));
  LoadedRun loaded;
  loaded.experiment = Resolve(run.options, backend);
  loaded.policy = ResolvePolicy(run.policy, std::nullopt, loaded.experiment);
  loaded.request = IsolatedRequest(loaded.experiment, 0, {});
  return loaded;
}

std::string RunId(const SweepRun& of, const LoadedRun& run) {
  const RunRequest& r = run.request;
  const Configuration configuration = InEffect(run.experiment, r.policy);
  std::string key =
      fmt::format("model {}\npolicy {} {}\ncontrol {} {}\ncycles {} seed {}\n{}\n{}", kModelVersion,
                  run.policy.name, IdText(configuration, "policy"), Name(run.experiment.control),
                  IdText(configuration, "control"), r.cycles, r.seed, IdText(configuration, "run"),
                  IdOfChanges(configuration));
  // RunRequest::cycles is the most that such a run may take, and has a limit.
  if (r.until == RunUntil::kWork) key += fmt::format("work of {}\n", run.experiment.cycles);
  if (!run.experiment.rtl_name.empty()) key += fmt::format("rtl {}\n", run.experiment.rtl_name);
  for (const Job& job : r.jobs) {
    key += fmt::format("kernel {} {} at {} repeat {}\n", job.workload->name,
                       job.workload->content_hash, job.arrival, job.repeat);
  }
  const std::string& machine = run.experiment.machine_toml;
  const bool host = of.stream && (!of.is_isolated() || Copies(r.jobs));
  return HashText(key + StreamText(of, run) + (host ? machine : WithoutHost(machine)))
      .substr(0, 16);
}

std::string GroupName(const Experiment& experiment) {
  std::string letters;
  for (const auto& workload : experiment.workloads) letters += TypeLetter(*workload);
  return MixGroup(letters);
}

void NameRun(const LoadedRun& loaded, const Backend& backend, SweepRun* run) {
  const bool job = run->stream && run->is_isolated();
  run->group = run->stream ? GroupOfJobs(loaded.request) : GroupName(loaded.experiment);
  run->workload = job ? loaded.request.jobs[0].workload->name : loaded.experiment.workload_name();
  run->settings = SettingsOf(loaded, backend);
}

RunResult RunStreamOf(const SweepRun& run, const Backend& backend) {
  Serving serving = ServingOf(run, backend);
  return RunStream(backend, &serving, run.stream->alone);
}

std::string RunCommandLine(const SweepRun& run) {
  const Options& o = run.options;
  std::vector<std::string> words;
  if (run.stream) {
    words = {"smk",      "serve",           run.stream->path, "--scheduler", run.stream->scheduler,
             "--device", run.stream->device};
    if (!run.is_isolated()) words.insert(words.end(), {"--policy", run.policy});
  } else {
    words = {"smk", "run", *o.kernels, "--policy", run.policy};
  }
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  if (!run.preempt.empty()) add("--preempt", run.preempt);
  add("--machine", *o.machine);
  add("--control", *o.control);
  add("--cycles", *o.cycles);
  add("--seed", *o.seed);
  for (const std::string& arrival : o.arrivals) add("--arrive", arrival);
  for (const std::string& set : run.settings) add("--set", set);
  if (o.no_repeat) words.emplace_back("--no-repeat");
  return CommandLine(words);
}

}  // namespace smk::sim
