// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/numbers.h"
#include "cli/text_table.h"

namespace smk::cli {
namespace {

void List(const SweepPlan& plan, const std::vector<std::size_t>& runs) {
  TextTable table(
      {"run", "workload", "group", "policy", "machine", "control", "cycles", "seed", "settings"},
      {0, 1, 2, 3, 4, 5, 8});
  std::size_t isolated = 0;
  for (const std::size_t index : runs) {
    const SweepRun& run = plan.runs[index];
    isolated += run.is_isolated() ? 1 : 0;
    const std::string policy = run.policy + (run.preempt.empty() ? "" : " " + run.preempt);
    table.Add({run.id, run.workload, run.group, policy, *run.options.machine, *run.options.control,
               *run.options.cycles, *run.options.seed, run.settings});
  }
  fmt::print("{}\n{} runs, {} of them isolated\n", table.ToString(), runs.size(), isolated);
}

}  // namespace

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
  SweepPlan kept;
  kept.name = plan->name;
  std::map<std::size_t, std::size_t> moved;
  for (const SweepMember& member : plan->members) {
    if (std::find(names.begin(), names.end(), member.experiment) == names.end()) continue;
    const auto [place, added] = moved.emplace(member.run, kept.runs.size());
    if (added) kept.runs.push_back(plan->runs[member.run]);
    kept.members.push_back({member.experiment, place->second});
  }
  *plan = std::move(kept);
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

int SweepCommand(const Context& context, const SweepOptions& options) {
  if (options.spec.empty()) throw InputError("sweep: no specification; see smk help sweep");
  const Backend backend = RememberingBackend(context.backend);
  SweepPlan plan = ExpandSweep(LoadSweepSpec(options.spec), backend);
  KeepExperiments(options.experiments, &plan);
  List(plan, ShardRuns(plan, options.shard));
  return 0;
}

}  // namespace smk::cli
