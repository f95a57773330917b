// SPDX-License-Identifier: Apache-2.0
#include "sweep/plan_builder.h"

namespace smk::sim {

std::string PlanBuilder::AddOneIsolated(SweepRun run) {
  const Options& o = run.options;
  std::vector<std::string> key = o.sets;
  for (const auto& text : {o.kernels, o.machine, o.control, o.cycles, o.seed, o.until}) {
    key.push_back(text.value_or(""));
  }
  key.emplace_back(o.no_repeat ? "once" : "");
  if (run.stream) {
    key.insert(key.end(),
               {run.stream->path, run.stream->device, std::to_string(*run.stream->alone)});
  }
  std::string& id = isolated_[key];
  if (id.empty()) {
    const LoadedRun loaded = LoadRun(run, backend_);
    id = Add(std::move(run), loaded);
  } else {
    AddMember(index_.at(id));
  }
  return id;
}

std::string PlanBuilder::Add(SweepRun run, const LoadedRun& loaded) {
  run.id = RunId(run, loaded);
  if (run.is_isolated()) run.isolated = {run.id};
  const auto [place, added] = index_.emplace(run.id, plan_.runs.size());
  if (added) {
    NameRun(loaded, backend_, &run);
    plan_.runs.push_back(std::move(run));
  }
  AddMember(place->second);
  return place->first;
}

void PlanBuilder::AddMember(std::size_t run) {
  if (member_.emplace(experiment_, run).second) {
    plan_.members.push_back({experiment_, run});
  }
}

}  // namespace smk::sim
