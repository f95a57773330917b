// SPDX-License-Identifier: Apache-2.0
// What a stream of jobs got of the GPU as a whole, and kernel slots by tokens.
#pragma once

#include <optional>
#include <vector>

#include "run/statistics.h"

namespace smk::sim {

// Sums over the jobs of a run.
struct StreamTotals {
  std::size_t jobs = 0, finished = 0;
  // Of a stream whose jobs have all ended: from the first arrival to the last end.
  std::optional<Cycle> makespan;
  std::optional<double> throughput;       // jobs per million cycles of it
  std::optional<double> mean_turnaround;  // of the finished jobs, in cycles
  std::optional<double> copy_overlap;     // part of the copies' time with kernels on the GPU
  // Issued instructions, of those that all schedulers could have issued in the run.
  double utilisation = 0;
};
StreamTotals TotalsOf(const Results& results);

std::vector<Statistic> HostStatistics();
std::vector<Statistic> TokenStatistics();

}  // namespace smk::sim
