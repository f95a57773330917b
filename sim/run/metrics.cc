// SPDX-License-Identifier: Apache-2.0
#include "run/metrics.h"

#include <algorithm>
#include <map>

namespace smk::sim {
namespace {

void Combine(Metrics* metrics) {
  double sum = 0, turnaround = 0;
  double smallest = 0, largest = 0;
  bool started = false, all_ran = true;
  for (const std::optional<double>& normalized : metrics->normalized) {
    if (!normalized) return;
    sum += *normalized;
    all_ran = all_ran && *normalized > 0;
    if (*normalized > 0) turnaround += 1 / *normalized;
    smallest = started ? std::min(smallest, *normalized) : *normalized;
    largest = started ? std::max(largest, *normalized) : *normalized;
    started = true;
  }
  if (!started) return;
  metrics->stp = sum;
  if (all_ran) metrics->antt = turnaround / static_cast<double>(metrics->normalized.size());
  if (largest > 0) metrics->fairness = smallest / largest;
}

std::vector<ClientTotals> ByClient(const RunResult& result,
                                   const std::vector<std::optional<double>>& normalized) {
  std::vector<ClientTotals> clients;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < result.jobs.size(); ++i) {
    const JobStats& job = result.jobs[i];
    const KernelStats& kernel = result.kernels.at(i);
    const auto [place, added] = places.emplace(job.client, clients.size());
    if (added) clients.emplace_back().name = job.client;
    ClientTotals& client = clients[place->second];
    ++client.jobs;
    if (const std::optional<Cycle> turnaround = job.turnaround()) {
      ++client.finished;
      // The sum until all are there.
      client.mean_turnaround =
          client.mean_turnaround.value_or(0) + static_cast<double>(*turnaround);
    }
    if (normalized[i].value_or(0) > 0) {
      client.antt = client.antt.value_or(0) + 1 / *normalized[i];
      ++client.issued;
    }
    client.executions += job.executions;
    client.kernels_completed += job.kernels_completed;
    client.slices_completed += job.slices_completed;
    client.tbs_completed += kernel.tbs_completed;
    client.warp_instructions += kernel.warp_instructions;
  }
  for (ClientTotals& client : clients) {
    if (client.mean_turnaround) *client.mean_turnaround /= static_cast<double>(client.finished);
    if (client.issued != client.jobs) client.antt.reset();
    if (client.antt) *client.antt /= static_cast<double>(client.jobs);
  }
  return clients;
}

}  // namespace

double Ipc(const KernelStats& kernel) { return kernel.ipc(kernel.cycles_present); }

Metrics ComputeMetrics(const RunResult& result, const std::vector<double>& isolated) {
  Metrics metrics;
  for (std::size_t i = 0; i < result.kernels.size(); ++i) {
    const double ipc = Ipc(result.kernels[i]);
    metrics.ipc.push_back(ipc);
    metrics.isolated.emplace_back(isolated.at(i));
    // One that came when nothing was measured any more has no IPC.
    const bool known = isolated[i] > 0 && result.kernels[i].cycles_present != 0;
    metrics.normalized.push_back(known ? std::optional<double>(ipc / isolated[i]) : std::nullopt);
  }
  Combine(&metrics);
  metrics.clients = ByClient(result, metrics.normalized);
  return metrics;
}

Metrics BaselineMetrics(const RunResult& result) {
  std::vector<double> isolated;
  for (const KernelStats& kernel : result.kernels) isolated.push_back(Ipc(kernel));
  Metrics metrics = ComputeMetrics(result, isolated);
  if (metrics.stp) metrics.stp = 1;
  return metrics;
}

}  // namespace smk::sim
