// SPDX-License-Identifier: Apache-2.0
#include "run/oracle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace smk::sim {
namespace {

constexpr std::size_t kMostTables = 5000;

// Goes through the tables in order, from one TB of each kernel on.
class Tables {
 public:
  Tables(const std::vector<ResourceVector>& needs, const ResourceVector& limits)
      : needs_(needs), limits_(limits) {
    AddFrom(0, {}, "table:");
  }
  std::vector<std::string> names;

 private:
  void AddFrom(std::size_t kernel, ResourceVector taken, const std::string& name) {
    if (names.size() > kMostTables) return;
    if (kernel == needs_.size()) {
      names.push_back(name);
      return;
    }
    for (unsigned tbs = 1;; ++tbs) {
      taken = taken + needs_[kernel];
      if (!FitsIn(taken, limits_)) return;
      AddFrom(kernel + 1, taken, fmt::format("{}{}{}", name, kernel == 0 ? "" : ",", tbs));
    }
  }

  const std::vector<ResourceVector>& needs_;
  const ResourceVector& limits_;
};

}  // namespace

std::vector<Policy> OracleCandidates(const Experiment& experiment) {
  std::vector<ResourceVector> needs;
  for (const auto& workload : experiment.workloads) needs.push_back(LeastNeed(*workload));
  const Tables tables(needs, experiment.machine.sm.limits);
  if (tables.names.empty()) {
    throw InputError("--policies oracle: no table fits: TBs of all kernels together exceed an SM");
  }
  if (tables.names.size() > kMostTables) {
    throw InputError(fmt::format("--policies oracle: more than {} tables", kMostTables));
  }
  std::vector<Policy> candidates;
  for (const char* name : {"leftover", "even", "spatial"}) {
    candidates.push_back(ResolvePolicy(name, std::nullopt, experiment));
  }
  for (const std::string& name : tables.names) {
    candidates.push_back(ResolvePolicy(name, std::nullopt, experiment));
  }
  return candidates;
}

Results RunOracle(const Experiment& experiment, const Recording& recording, Runner* runner) {
  const std::vector<Policy> candidates = OracleCandidates(experiment);
  const std::vector<Results> runs = runner->Compare(candidates, {});
  const auto best =
      std::max_element(runs.begin(), runs.end(), [](const Results& a, const Results& b) {
        return a.metrics.stp.value_or(-1) < b.metrics.stp.value_or(-1);
      });
  Policy policy = best->policy;
  Results results = std::move(runner->Compare({policy}, recording).front());
  results.policy.name = fmt::format("{}:{}", kOracle, policy.name);
  return results;
}

}  // namespace smk::sim
