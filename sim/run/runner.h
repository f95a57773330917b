// SPDX-License-Identifier: Apache-2.0
// Runs an experiment under one policy or several, with the isolated runs they are compared with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/backend.h"
#include "experiment/requests.h"
#include "run/isolated_cache.h"
#include "run/results.h"
#include "run/tasks.h"

namespace smk::sim {

// How, not what, is run.
struct RunnerOptions {
  unsigned jobs = 1;         // simulations at the same time
  bool quiet = false;        // no progress
  std::string cache_folder;  // "": no cache
};

// Number of processors that this process may use.
unsigned Processors();

// Runs simulations of one experiment. Isolated runs come from the cache when they are there, and go
// there when they are not. Kernels of the same contents share one isolated run.
class Runner {
 public:
  Runner(const Backend& backend, const Experiment& experiment, RunnerOptions options);

  // One policy. The shared run is made in this process, the isolated ones in children before it.
  Results Run(const Policy& policy, const Recording& recording);

  // Several policies, all runs in children. The baseline is made anew when something is recorded.
  std::vector<Results> Compare(const std::vector<Policy>& policies, const Recording& recording);

 private:
  // An isolated run and where it came from.
  struct Isolated {
    RunResult result;
    bool from_cache = false;
  };

  RunResult Simulate(const RunRequest& request) const;
  // First kernel with the same contents as `kernel`.
  std::size_t Representative(std::size_t kernel) const;
  // Fills isolated_ from the cache and gives the kernels that are still to be run.
  std::vector<std::size_t> LookUp(bool use_cache);
  void AddIsolatedTasks(const std::vector<std::size_t>& kernels, const Recording& recording,
                        std::vector<Task>* tasks) const;
  void Keep(std::size_t kernel, RunResult result);
  std::vector<RunResult> InChildren(const std::vector<Task>& tasks);
  // The run of all kernels, when the isolated runs are there.
  RunRequest Request(const Policy& policy, const Recording& recording) const;
  Results Baseline(const Policy& policy) const;
  Results Shared(const Policy& policy, RunResult result) const;

  const Backend& backend_;
  const Experiment& experiment_;
  const RunnerOptions options_;
  IsolatedCache cache_;
  std::map<std::size_t, Isolated> isolated_;  // by representative
};

}  // namespace smk::sim
