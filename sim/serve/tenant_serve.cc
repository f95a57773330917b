// SPDX-License-Identifier: Apache-2.0
#include "serve/tenant_serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/gzip.h"
#include "base/numbers.h"
#include "base/toml_file.h"
#include "run/manifest.h"
#include "serve/spec_keys.h"
#include "serve/stream.h"

namespace smk::sim {
namespace {

using gemini::Control;
using gemini::Nanoseconds;

constexpr char kTenantMachine[] = "v100";
constexpr char kTenantScheduler[] = "gemini";
constexpr char kTenantCycles[] = "1000000000";
constexpr std::size_t kMostArrivals = 10'000'000;
constexpr double kLatestArrival = 1e18;  // nanoseconds

// Options that say how thread blocks are executed, which without a device they are not.
void CheckOptions(const Options& options, bool device) {
  const auto refuse = [](const std::optional<std::string>& value, const std::string& name,
                         const char* expected) {
    if (!value) return;
    throw InputError(fmt::format("{} {}: clients with scripts run kernels of given times; {}", name,
                                 *value, expected));
  };
  constexpr char kDevice[] = "expected --device cycle or replay";
  if (!device) {
    refuse(options.policy, "--policy", kDevice);
    refuse(options.preempt, "--preempt", kDevice);
    refuse(options.control, "--control", kDevice);
  }
  refuse(options.cycles, "--cycles", "expected a duration in the file");
  constexpr char kNone[] = "expected none";
  if (!options.timeline_step.empty()) refuse(options.timeline_step, "--timeline-step", kNone);
  if (options.timeline && !options.timeline->empty()) {
    refuse(options.timeline, "--timeline", kNone);
  }
}

// What runs on a device are made with, where the command line leaves it open.
void CompleteDevice(const TenantSpec& spec, Options* options) {
  if (!options->policy) options->policy = spec.policy;
  if (!options->preempt) options->preempt = spec.preempt;
  if (!options->control) options->control = spec.control;
}

std::string DeviceToml(const TenantServing& serving) {
  if (!serving.device) return "";
  const DeviceChoice& choice = serving.device->choice;
  const Options& options = serving.options;
  std::string text = fmt::format("device = \"{}\"\n", Name(choice.kind));
  if (choice.kind == DeviceKind::kReplay) {
    text += fmt::format("rate_cycles = {}\nrate_warm_up = {}\n", choice.limits.cycles,
                        choice.limits.warm_up);
  }
  const auto line = [&](const char* key, const std::optional<std::string>& value) {
    if (value) text += fmt::format("{} = {}\n", key, TomlText(*value));
  };
  line("policy", options.policy);
  line("preempt", options.preempt);
  line("control", options.control);
  return text;
}

// The workloads that are measured, each once; kernels learn which is theirs.
std::vector<StreamJob> MeasuredJobs(TenantSpec* spec, const Backend& backend) {
  std::vector<StreamJob> jobs;
  for (TenantKernel& kernel : spec->kernels) {
    const auto workload = Reduced(WorkloadAt(kernel.where, kernel.workload, backend), kernel.size);
    const auto same = std::find_if(jobs.begin(), jobs.end(), [&](const StreamJob& job) {
      return job.workload->content_hash == workload->content_hash;
    });
    kernel.measured = static_cast<std::size_t>(same - jobs.begin());
    if (same == jobs.end()) jobs.push_back({kernel.workload, workload, 0, "", {}});
  }
  return jobs;
}

// Times of arrivals from the client's start on: even or drawn, only while its phase is on.
std::vector<Nanoseconds> ArrivalsOf(const TenantSpec& spec, std::size_t place, std::uint64_t seed) {
  const gemini::ClientScript& client = spec.request.clients[place];
  const TenantSpec::Arrivals& rule = spec.arrivals[place];
  const Nanoseconds end = std::min(client.stop, spec.request.duration);
  if (end == gemini::kNeverNs && client.jobs == 0) {
    throw InputError(
        fmt::format("client {}: rate: expected jobs, stop or duration beside it", client.name));
  }
  if (end <= client.start) {
    throw InputError(
        fmt::format("client {}: start: expected a time before the end of the run", client.name));
  }
  const double gap = 1e9 / *rule.rate;
  const double expected =
      end == gemini::kNeverNs ? 0 : static_cast<double>(end - client.start) / gap;
  std::size_t count = client.jobs;
  if (count == 0) {
    if (expected > kMostArrivals / 2.0) {
      throw InputError(fmt::format("client {}: rate: expected at most {} jobs, got {:.0f}",
                                   client.name, kMostArrivals / 2, expected));
    }
    // More than there will be: they are cut at the end.
    count = static_cast<std::size_t>(expected + 10 * std::sqrt(expected) + 10);
  }
  std::vector<Nanoseconds> arrivals;
  // Phases that are off come in between. What is later than any run comes never.
  const auto add = [&](double time) {
    const double period = rule.on != 0 ? std::floor(time / static_cast<double>(rule.on)) : 0;
    if (time + period * static_cast<double>(rule.off) > kLatestArrival) return;
    arrivals.push_back(static_cast<Nanoseconds>(time) +
                       static_cast<Nanoseconds>(period) * rule.off);
  };
  if (rule.poisson) {
    for (const Cycle at : PoissonArrivals(seed, client.name, count, 0, gap)) {
      add(static_cast<double>(at));
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) add(static_cast<double>(i) * gap);
  }
  if (arrivals.size() < client.jobs) {
    throw InputError(fmt::format("client {}: rate: expected {} jobs within {:.0f} s", client.name,
                                 client.jobs, kLatestArrival / 1e9));
  }
  if (client.jobs == 0) {
    arrivals.erase(std::lower_bound(arrivals.begin(), arrivals.end(), end - client.start),
                   arrivals.end());
  }
  return arrivals;
}

void CompleteMemory(const MachineConfig& machine, gemini::MemorySettings* memory) {
  if (memory->bytes == 0) memory->bytes = std::uint64_t{machine.host.memory} << 20;
  memory->bytes_per_us = static_cast<std::uint64_t>(machine.host.copy_bandwidth * 1000 + 0.5);
  memory->latency = static_cast<Nanoseconds>(
      static_cast<double>(machine.host.copy_latency) * 1000 / machine.core_clock_mhz + 0.5);
}

TenantServing Prepared(TenantSpec loaded, Options options, const std::string& scheduler,
                       const Backend& backend, const DeviceOptions& device) {
  TenantServing serving;
  serving.spec = std::move(loaded);
  TenantSpec& spec = serving.spec;
  const bool on_device = !device.device.empty() || spec.device;
  CheckOptions(options, on_device);
  if (on_device) CompleteDevice(spec, &options);
  serving.scheduler =
      ParseScheduler(!scheduler.empty() ? scheduler : spec.scheduler.value_or(kTenantScheduler));
  if (!serving.scheduler.info.control) {
    throw InputError(fmt::format(
        "--scheduler {}: launches jobs of streams; expected one of gemini, static-quota, none, "
        "sequential for clients with scripts",
        serving.scheduler.text));
  }
  if (!options.machine) options.machine = spec.machine.value_or(kTenantMachine);
  if (!options.seed) options.seed = spec.seed.value_or("1");
  options.cycles = kTenantCycles;
  options.until = Name(RunUntil::kDone);
  options.no_repeat = true;
  options.sets = MergeSets(spec.sets, options.sets);
  CheckSets(options, "clients with scripts are measured from the first cycle to the last");
  serving.experiment = ResolveStream(options, MeasuredJobs(&spec, backend), backend);
  gemini::Settings& settings = spec.request.settings;
  settings.control = *serving.scheduler.info.control;
  if (settings.control == Control::kStatic && !spec.revocation_given) settings.revocation = false;
  if (serving.scheduler.quota_ms != 0) {
    settings.quota = static_cast<Nanoseconds>(serving.scheduler.quota_ms) * gemini::kMillisecond;
  }
  CompleteMemory(serving.experiment.machine, &spec.request.memory);
  spec.request.seed = serving.experiment.seed;
  for (std::size_t i = 0; i < spec.request.clients.size(); ++i) {
    if (spec.arrivals[i].rate) {
      spec.request.clients[i].arrivals = ArrivalsOf(spec, i, spec.request.seed);
    }
  }
  if (on_device) {
    serving.device = PrepareTenantDevice(spec, options, device, serving.scheduler, backend);
  }
  serving.options = std::move(options);
  // What is measured has some time; everything else is known to be good before it is.
  gemini::TenantRequest request = spec.request;
  for (const TenantKernel& kernel : spec.kernels) {
    request.clients[kernel.client].steps[kernel.step].time = 1;
  }
  CheckTenants(request);
  return serving;
}

void WriteTimeline(const OutputFolder& folder, const TenantServing& serving,
                   const TenantResults& results) {
  const TenantTimeline timeline = TenantTimelineJson(serving, results.result);
  folder.Write("timeline.json.gz", Gzip(timeline.json));
  if (timeline.cut) {
    fmt::print(stderr, "smk: warning: timeline.json.gz ends at {:.3f} s of {:.3f} s, it is full\n",
               static_cast<double>(*timeline.cut) / 1e9,
               static_cast<double>(results.result.time) / 1e9);
  }
}

}  // namespace

TenantServing PrepareTenants(const std::string& path, Options options, const std::string& scheduler,
                             const Backend& backend, const DeviceOptions& device) {
  TenantSpec spec = LoadTenantSpec(path);
  Origins origins = spec.origins;
  ForgetGiven(options, scheduler, device, &origins);
  return origins.At(
      [&] { return Prepared(std::move(spec), std::move(options), scheduler, backend, device); });
}

void MeasureTenantKernels(const Backend& backend, TenantServing* serving) {
  TenantSpec& spec = serving->spec;
  if (spec.kernels.empty()) return;
  const Experiment& experiment = serving->experiment;
  Runner runner(backend, experiment, MakeRunnerOptions(serving->options));
  const Results alone =
      std::move(runner.Compare({ResolvePolicy("isolated", {}, experiment)}, {}).front());
  for (TenantKernel& kernel : spec.kernels) {
    const std::optional<Cycle> cycles = alone.result.jobs.at(kernel.measured).turnaround();
    if (!cycles) {
      throw InputError(fmt::format("{}: {}: does not end within {} cycles", kernel.where,
                                   kernel.workload, experiment.cycles));
    }
    kernel.instructions = alone.result.kernels.at(kernel.measured).warp_instructions;
    spec.request.clients[kernel.client].steps[kernel.step].time = std::max<Nanoseconds>(
        1, static_cast<Nanoseconds>(
               static_cast<double>(*cycles) * 1000 / experiment.machine.core_clock_mhz + 0.5));
  }
}

namespace {

TenantResults Run(const TenantServing& serving, const Backend& backend) {
  TenantResults results;
  if (serving.device) {
    DeviceResults run = RunTenantsOnDevice(serving.spec, *serving.device, serving.options, backend);
    results.result = std::move(run.tenants);
    results.device = std::move(run.clients);
    results.cycles = run.cycles;
    results.wall_seconds = run.wall_seconds;
    results.checks = run.checks + gemini::CheckTenantResult(serving.spec.request, results.result);
    return results;
  }
  const auto begin = std::chrono::steady_clock::now();
  results.result = gemini::RunTenants(serving.spec.request);
  results.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  results.checks = gemini::CheckTenantResult(serving.spec.request, results.result);
  return results;
}

}  // namespace

TenantResults RunTenantServing(const TenantServing& serving, const Backend& backend) {
  return serving.spec.origins.At([&] { return Run(serving, backend); });
}

void WriteTenants(const OutputFolder& folder, const std::string& command_line,
                  const TenantServing& serving, const TenantResults& results) {
  if (!folder) return;
  folder.Clear();
  folder.Write("config.toml", TenantToml(serving.spec, serving.options, serving.scheduler.text,
                                         serving.experiment.seed, DeviceToml(serving)));
  folder.Write("stats.json", TenantJson(serving, results).dump(2) + "\n");
  folder.Write("tokens.csv", TokensCsv(serving, results.result));
  folder.Write("bursts.csv", BurstsCsv(serving, results.result));
  folder.Write("shares.csv", SharesCsv(serving, results.result));
  folder.Write("shares.svg", SharesSvg(serving, results.result));
  if (serving.options.timeline) WriteTimeline(folder, serving, results);
  folder.Write("manifest.json", ManifestJson(serving.experiment, command_line, "PASS", folder));
}

}  // namespace smk::sim
