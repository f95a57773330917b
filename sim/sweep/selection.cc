// SPDX-License-Identifier: Apache-2.0
#include "sweep/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/nearest.h"
#include "base/numbers.h"

namespace smk::sim {
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
    if (!line.empty() && line.back() == '\r') line.pop_back();
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

}  // namespace smk::sim
