// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/error.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/runner.h"
#include "cli/sweep_export.h"
#include "cli/sweep_runner.h"
#include "cli/sweep_slurm.h"
#include "cli/sweep_store.h"
#include "cli/text_table.h"

namespace smk::cli {
namespace {

namespace fs = std::filesystem;

void List(const SweepPlan& plan, const std::vector<std::size_t>& runs, const std::string& path) {
  std::map<std::string, RunState> states;
  if (fs::exists(path)) states = SweepStore(path, {}).States();
  TextTable table({"run", "workload", "mix", "policy", "machine", "control", "cycles", "seed",
                   "state", "settings"},
                  {0, 1, 2, 3, 4, 5, 8, 9});
  std::size_t isolated = 0;
  for (const std::size_t index : runs) {
    const SweepRun& run = plan.runs[index];
    isolated += run.is_isolated() ? 1 : 0;
    const std::string policy = run.policy + (run.preempt.empty() ? "" : " " + run.preempt);
    const auto state = states.find(run.id);
    table.Add({run.id, run.workload, run.group, policy, *run.options.machine, *run.options.control,
               *run.options.cycles, *run.options.seed,
               state == states.end()              ? "-"
               : state->second == RunState::kDone ? "done"
                                                  : "failed",
               run.settings});
  }
  fmt::print("{}\n{} runs, {} of them isolated\n", table.ToString(), runs.size(), isolated);
}

}  // namespace

namespace {

// The plan with those members only for which `wanted` holds, and their runs.
template <typename Wanted>
SweepPlan Filtered(const SweepPlan& plan, const Wanted& wanted) {
  SweepPlan kept;
  kept.name = plan.name;
  std::map<std::size_t, std::size_t> moved;
  for (const SweepMember& member : plan.members) {
    if (!wanted(member)) continue;
    const auto [place, added] = moved.emplace(member.run, kept.runs.size());
    if (added) kept.runs.push_back(plan.runs[member.run]);
    kept.members.push_back({member.experiment, place->second});
  }
  return kept;
}

}  // namespace

void KeepListed(const std::string& path, SweepPlan* plan) {
  std::set<std::string> known, listed;
  for (const SweepRun& run : plan->runs) known.insert(run.id);
  std::istringstream in(ReadFile(path));
  unsigned number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (known.count(line) == 0) {
      throw InputError(fmt::format("{}:{}: expected the id of a run of the sweep, got '{}'", path,
                                   number, line));
    }
    listed.insert(line);
  }
  *plan = Filtered(*plan, [&](const SweepMember& member) {
    return listed.count(plan->runs[member.run].id) != 0;
  });
}

void KeepExperiments(const std::vector<std::string>& names, SweepPlan* plan) {
  if (names.empty()) return;
  std::vector<std::string> known;
  for (const SweepMember& member : plan->members) {
    if (known.empty() || known.back() != member.experiment) known.push_back(member.experiment);
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw InputError(fmt::format("--experiment: no '{}' in the specification{} (one of {})", name,
                                 DidYouMean(name, known), Join(known)));
  }
  *plan = Filtered(*plan, [&](const SweepMember& member) {
    return std::find(names.begin(), names.end(), member.experiment) != names.end();
  });
}

std::vector<std::size_t> ShardRuns(const SweepPlan& plan, const std::string& text) {
  std::uint64_t part = 1, parts = 1;
  if (!text.empty()) {
    const std::vector<std::string> numbers = Split(text, '/');
    if (numbers.size() != 2) {
      throw InputError(fmt::format("--shard: expected K/N, part K of N, got '{}'", text));
    }
    parts = ParseCount("--shard: N", numbers[1], 1, 1'000'000);
    part = ParseCount("--shard: K", numbers[0], 1, parts);
  }
  std::vector<std::size_t> runs;
  for (std::size_t i = part - 1; i < plan.runs.size(); i += parts) runs.push_back(i);
  return runs;
}

namespace {

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
  if (o.spec.empty() && o.merge.empty() && o.export_format.empty()) {
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
  SweepStore store(plan ? DatabasePath(options, *plan) : options.out, {});
  std::optional<std::vector<std::string>> ids;
  if (plan) {
    ids.emplace();
    for (const std::size_t run : ShardRuns(*plan, options.shard))
      ids->push_back(plan->runs[run].id);
  }
  (options.export_format == "csv" ? ExportCsv : ExportJson)(&store, ids, stdout);
  return 0;
}

int Merge(const SweepOptions& options) {
  SweepStore store(options.out, {true, options.one_writer});
  std::size_t done = 0, failed = 0;
  std::vector<std::string> conflicts;
  for (const std::string& path : options.merge) {
    std::error_code ignored;
    if (fs::equivalent(path, options.out, ignored)) {
      throw InputError(fmt::format("--merge: {} is the database to merge into", path));
    }
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

}  // namespace

int SweepCommand(const Context& context, const SweepOptions& options) {
  CheckOptions(options);
  if (!options.merge.empty()) return Merge(options);
  const Backend backend = RememberingBackend(context.backend);
  std::optional<SweepPlan> plan;
  if (!options.spec.empty()) {
    plan = ExpandSweep(LoadSweepSpec(options.spec), backend);
    KeepExperiments(options.experiments, &*plan);
    if (!options.runs_file.empty()) KeepListed(options.runs_file, &*plan);
  }
  if (!options.export_format.empty()) return Export(options, plan);
  if (!options.list) return MakeRuns(options, *plan, backend);
  List(*plan, ShardRuns(*plan, options.shard), DatabasePath(options, *plan));
  return 0;
}

}  // namespace smk::cli
