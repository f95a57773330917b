// SPDX-License-Identifier: Apache-2.0
// Makes the runs of a sweep that are missing.
#pragma once

#include <cstddef>
#include <vector>

#include "sweep/plan.h"
#include "sweep/store.h"

namespace smk::sim {

// How a sweep is made.
struct SweepRunnerOptions {
  unsigned jobs = 1;
  bool retry_failed = false;
  bool quiet = false;  // no progress
};

// What a sweep came to.
struct SweepSummary {
  std::size_t runs = 0;    // of the sweep
  std::size_t before = 0;  // results that were there, or that another sweep made meanwhile
  std::size_t made = 0;    // results that this one made
  std::size_t failed = 0;  // runs without a result
  std::string first_failure;
  double seconds = 0;
};

// Runs in child processes what the store does not have and no other sweep has in work, and stores
// each result at once. Returns when every run is stored, made by this sweep or by another one.
SweepSummary RunSweep(const SweepPlan& plan, const std::vector<std::size_t>& runs,
                      const Backend& backend, SweepStore* store, const SweepRunnerOptions& options);

}  // namespace smk::sim
