// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/text_table.h"
#include "run/runner.h"
#include "sweep/damage.h"
#include "sweep/export.h"
#include "sweep/runner.h"
#include "sweep/selection.h"
#include "sweep/slurm.h"
#include "sweep/store.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;

constexpr StoreOptions kReading = {false, false, true};

void List(const SweepPlan& plan, const std::vector<std::size_t>& runs, const std::string& path) {
  std::map<std::string, RunState> states;
  std::set<std::string> damaged;
  std::error_code ignored;
  if (fs::exists(path) && fs::file_size(path, ignored) != 0) {
    SweepStore store(path, kReading);
    states = store.States();
    for (const std::string& run : DamagedRuns(&store.database())) damaged.insert(run);
  }
  TextTable table({"run", "workload", "mix", "policy", "machine", "control", "cycles", "seed",
                   "state", "settings"},
                  {0, 1, 2, 3, 4, 5, 8, 9});
  std::size_t isolated = 0;
  for (const std::size_t index : runs) {
    const SweepRun& run = plan.runs[index];
    isolated += run.is_isolated() ? 1 : 0;
    const std::string host = run.stream && !run.is_isolated() ? run.stream->scheduler + " on " : "";
    const std::string policy = host + run.policy + (run.preempt.empty() ? "" : " " + run.preempt);
    const auto state = states.find(run.id);
    table.Add({run.id, run.workload, run.group, policy, *run.options.machine, *run.options.control,
               *run.options.cycles, *run.options.seed,
               state == states.end()              ? "-"
               : damaged.count(run.id) != 0       ? "damaged"
               : state->second == RunState::kDone ? "done"
                                                  : "failed",
               Join(run.settings, " ")});
  }
  fmt::print("{} runs, {} of them isolated\n\n{}", runs.size(), isolated, table.ToString());
}

// Refuses options that do nothing beside the others.
void CheckOptions(const SweepOptions& o) {
  const int ways = (o.list ? 1 : 0) + (o.export_format.empty() ? 0 : 1) + (o.merge.empty() ? 0 : 1);
  if (ways + (o.slurm ? 1 : 0) > 1) {
    throw InputError("sweep: expected one of --list, --export, --merge and --slurm");
  }
  if (!o.slurm && (o.wait || !o.tasks.empty() || !o.sbatch.empty())) {
    throw InputError("sweep: --wait, --tasks and --sbatch need --slurm");
  }
  if (!o.export_format.empty() && o.export_format != "csv" && o.export_format != "json") {
    throw InputError(fmt::format("--export: expected csv or json, got '{}'", o.export_format));
  }
  if (o.words.Given() && (o.slurm || !o.merge.empty())) {
    throw InputError("sweep: --slurm and --merge take no --set or the like; write a specification");
  }
  if (o.spec.empty() && !o.words.Given() && o.merge.empty() && o.export_format.empty()) {
    throw InputError("sweep: no specification; see smk help sweep");
  }
  if (!o.merge.empty() && !o.spec.empty()) {
    throw InputError("--merge: takes whole databases; expected no SPEC");
  }
  if (o.spec.empty() && o.out.empty()) throw InputError("--out: expected a database");
}

std::string DatabasePath(const SweepOptions& options, const SweepPlan& plan) {
  return options.out.empty() ? plan.name + ".db" : options.out;
}

int Export(const SweepOptions& options, const std::optional<SweepPlan>& plan) {
  SweepStore store(plan ? DatabasePath(options, *plan) : options.out, kReading);
  std::optional<std::vector<std::string>> ids;
  if (plan) {
    ids.emplace();
    for (const std::size_t run : ShardRuns(*plan, options.shard))
      ids->push_back(plan->runs[run].id);
  }
  RefuseDamage(&store.database(), ids);
  (options.export_format == "csv" ? ExportCsv : ExportJson)(&store, ids, stdout);
  return 0;
}

int Merge(const SweepOptions& options) {
  // All of them are there before the first is merged.
  for (const std::string& path : options.merge) {
    std::error_code ignored;
    if (fs::equivalent(path, options.out, ignored)) {
      throw InputError(fmt::format("--merge: {} is the database to merge into", path));
    }
    SweepStore::RequireReadable(path);
  }
  SweepStore store(options.out, {true, options.one_writer});
  RefuseDamage(&store.database());
  std::size_t done = 0, failed = 0;
  std::vector<std::string> conflicts;
  for (const std::string& path : options.merge) {
    const SweepStore::Merged merged = store.Merge(path);
    done += merged.done;
    failed += merged.failed;
    for (const std::string& run : merged.conflicts) conflicts.push_back(run + " of " + path);
  }
  if (!options.quiet) {
    fmt::print("{}: {} results and {} failed runs merged from {} databases\n", options.out, done,
               failed, options.merge.size());
  }
  if (!conflicts.empty()) {
    fmt::print("FAIL: {} runs have two different results, for example {}; the first was kept\n",
               conflicts.size(), conflicts.front());
    return 1;
  }
  fmt::print("PASS\n");
  return 0;
}

// What a disk has changed is made again.
void RemoveDamaged(const SweepPlan& plan, SweepStore* store) {
  for (const std::string& run : store->RemoveDamaged(plan)) {
    fmt::print(stderr, "smk: warning: {}: {} is damaged and is made again\n",
               store->database().path(), run);
  }
}

int MakeRunsBySlurm(const SweepOptions& options, const SweepPlan& plan,
                    const std::vector<std::size_t>& runs, const Backend& backend) {
  SlurmOptions slurm;
  slurm.spec = fs::absolute(options.spec).lexically_normal().string();
  slurm.tasks = options.tasks;
  if (!slurm.tasks.empty()) ParseTasks(slurm.tasks);
  slurm.sbatch = options.sbatch;
  slurm.data_dir = fs::absolute(backend.data_dir).string();
  slurm.retry_failed = options.retry_failed;
  slurm.wait = options.wait;
  slurm.quiet = options.quiet;
  SweepStore store(DatabasePath(options, plan), {true, options.one_writer});
  RemoveDamaged(plan, &store);
  store.SetMembers(plan);
  return SlurmSweep(plan, runs, &store, slurm);
}

int MakeRuns(const SweepOptions& options, const SweepPlan& plan, const Backend& backend) {
  SweepRunnerOptions runner;
  runner.jobs = options.jobs.empty()
                    ? Processors()
                    : static_cast<unsigned>(ParseCount("--jobs", options.jobs, 1, 1024));
  runner.quiet = options.quiet;
  runner.retry_failed = options.retry_failed;
  const std::vector<std::size_t> runs = ShardRuns(plan, options.shard);
  if (options.slurm) return MakeRunsBySlurm(options, plan, runs, backend);
  SweepStore store(DatabasePath(options, plan), {true, options.one_writer});
  RemoveDamaged(plan, &store);
  store.SetMembers(plan);
  if (const std::size_t others = store.OfOtherExecutables(plan); others > 0) {
    fmt::print(stderr, "smk: note: {} results in {} were made by another build of smk\n", others,
               store.database().path());
  }
  const SweepSummary done = RunSweep(plan, runs, backend, &store, runner);
  if (!options.quiet) {
    fmt::print("{}: {} runs: {} made in {:.1f} s, {} there before, {} failed\n",
               store.database().path(), done.runs, done.made, done.seconds, done.before,
               done.failed);
  }
  if (done.failed > 0) {
    fmt::print("FAIL: {} of {} runs failed{}{}; again with --retry-failed\n", done.failed,
               done.runs, done.first_failure.empty() ? "" : ", the first: ", done.first_failure);
    return 1;
  }
  fmt::print("PASS\n");
  return 0;
}

SweepSpec SpecOf(const SweepOptions& options) {
  if (!options.words.Given()) return LoadSweepSpec(options.spec);
  SweepWords words = options.words;
  words.workloads = options.spec;
  return SpecOfWords(words);
}

}  // namespace

int SweepCommand(const Context& context, const SweepOptions& options) {
  CheckOptions(options);
  if (!options.merge.empty()) return Merge(options);
  const Backend backend = RememberingBackend(context.backend);
  std::optional<SweepPlan> plan;
  if (!options.spec.empty() || options.words.Given()) {
    plan = ExpandSweep(SpecOf(options), backend);
    KeepExperiments(options.experiments, &*plan);
    if (!options.runs_file.empty()) KeepListed(options.runs_file, &*plan);
  }
  if (!options.export_format.empty()) return Export(options, plan);
  if (!options.list) return MakeRuns(options, *plan, backend);
  List(*plan, ShardRuns(*plan, options.shard), DatabasePath(options, *plan));
  return 0;
}

}  // namespace smk::sim
