// SPDX-License-Identifier: Apache-2.0
// One finished run and what it is written as: stats.json, CSV files and the table on the terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "run/metrics.h"

namespace smk::sim {

// A run and what it is compared with.
struct Results {
  const Experiment* experiment = nullptr;
  Policy policy;
  RunResult result;
  Metrics metrics;
  std::vector<bool> isolated_from_cache;  // by kernel; empty for the baseline itself
  std::vector<Cycle> isolated_ends;       // likewise: JobStats::end
  Cycle baseline_cycles = 0;              // of the baseline: of all its runs together

  // Simulated cycles by wall_seconds.
  double cycles_per_second() const;
};

// Version of stats.json. A newer one has more keys; those of older ones are there unchanged.
inline constexpr int kStatsSchema = 2;

// The baseline policy runs each kernel alone: their results side by side, kernel i as job i.
// Amounts of the SMs are sums over the runs.
RunResult MergeBaseline(std::vector<RunResult> alone);

// Laws that every result obeys; throws CheckFailure naming the first that does not hold. Adds the
// number of laws that were looked at to `result->checks`.
void CheckResult(const RunRequest& request, RunResult* result);

// Everything but `wall` is the same for the same inputs. Documented in docs/results.md.
nlohmann::ordered_json StatsJson(const Results& results);

std::string KernelsCsv(const Results& results);
std::string StallsCsv(const Results& results);
std::string JobsCsv(const Results& results);
std::string LaunchesCsv(const Results& results);
std::string CopiesCsv(const Results& results);
std::string TbsCsv(const Results& results);
std::string DecisionsCsv(const Results& results);
std::string SamplesCsv(const Results& results);

// The kernel had nothing more to do before the cycles were over that are to be measured. In a run
// that lasts until its programs have ended, and measures to its end, these are until it has.
bool EndedInWindow(const Results& results, std::size_t kernel);
// The note about kernels, and isolated runs, that did so where a part of a run is measured; else
// "".
std::string WindowNote(const Results& results);

// Why the run has the length that it has, and what of it is measured: what follows "cycles".
std::string EndText(const Results& results);
// The summary at the end of `smk run`.
std::string Summary(const Results& results);
// The line that says so if queues were longer than the memory model looks ahead; else "".
std::string LateReservationsText(const RunResult& result);

// The reasons for which a kernel can wait: all but kIssued, and kEmpty, which has no kernel.
const std::vector<unsigned>& KernelStalls();

// A ratio as people read it: "0.931", "-" when there is none.
std::string Ratio(const std::optional<double>& value);
double HitRate(std::uint64_t hits, std::uint64_t accesses);
// Sum over the kernels of a member of KernelStats.
std::uint64_t Total(const RunResult& result, std::uint64_t KernelStats::*member);

}  // namespace smk::sim
