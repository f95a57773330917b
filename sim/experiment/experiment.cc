// SPDX-License-Identifier: Apache-2.0
#include "experiment/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/names.h"
#include "base/numbers.h"
#include "cosim/rtl_control.h"
#include "experiment/gates.h"
#include "experiment/kernel_names.h"
#include "experiment/option_texts.h"
#include "experiment/rtl_set.h"
#include "experiment/trace_name.h"
#include "machine/control_config.h"
#include "machine/sm/sm_shape.h"

namespace smk::sim {
namespace {

constexpr char kDefaultMachine[] = "gtx980";
constexpr char kDefaultCycles[] = "2000000";
constexpr std::uint64_t kMaxSeed = ~std::uint64_t{0};

std::vector<std::string> MakeLabels(const std::vector<std::shared_ptr<const Workload>>& workloads) {
  std::vector<std::string> names;
  names.reserve(workloads.size());
  for (const auto& workload : workloads) names.push_back(workload->name);
  return NumberedNames(names);
}

void CheckFits(const Experiment& experiment) {
  const ResourceVector& limits = experiment.machine.sm.limits;
  for (const auto& workload : experiment.workloads) {
    for (const KernelSpec& kernel : workload->kernels) {
      if (FitsIn(kernel.need, limits)) continue;
      throw InputError(
          fmt::format("{}: kernel {}: a TB is larger than an SM of {}: it takes {} of {} register "
                      "units, {} of {} "
                      "shared-memory units, {} of {} warps",
                      workload->source_file, kernel.name, experiment.machine.name,
                      kernel.need.registers, limits.registers, kernel.need.shared_memory,
                      limits.shared_memory, kernel.need.threads, limits.threads));
    }
  }
}

// Those of --set, and the knobs that have an option of their own.
std::vector<std::string> AllSets(const Options& options) {
  std::vector<std::string> sets = options.sets;
  const auto add = [&](const char* option, const char* path, const auto& value) {
    if (!value) return;
    const Knob* knob = FindKnob(path);
    Configuration checked;
    knob->store(option, *value, &checked);
    sets.push_back(fmt::format("{}={}", path, knob->print(checked)));
  };
  add("--until", "run.until", options.until);
  add("--warm-up", "run.warm_up", options.warm_up);
  add("--measure", "run.measure", options.measure);
  return sets;
}

void RequireCompiled(const Experiment& experiment) {
  const std::string control = fmt::format("--control {}", Name(experiment.control));
  const ControlConfig& c = experiment.control_config;
  if (experiment.machine.sm.collectors != 0 && SmShape(experiment.machine.sm).any_shared) {
    throw InputError(fmt::format(
        "{}: the machine {} has operand collectors and pipes that schedulers share (sm.units), and "
        "its SMs cannot be scheduled at once; use --control {}",
        control, experiment.machine.name, IsLockstep(experiment.control) ? "lockstep" : "rtl"));
  }
  if (!HasAnyRtl(c) && BuiltRtl(c, kBuiltCompiled).empty()) {
    throw InputError(fmt::format(
        "{}: there are no compiled gates for {} SMs of the machine {} with {} preempted TBs of a "
        "kernel; they come with the program for unchanged {}; make them with smk rtl build {} "
        "--compiled, and the same --set",
        control, c.num_sms, experiment.machine.name, c.preempted_depth, RtlMachines(),
        experiment.machine.name));
  }
}

void RequireRtl(const Experiment& experiment) {
  const ControlConfig& c = experiment.control_config;
  if (IsCompiled(experiment.control)) return RequireCompiled(experiment);
  if (!experiment.gates.empty()) return;  // made for this run
  if (experiment.control == ControlKind::kChip) return RequireChip(c, experiment.machine.name);
  if (experiment.control == ControlKind::kReference || HasAnyRtl(c) || !BuiltRtl(c).empty()) return;
  throw InputError(fmt::format(
      "--control {}: there is no RTL for {} SMs of the machine {} with {} preempted TBs of a "
      "kernel; it comes with the program for unchanged {}; make it with smk rtl build {}, and the "
      "same --set, or use --control reference",
      Name(experiment.control), c.num_sms, experiment.machine.name, c.preempted_depth,
      RtlMachines(), experiment.machine.name));
}

// Whose results depend on sources that the program was not built from.
std::string NameOfBuiltRtl(const Experiment& experiment) {
  const ControlConfig& c = experiment.control_config;
  if (experiment.control == ControlKind::kReference) return "";
  const bool built = !experiment.gates.empty() || experiment.control == ControlKind::kChip;
  return built || !HasAnyRtl(c) ? RtlName(c) : "";
}

void ResolveGates(const Options& options, Experiment* experiment) {
  if (!options.gates) return;
  if (!IsVerilated(experiment->control)) {
    throw InputError(
        fmt::format("--gates: blocks of the RTL; needs --control rtl or lockstep, not {}",
                    Name(experiment->control)));
  }
  experiment->gates = ParseGates(*options.gates);
}

void CheckMeasured(const Experiment& experiment) {
  const RunConfig& run = experiment.run_config;
  if (run.warm_up == 0 && run.measure == 0) return;
  if (run.until == RunUntil::kWork) {
    throw InputError(
        "run.warm_up, run.measure: expected none with --until work, which counts from the start");
  }
  if (run.warm_up + run.measure > experiment.cycles || run.warm_up == experiment.cycles) {
    throw InputError(
        fmt::format("run.warm_up, run.measure: expected some of the {} cycles to be measured, and "
                    "no others; got {} after {}",
                    experiment.cycles, run.measure, run.warm_up));
  }
}

void ResolveMachine(const Options& options, const Backend& backend, Experiment* experiment) {
  experiment->machine_name = options.machine.value_or(kDefaultMachine);
  experiment->machine_path = backend.find_machine(experiment->machine_name);
  const auto base = LoadMachine(backend, experiment->machine_path, {});
  std::vector<std::string> keys;
  keys.reserve(base->leaves.size());
  for (const auto& leaf : base->leaves) keys.push_back(leaf.first);
  const Settings settings = ParseSettings(AllSets(options), keys);
  experiment->settings = settings.knobs;
  experiment->loaded_machine =
      settings.machine.empty() ? base
                               : LoadMachine(backend, experiment->machine_path, settings.machine);
  experiment->machine = experiment->loaded_machine->config;
  experiment->machine_toml = experiment->loaded_machine->toml;
}

// The workload with grids of fewer TBs, at least one: the largest dimension shrinks first. The
// content hash says so.
std::shared_ptr<const Workload> WithSmallerGrids(const std::shared_ptr<const Workload>& workload,
                                                 std::uint64_t divisor) {
  if (divisor == 1) return workload;
  auto smaller = std::make_shared<Workload>(*workload);
  smaller->content_hash += fmt::format("/{}", divisor);
  for (KernelSpec& kernel : smaller->kernels) {
    std::uint64_t left = divisor;
    std::vector<unsigned*> sizes = {&kernel.grid_x, &kernel.grid_y, &kernel.grid_z};
    std::stable_sort(sizes.begin(), sizes.end(),
                     [](const unsigned* a, const unsigned* b) { return *a > *b; });
    for (unsigned* size : sizes) {
      const auto step = static_cast<unsigned>(std::min<std::uint64_t>(left, *size));
      *size /= step;
      left = (left + step - 1) / step;
    }
  }
  return smaller;
}

// The workload with what its TBs take of an SM of this machine.
std::shared_ptr<const Workload> WithNeedsOn(const SmConfig& sm,
                                            const std::shared_ptr<const Workload>& workload) {
  if (sm.register_allocation == kRegisterAllocations[0]) return workload;
  auto changed = std::make_shared<Workload>(*workload);
  for (KernelSpec& kernel : changed->kernels) {
    kernel.need = TbNeedOn(sm, kernel.threads, kernel.registers_per_thread, kernel.shared_memory);
  }
  return changed;
}

// The streams of a trace that its name asks for. Each is a kernel of the run.
void LoadTraceStreams(const std::string& name, const Options& options, const Backend& backend,
                      Experiment* experiment) {
  const TraceName trace = ParseTraceName(name);
  const TraceSet set =
      backend.load_trace(trace.path, {options.strict, !options.no_cache, options.verify});
  if (trace.stream > set.streams.size()) {
    throw InputError(fmt::format("{}: there are only {} streams", name, set.streams.size()));
  }
  if (!set.warning.empty()) fmt::print(stderr, "smk: warning: {}\n", set.warning);
  for (std::size_t i = 0; i < set.streams.size(); ++i) {
    if (trace.stream != 0 && trace.stream != i + 1) continue;
    const bool all = trace.stream == 0 && set.streams.size() > 1;
    experiment->names.push_back(all ? fmt::format("{}:{}", name, i + 1) : name);
    experiment->workloads.push_back(set.streams[i]);
  }
}

void LoadWorkloads(const Options& options, const Backend& backend, Experiment* experiment) {
  for (const std::string& name : std::exchange(experiment->names, {})) {
    if (IsTraceName(name)) {
      LoadTraceStreams(name, options, backend, experiment);
    } else {
      experiment->names.push_back(name);
      experiment->workloads.push_back(backend.find_workload(name));
    }
  }
  if (experiment->names.size() > kMostJobs) {
    throw InputError(
        fmt::format("kernels: at most {} in a run, and every stream of a trace is one; got {}",
                    kMostJobs, experiment->names.size()));
  }
}

// Everything but the kernels.
Experiment Begin(const Options& options, const Backend& backend, std::vector<std::string> names,
                 Cycle most_cycles) {
  Experiment experiment;
  experiment.cycles =
      ParseCount("--cycles", options.cycles.value_or(kDefaultCycles), 1, most_cycles);
  if (!options.no_cache) experiment.cache = CacheFolder();
  experiment.seed = ParseCount("--seed", options.seed.value_or("1"), 0, kMaxSeed);
  experiment.repeat = !options.no_repeat;
  experiment.control = ParseControl(options.control.value_or(Name(ControlKind::kReference)));
  experiment.names = std::move(names);
  ResolveMachine(options, backend, &experiment);
  Configuration configuration;
  configuration.control = ControlConfigOf(experiment.machine);
  configuration.run = UsualRunConfig(experiment.names);
  Apply(experiment.settings, &configuration);
  experiment.control_config = configuration.control;
  experiment.run_config = configuration.run;
  ResolveGates(options, &experiment);
  RequireRtl(experiment);
  experiment.rtl_name = NameOfBuiltRtl(experiment);
  CheckMeasured(experiment);
  return experiment;
}

// When the kernels are there.
void LabelKernels(Experiment* experiment) {
  for (auto& workload : experiment->workloads) {
    workload = WithSmallerGrids(workload, experiment->run_config.grid_divisor);
    workload = WithNeedsOn(experiment->machine.sm, workload);
  }
  experiment->labels = MakeLabels(experiment->workloads);
  experiment->arrivals.assign(experiment->names.size(), 0);
  experiment->clients.resize(experiment->names.size());
}

// Copies of a job of `whole` that is now `reduced`, where they go with its TBs.
JobCopies Scaled(JobCopies copies, const Workload& whole, const Workload& reduced) {
  if (copies.in_scales) copies.in = BytesOfPart(copies.in, whole, reduced);
  if (copies.out_scales) copies.out = BytesOfPart(copies.out, whole, reduced);
  return copies;
}

void End(const Options& options, Experiment* experiment) {
  ParseTimeline(options, experiment);
  ParseWave(options, experiment);
  CheckFits(*experiment);
}

}  // namespace

std::uint64_t BytesOfPart(std::uint64_t bytes, const Workload& whole, const Workload& part) {
  double tbs = 0, all = 0;
  for (const std::uint16_t kernel : part.launches) {
    tbs += part.kernels[kernel].tb_count();
    all += whole.kernels[kernel].tb_count();
  }
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes) * tbs / all));
}

std::string Experiment::workload_name() const {
  if (!stream.name.empty()) return stream.name;
  std::vector<std::string> parts;
  for (const auto& workload : workloads) parts.push_back(workload->name);
  return Join(parts, "+");
}

void ForgetGiven(const Options& options, Origins* origins) {
  origins->ForgetIf(options.policy || options.policies, "--policy");
  origins->ForgetIf(options.preempt.has_value(), "--preempt");
  origins->ForgetIf(options.control.has_value(), "--control");
  origins->ForgetIf(options.gates.has_value(), "--gates");
  origins->ForgetIf(options.machine.has_value(), "machine");
  origins->ForgetIf(options.cycles.has_value(), "--cycles");
  origins->ForgetIf(options.seed.has_value(), "--seed");
  origins->ForgetIf(!options.arrivals.empty(), "--arrive");
  origins->ForgetIf(!options.clients.empty(), "--client");
  origins->ForgetSets(options.sets);
}

Experiment Resolve(const Options& options, const Backend& backend) {
  if (!options.kernels)
    throw InputError("no kernels given; write for example: smk run cutcp+stencil");
  Experiment experiment = Begin(options, backend, SplitKernels(*options.kernels), kMaxRunCycles);
  LoadWorkloads(options, backend, &experiment);
  LabelKernels(&experiment);
  ParseArrivals(options.arrivals, &experiment);
  ParseClients(options.clients, &experiment);
  End(options, &experiment);
  return experiment;
}

Experiment ResolveStream(const Options& options, const std::vector<StreamJob>& jobs,
                         const Backend& backend, Cycle most_cycles) {
  if (jobs.size() > kMostJobs) {
    throw InputError(fmt::format("jobs: at most {} in a stream; got {}", kMostJobs, jobs.size()));
  }
  std::vector<std::string> names;
  names.reserve(jobs.size());
  for (const StreamJob& job : jobs) names.push_back(job.name);
  Experiment experiment = Begin(options, backend, std::move(names), most_cycles);
  for (const StreamJob& job : jobs) experiment.workloads.push_back(job.workload);
  LabelKernels(&experiment);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    experiment.arrivals[i] = jobs[i].arrival;
    experiment.clients[i] = jobs[i].client;
    experiment.copies.push_back(
        Scaled(jobs[i].copies, *jobs[i].workload, *experiment.workloads[i]));
  }
  End(options, &experiment);
  return experiment;
}

RunConfig UsualRunConfig(const std::vector<std::string>& names) {
  RunConfig config;
  if (std::all_of(names.begin(), names.end(), IsTraceName)) config.until = RunUntil::kDone;
  return config;
}

Configuration InEffect(const Experiment& experiment, const PolicyConfig& policy) {
  return {policy, experiment.control_config, experiment.run_config};
}

Configuration InEffectAlone(const Experiment& experiment) {
  Configuration configuration;
  configuration.policy = FindPolicy("isolated", 1).config;
  configuration.control = experiment.control_config;
  configuration.run = UsualRunConfig(experiment.names);
  for (const KnobSetting& setting : experiment.settings) {
    if (setting.knob->alone) Apply({setting}, &configuration);
  }
  // The work is that of so many cycles.
  if (configuration.run.until == RunUntil::kWork) configuration.run.until = RunUntil::kCycles;
  return configuration;
}

Policy ResolvePolicy(const std::string& text, const std::optional<std::string>& preempt,
                     const Experiment& experiment) {
  Policy policy = FindPolicy(text, experiment.names.size());
  Configuration configuration = InEffect(experiment, policy.config);
  Apply(experiment.settings, &configuration);
  policy.config = configuration.policy;
  if (preempt) {
    policy.config.preempt = ParsePreempt(*preempt);
    CheckPreempt(policy);
  }
  std::vector<const Workload*> workloads;
  for (const auto& workload : experiment.workloads) workloads.push_back(workload.get());
  CheckTable(policy, workloads, experiment.machine.sm.limits);
  CheckTokens(policy);
  return policy;
}

}  // namespace smk::sim
