// SPDX-License-Identifier: Apache-2.0
#include "serve/tenant_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "experiment/requests.h"
#include "run/results.h"
#include "run/run_folder.h"
#include "serve/replay_rates.h"
#include "serve/stream.h"

namespace smk::sim {
namespace {

using gemini::DeviceLaunch;
using gemini::DeviceTenants;
using gemini::Nanoseconds;
using gemini::StepKind;

const TenantKernel* KernelOf(const TenantSpec& spec, std::size_t client, std::size_t step) {
  for (const TenantKernel& kernel : spec.kernels) {
    if (kernel.client == client && kernel.step == step) return &kernel;
  }
  return nullptr;
}

// The client's program: the kernels of its steps in order, each as often as it is launched.
StreamJob JobOf(const TenantSpec& spec, std::size_t client, const Backend& backend) {
  const gemini::ClientScript& script = spec.request.clients[client];
  auto program = std::make_shared<Workload>();
  StreamJob job;
  for (std::size_t i = 0; i < script.steps.size(); ++i) {
    if (script.steps[i].kind != StepKind::kKernels) continue;
    const TenantKernel* kernel = KernelOf(spec, client, i);
    if (kernel == nullptr) {
      throw InputError(fmt::format(
          "client {}: kernel: has no thread blocks; expected workload with --device", script.name));
    }
    const auto workload = Reduced(backend.find_workload(kernel->workload), kernel->size);
    if (program->kernels.empty()) {
      *program = *workload;
      program->kernels.clear();
      program->launches.clear();
      program->content_hash.clear();
      job.name = kernel->workload;
    }
    program->content_hash += fmt::format("{}*{};", workload->content_hash, script.steps[i].count);
    program->launches.insert(program->launches.end(), script.steps[i].count,
                             static_cast<std::uint16_t>(program->kernels.size()));
    program->kernels.push_back(workload->kernels[workload->launches.front()]);
  }
  if (program->kernels.empty()) {
    throw InputError(
        fmt::format("client {}: step: expected a workload with --device", script.name));
  }
  job.workload = program;
  job.client = script.name;
  return job;
}

// What the clients shall and may have, in 1/1024 of the window, where the user has not said it of
// the kernel slots.
void SetShares(const TenantSpec& spec, const Experiment& experiment, Policy* policy) {
  const auto given = [&](const char* path) {
    return std::any_of(experiment.settings.begin(), experiment.settings.end(),
                       [&](const KnobSetting& s) { return s.knob->path == path; });
  };
  const bool requests = !given("policy.token_request"), limits = !given("policy.token_limit");
  // DeviceTenants refuses more.
  const std::size_t clients = std::min<std::size_t>(spec.request.clients.size(), kNumKernels);
  for (std::size_t i = 0; i < clients; ++i) {
    const gemini::ClientScript& client = spec.request.clients[i];
    const auto units = [](std::int64_t share) {
      return static_cast<std::uint16_t>(share * kTokenWhole / gemini::kWhole);
    };
    if (requests) policy->config.token_request[i] = units(client.request);
    if (limits) policy->config.token_limit[i] = units(client.limit);
  }
  CheckTokens(*policy);
}

RunRequest RequestOf(const TenantSpec& spec, const TenantDevice& device,
                     const std::shared_ptr<DeviceTenants>& tenants) {
  Recording recording;
  recording.tbs = device.choice.kind == DeviceKind::kCycle;
  RunRequest request = SharedRequest(device.experiment, device.policy, recording);
  request.until = RunUntil::kCycles;
  for (Job& job : request.jobs) job.repeat = true;
  if (spec.request.duration != gemini::kNeverNs) {
    const Cycle cycles = tenants->CycleOf(spec.request.duration);
    if (cycles > request.cycles) {
      throw InputError(fmt::format("duration: expected at most {} cycles with --device, got {}",
                                   request.cycles, cycles));
    }
    request.cycles = cycles;
  }
  request.scheduler = [tenants] { return DeviceTenants::Speak(tenants); };
  return request;
}

// Time by instruction of the client's kernels alone.
Nanoseconds WorkOf(const TenantSpec& spec, std::size_t client, std::uint64_t instructions) {
  double time = 0, alone = 0;
  for (const TenantKernel& kernel : spec.kernels) {
    if (kernel.client != client) continue;
    const gemini::ClientStep& step = spec.request.clients[client].steps[kernel.step];
    time += static_cast<double>(step.time) * step.count;
    alone += static_cast<double>(kernel.instructions) * step.count;
  }
  if (alone == 0) return 0;
  return static_cast<Nanoseconds>(static_cast<double>(instructions) / alone * time + 0.5);
}

std::vector<Nanoseconds> WaitsOf(const DeviceTenants& tenants, std::size_t client,
                                 const std::vector<TbRecord>& tbs) {
  const std::vector<DeviceLaunch>& launches = tenants.launches(client);
  std::vector<Nanoseconds> first(launches.size(), gemini::kNeverNs);
  for (const TbRecord& tb : tbs) {
    if (Index(tb.job) != client) continue;
    Nanoseconds& began = first.at(tb.launch - 1);
    began = std::min(began, tenants.TimeOf(tb.start));
  }
  std::vector<Nanoseconds> waits;
  Nanoseconds done = 0;  // the launch before
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (first[i] == gemini::kNeverNs) break;
    waits.push_back(first[i] - std::max(launches[i].called, done));
    done = launches[i].done;
  }
  return waits;
}

}  // namespace

TenantDevice PrepareTenantDevice(const TenantSpec& spec, const Options& options,
                                 const DeviceOptions& device, const SchedulerChoice& scheduler,
                                 const Backend& backend) {
  TenantDevice prepared;
  StreamSpec keys;
  keys.device = spec.device;
  keys.rate_cycles = spec.rate_cycles;
  keys.rate_warm_up = spec.rate_warm_up;
  prepared.choice = ChooseDevice(device, keys, options, scheduler);
  std::vector<StreamJob> jobs;
  for (std::size_t i = 0; i < spec.request.clients.size(); ++i) {
    jobs.push_back(JobOf(spec, i, backend));
  }
  prepared.experiment = ResolveStream(options, jobs, backend);
  prepared.experiment.stream = {spec.name, scheduler.text, Name(prepared.choice.kind), {}, true};
  prepared.policy =
      ResolvePolicy(options.policy.value_or(kStreamPolicy), options.preempt, prepared.experiment);
  if (prepared.policy.time_shared) {
    throw InputError(
        "--policy isolated: runs each client alone; expected one under which they share");
  }
  if (prepared.policy.config.dispatch == DispatchMode::kToken) {
    SetShares(spec, prepared.experiment, &prepared.policy);
  }
  // What it refuses is known before anything is measured.
  gemini::TenantRequest request = spec.request;
  for (const TenantKernel& kernel : spec.kernels) {
    request.clients[kernel.client].steps[kernel.step].time = 1;
  }
  static_cast<void>(DeviceTenants(request, prepared.experiment.machine.core_clock_mhz));
  return prepared;
}

DeviceResults RunTenantsOnDevice(const TenantSpec& spec, const TenantDevice& device,
                                 const Options& options, const Backend& backend) {
  const Experiment& e = device.experiment;
  const auto tenants = std::make_shared<DeviceTenants>(spec.request, e.machine.core_clock_mhz);
  const RunRequest request = spec.origins.At([&] { return RequestOf(spec, device, tenants); });
  RunResult run;
  if (device.choice.kind == DeviceKind::kReplay) {
    run = ReplayDevice(backend, e, device.choice.limits, MakeRunnerOptions(options)).Run(request);
  } else {
    run = backend.run(request, e.control_choice(), e.control_config);
  }
  CheckResult(request, &run);
  DeviceResults results;
  results.tenants = tenants->Finish(run.cycles);
  results.cycles = run.cycles;
  results.checks = run.checks;
  results.wall_seconds = run.wall_seconds;
  for (std::size_t i = 0; i < spec.request.clients.size(); ++i) {
    DeviceClient client;
    client.work = WorkOf(spec, i, run.kernels.at(i).warp_instructions);
    client.waits = WaitsOf(*tenants, i, run.tbs);
    if (!run.tokens.empty()) client.tokens = run.tokens.at(i);
    results.clients.push_back(std::move(client));
  }
  return results;
}

}  // namespace smk::sim
