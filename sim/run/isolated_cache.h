// SPDX-License-Identifier: Apache-2.0
// Results of isolated runs, kept between calls of the command.
#pragma once

#include <optional>
#include <string>

#include "experiment/experiment.h"
#include "run/run_cache.h"

namespace smk::sim {

// Each under everything that decides it: machine, workload, copies, cycles, seed, control plane and
// the knobs that matter to it.
class IsolatedCache {
 public:
  // "" switches the cache off.
  explicit IsolatedCache(std::string folder) : runs_(std::move(folder), "isolated run") {}

  // Statistics of kernel `kernel` of `experiment` alone, without TB records and the like.
  std::optional<RunResult> Find(const Experiment& experiment, std::size_t kernel);
  void Store(const Experiment& experiment, std::size_t kernel, RunResult result);

 private:
  RunCache runs_;
};

}  // namespace smk::sim
