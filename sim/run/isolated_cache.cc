// SPDX-License-Identifier: Apache-2.0
#include "run/isolated_cache.h"

#include <fmt/format.h>

#include "experiment/requests.h"

namespace smk::sim {
namespace {

std::string Key(const Experiment& experiment, std::size_t kernel) {
  const RunRequest request = IsolatedRequest(experiment, kernel, {});
  std::string key =
      fmt::format("workload {} {}\ncycles {}\nseed {}\nrepeat {}\ncontrol {}\n",
                  experiment.workloads[kernel]->name, experiment.workloads[kernel]->content_hash,
                  request.cycles, request.seed, request.jobs[0].repeat, Name(experiment.control));
  if (!experiment.rtl_object.empty()) key += fmt::format("rtl {}\n", experiment.rtl_object);
  if (!experiment.rtl_name.empty()) key += fmt::format("rtl {}\n", experiment.rtl_name);
  const Job& job = request.jobs[0];
  const bool copies = job.copy_in != 0 || job.copy_out != 0;
  if (copies) {
    key += fmt::format("copies {} {}\n", job.copy_in, job.copy_out);
  }
  const Configuration alone = InEffectAlone(experiment);
  for (const Knob& knob : Knobs()) {
    if (knob.alone) key += fmt::format("{} {}\n", knob.path, knob.print(alone));
  }
  return key + (copies ? experiment.machine_toml : WithoutHost(experiment.machine_toml));
}

}  // namespace

std::optional<RunResult> IsolatedCache::Find(const Experiment& experiment, std::size_t kernel) {
  return runs_.enabled() ? runs_.Find(Key(experiment, kernel)) : std::nullopt;
}

void IsolatedCache::Store(const Experiment& experiment, std::size_t kernel, RunResult result) {
  if (runs_.enabled()) runs_.Store(Key(experiment, kernel), std::move(result));
}

}  // namespace smk::sim
