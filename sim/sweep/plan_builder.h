// SPDX-License-Identifier: Apache-2.0
// Gathers the runs of a plan, each once, and who asks for them.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sweep/plan.h"

namespace smk::sim {

// See the head of this file.
class PlanBuilder {
 public:
  PlanBuilder(const std::string& name, const Backend& backend) : backend_(backend) {
    plan_.name = name;
  }

  // Whose the runs are that come now.
  void Enter(const std::string& experiment) { experiment_ = experiment; }
  // Gives the run its id and names, and takes it up unless it is there; gives the id.
  std::string Add(SweepRun run, const LoadedRun& loaded);
  // The same kernel alone is asked for by many runs, and loaded once.
  std::string AddOneIsolated(SweepRun run);
  std::size_t members() const { return plan_.members.size(); }
  SweepPlan Take() { return std::move(plan_); }

 private:
  void AddMember(std::size_t run);

  const Backend& backend_;
  std::string experiment_;
  SweepPlan plan_;
  std::map<std::string, std::size_t> index_;
  std::map<std::vector<std::string>, std::string> isolated_;  // ids, by what decides the run
  std::set<std::pair<std::string, std::size_t>> member_;
};

}  // namespace smk::sim
