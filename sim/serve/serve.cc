// SPDX-License-Identifier: Apache-2.0
#include "serve/serve.h"

#include <fmt/format.h>

#include "base/csv_table.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/text_table.h"
#include "host/kernel_merge/scheduler.h"
#include "run/host_statistics.h"
#include "serve/kernelet_oracle.h"
#include "serve/spec_keys.h"

namespace smk::sim {
namespace {

constexpr char kDefaultScheduler[] = "in-order";
constexpr char kDefaultMachine[] = "gtx980";
constexpr char kDefaultCycles[] = "1000000000";
constexpr Cycle kMaxReplayCycles = 1'000'000'000'000;

std::string MergedCsv(const std::vector<MergedPair>& pairs) {
  std::string text = "kernel_a,kernel_b,threads,registers,shared_memory,groups\n";
  for (const MergedPair& pair : pairs) {
    text += fmt::format("{},{},{},{},{},{}\n", QuotedCell(pair.a->name),
                        pair.b == nullptr ? "" : QuotedCell(pair.b->name), pair.merged.threads,
                        pair.merged.registers_per_thread, pair.merged.shared_memory,
                        pair.merged.tb_count());
  }
  return text;
}

// What the command line leaves open.
void Complete(const StreamSpec& spec, Options* options) {
  const auto choose = [](std::optional<std::string>* value, const std::optional<std::string>& file,
                         const char* usual) {
    if (!*value) *value = file;
    if (!*value && usual != nullptr) *value = usual;
  };
  choose(&options->machine, spec.machine, kDefaultMachine);
  choose(&options->policy, spec.policy, kStreamPolicy);
  choose(&options->preempt, spec.preempt, nullptr);
  choose(&options->control, spec.control, Name(ControlKind::kReference));
  choose(&options->cycles, spec.cycles, kDefaultCycles);
  choose(&options->seed, spec.seed, "1");
  options->sets = MergeSets(spec.sets, options->sets);
  options->until = Name(RunUntil::kDone);
  options->no_repeat = true;
}

std::string Rounded(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "-";
}

Serving Prepared(StreamSpec spec, Options options, const std::string& scheduler, bool overlap,
                 const Backend& backend, const DeviceOptions& device) {
  Serving serving;
  serving.spec = std::move(spec);
  CheckSets(options, "a stream is run and measured until all its jobs have ended");
  serving.scheduler = ParseScheduler(
      !scheduler.empty() ? scheduler : serving.spec.scheduler.value_or(kDefaultScheduler));
  if (!serving.scheduler.info.streams()) {
    throw InputError(fmt::format(
        "--scheduler {}: is for clients with scripts, [[client.step]]; {} has jobs of workloads",
        serving.scheduler.text, serving.spec.path));
  }
  serving.device = ChooseDevice(device, serving.spec, options, serving.scheduler);
  // The clock says how many cycles a second has.
  const Cycle most = serving.device.kind == DeviceKind::kReplay ? kMaxReplayCycles : kMaxRunCycles;
  const Experiment empty = ResolveStream(options, {}, backend, most);
  serving.jobs = ExpandStream(serving.spec, empty.machine, empty.seed, empty.cycles, backend);
  std::vector<StreamJob> jobs;
  jobs.reserve(serving.jobs.size());
  for (const PlannedJob& planned : serving.jobs) jobs.push_back(planned.job);
  serving.experiment = ResolveStream(options, jobs, backend, most);
  serving.experiment.stream = {serving.spec.name, serving.scheduler.text, Name(serving.device.kind),
                               serving.scheduler.info.make, serving.spec.overlap && overlap};
  serving.policy = ResolvePolicy(*options.policy, options.preempt, serving.experiment);
  if (serving.policy.time_shared) {
    throw InputError("--policy isolated: runs each job alone; expected one under which jobs share");
  }
  serving.options = std::move(options);
  return serving;
}

}  // namespace

Serving PrepareServing(const std::string& path, Options options, const std::string& scheduler,
                       bool overlap, const Backend& backend, const DeviceOptions& device) {
  StreamSpec spec = LoadStreamSpec(path);
  Origins origins = spec.origins;
  ForgetGiven(options, scheduler, device, &origins);
  Complete(spec, &options);
  return origins.At([&] {
    return Prepared(std::move(spec), std::move(options), scheduler, overlap, backend, device);
  });
}

RunnerOptions RunnerOptionsOf(const Serving& serving) {
  RunnerOptions options = MakeRunnerOptions(serving.options);
  if (serving.device.kind == DeviceKind::kReplay) options.cache_folder.clear();
  return options;
}

void PlanScheduler(const Backend& cycle_model, const ProfiledTbs& tbs, Serving* serving,
                   std::map<std::string, std::string>* files) {
  const SchedulerChoice& scheduler = serving->scheduler;
  if (scheduler.info.merges) {
    const KernelMergePlan plan{serving->experiment.machine, scheduler.split};
    std::vector<const Workload*> jobs;
    for (const auto& workload : serving->experiment.workloads) jobs.push_back(workload.get());
    const std::vector<MergedPair> pairs = MergePairs(jobs, plan);
    if (files != nullptr) (*files)["kernel_merge.csv"] = MergedCsv(pairs);
    serving->experiment.stream.make_scheduler = [plan] { return MakeKernelMerge(plan); };
    return;
  }
  if (scheduler.info.pairs == PairSource::kNone) return;
  KerneletRuns runs(cycle_model, serving->experiment, MakeRunnerOptions(serving->options));
  const KerneletProfiles profiles = KerneletProfiler(&runs, tbs).Measure();
  KerneletPlan plan = PlanOf(profiles);
  if (files != nullptr) {
    (*files)["kernelet.csv"] = ProfilesCsv(profiles);
    (*files)["kernelet_pairs.csv"] = PairsCsv(profiles);
  }
  if (scheduler.info.pairs == PairSource::kMeasured) {
    const std::vector<MeasuredPair> pairs = MeasurePairs(profiles, &runs);
    if (files != nullptr) (*files)["kernelet_measured.csv"] = MeasuredCsv(profiles, pairs);
    plan = OraclePlan(profiles, pairs);
  }
  if (scheduler.info.pairs == PairSource::kRandom) plan.random_seed = scheduler.seed;
  serving->experiment.stream.make_scheduler = [plan] { return MakeKernelet(plan); };
}

std::string ServeSummary(const Results& results) {
  const Experiment& e = *results.experiment;
  const StreamTotals totals = TotalsOf(results);
  std::string text = fmt::format(
      "{}: scheduler {}, policy {}, machine {}, {}, {} cycles{}, seed {}\n\n", e.workload_name(),
      e.stream.scheduler, results.policy.name, e.machine.name,
      results.result.from_rates ? "device replay" : fmt::format("control {}", Name(e.control)),
      results.result.cycles, results.result.cut_short ? " (CUT SHORT by --cycles)" : "", e.seed);
  TextTable table({"client", "jobs", "done", "turnaround", "ANTT", "slices", "TBs", "instructions"},
                  {0});
  for (const ClientTotals& client : results.metrics.clients) {
    table.Add({client.name, fmt::to_string(client.jobs), fmt::to_string(client.finished),
               Rounded(client.mean_turnaround), Ratio(client.antt),
               fmt::to_string(client.slices_completed), fmt::to_string(client.tbs_completed),
               fmt::to_string(client.warp_instructions)});
  }
  text += table.ToString();
  text += fmt::format(
      "\nmakespan {} cycles   throughput {} jobs per million cycles   ANTT {}   turnaround {}\n",
      totals.makespan ? fmt::to_string(*totals.makespan) : "-", Ratio(totals.throughput),
      Ratio(results.metrics.antt), Rounded(totals.mean_turnaround));
  text += fmt::format("issue slots used {:.1f} %   {:.0f} simulated cycles/s   {} checks\n",
                      100 * totals.utilisation, results.cycles_per_second(), results.result.checks);
  if (const CopyStats& copies = results.result.copies; copies.copies != 0) {
    text += fmt::format(
        "copies {}: {:.1f} MB in, {:.1f} MB out, {:.1f} % of their time overlapped\n",
        copies.copies, static_cast<double>(copies.in_bytes) / 1e6,
        static_cast<double>(copies.out_bytes) / 1e6, 100 * totals.copy_overlap.value_or(0));
  }
  text += LateReservationsText(results.result);
  if (IsLockstep(e.control)) {
    text += fmt::format("lockstep: {} outputs of RTL and reference compared, no mismatch\n",
                        results.result.lockstep_events);
  }
  return text;
}

}  // namespace smk::sim
