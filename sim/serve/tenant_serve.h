// SPDX-License-Identifier: Apache-2.0
// Clients with scripts under a token scheduler, from their specification to the results.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "run/run_folder.h"
#include "run/timeline.h"
#include "serve/schedulers.h"
#include "serve/tenant_device.h"
#include "serve/tenant_spec.h"

namespace smk::sim {

// Clients that can be run.
struct TenantServing {
  TenantSpec spec;  // with the times of its kernels and the arrivals of its jobs
  Options options;
  SchedulerChoice scheduler;
  Experiment experiment;               // its machine, and the workloads whose kernels are measured
  std::optional<TenantDevice> device;  // none: kernels have times
};

struct TenantResults {
  gemini::TenantResult result;
  std::uint64_t checks = 0;
  double wall_seconds = 0;
  // On a device.
  std::vector<DeviceClient> device;  // by client
  Cycle cycles = 0;
};

// `scheduler` and `device`: of the command line, or empty. Throws InputError.
TenantServing PrepareTenants(const std::string& path, Options options, const std::string& scheduler,
                             const Backend& backend, const DeviceOptions& device = {});

// Measures kernels that are workloads, each alone by the cycle model, unless that is in the cache.
void MeasureTenantKernels(const Backend& backend, TenantServing* serving);

// Runs them and looks at the laws; throws CheckFailure.
TenantResults RunTenantServing(const TenantServing& serving, const Backend& backend);

// What is written of it.
nlohmann::ordered_json TenantJson(const TenantServing& serving, const TenantResults& results);
std::string TenantSummary(const TenantServing& serving, const TenantResults& results);
std::string TokensCsv(const TenantServing& serving, const gemini::TenantResult& result);
std::string BurstsCsv(const TenantServing& serving, const gemini::TenantResult& result);
std::string SharesCsv(const TenantServing& serving, const gemini::TenantResult& result);
// Each client's share of the window over time, as Fig. 13 of [Gemini].
std::string SharesSvg(const TenantServing& serving, const gemini::TenantResult& result);
// A Chrome trace: tokens, overuse and bursts of each client as tracks, and shares as counters.
struct TenantTimeline {
  std::string json;
  std::optional<gemini::Nanoseconds> cut;  // where it ends before the run does
};
TenantTimeline TenantTimelineJson(const TenantServing& serving, const gemini::TenantResult& result,
                                  std::size_t max_events = kMaxTimelineEvents);

void WriteTenants(const OutputFolder& folder, const std::string& command_line,
                  const TenantServing& serving, const TenantResults& results);

}  // namespace smk::sim
