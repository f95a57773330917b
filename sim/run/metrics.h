// SPDX-License-Identifier: Apache-2.0
// The measures of a shared run against isolated runs [SMK Sec. 6.1].
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/run.h"

namespace smk::sim {

// What was done for all jobs of one client.
struct ClientTotals {
  std::string name;
  std::size_t jobs = 0;
  std::size_t finished = 0;               // jobs that were executed at least once
  std::size_t issued = 0;                 // jobs that issued anything
  std::optional<double> mean_turnaround;  // of these, in cycles
  std::optional<double> antt;             // mean of 1 / normalized IPC of its jobs
  std::uint64_t executions = 0, kernels_completed = 0, slices_completed = 0;
  std::uint64_t tbs_completed = 0, warp_instructions = 0;
};

// Empty where a division by zero would be needed: a kernel that issued nothing has no turnaround.
struct Metrics {
  std::vector<double> ipc;                        // warp instructions per cycle present
  std::vector<std::optional<double>> isolated;    // the same, alone on the whole GPU
  std::vector<std::optional<double>> normalized;  // ipc / isolated
  std::optional<double> stp;                      // sum of the normalized IPCs
  std::optional<double> antt;                     // mean of 1 / normalized IPC
  std::optional<double> fairness;                 // smallest normalized IPC / largest
  std::vector<ClientTotals> clients;              // in the order of their first jobs
};

double Ipc(const KernelStats& kernel);

// `isolated` holds one IPC for each kernel of `result`.
Metrics ComputeMetrics(const RunResult& result, const std::vector<double>& isolated);

// The baseline: each kernel has the GPU to itself, so every normalized IPC is 1, and so are ANTT
// and fairness. STP is 1 by definition, because the kernels take turns.
Metrics BaselineMetrics(const RunResult& result);

}  // namespace smk::sim
