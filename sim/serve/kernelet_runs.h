// SPDX-License-Identifier: Apache-2.0
// Short runs of the cycle model before a stream begins: kernels alone, in slices, and in pairs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "run/run_cache.h"
#include "run/runner.h"

namespace smk::sim {

// A run that is to be made. The key says what the request has besides the experiment's settings.
struct KerneletRun {
  std::string name, key;  // for messages; for the cache
  RunRequest request;
};

// Makes them in children, unless they are in the cache. Its arguments must live as long.
class KerneletRuns {
 public:
  KerneletRuns(const Backend& backend, const Experiment& experiment, RunnerOptions options);

  const Experiment& experiment() const { return experiment_; }
  // On the machine of the experiment, each job from cycle 0 on, in an SM's own order of TBs.
  RunRequest Request(const std::vector<std::shared_ptr<const Workload>>& jobs, bool repeat) const;
  // In the order of `runs`. Throws InputError when jobs that do not repeat have not ended.
  std::vector<RunResult> Get(const std::vector<KerneletRun>& runs);

 private:
  const Backend& backend_;
  const Experiment& experiment_;
  const RunnerOptions options_;
  RunCache cache_;
};

}  // namespace smk::sim
