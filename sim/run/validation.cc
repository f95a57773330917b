// SPDX-License-Identifier: Apache-2.0
#include "run/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/csv_table.h"
#include "base/error.h"
#include "base/progress.h"
#include "experiment/kernel_names.h"
#include "experiment/requests.h"
#include "run/results.h"
#include "run/tasks.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;

constexpr char kTrace[] = "trace";
constexpr char kCycles[] = "accelsim_cycles";

bool Wanted(const std::string& trace, const std::vector<std::string>& only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& name) {
           return trace.rfind(name, 0) == 0;
         });
}

// The trace alone: its streams go on at the same time, each where the ones before leave room.
RunResult RunAlone(const ExpectedTrace& trace, Options options, const Backend& backend) {
  options.kernels = JoinKernels({"trace:" + trace.path});
  const Experiment experiment = Resolve(options, backend);
  const RunRequest request =
      experiment.workloads.size() == 1
          ? IsolatedRequest(experiment, 0, {})
          : SharedRequest(experiment, ResolvePolicy("leftover", std::nullopt, experiment), {});
  RunResult result = backend.run(request, experiment.control, experiment.control_config);
  CheckResult(request, &result);
  if (result.cut_short) {
    throw CheckFailure(fmt::format("it has not ended in {} cycles", request.cycles));
  }
  return result;
}

}  // namespace

double Validation::mean_error() const {
  double sum = 0;
  for (const ValidatedTrace& trace : traces) sum += std::abs(trace.error());
  return sum / static_cast<double>(traces.size());
}

const ValidatedTrace& Validation::worst() const {
  return *std::max_element(traces.begin(), traces.end(), [](const auto& a, const auto& b) {
    return std::abs(a.error()) < std::abs(b.error());
  });
}

std::size_t Validation::outside(double by) const {
  return static_cast<std::size_t>(std::count_if(
      traces.begin(), traces.end(), [&](const auto& t) { return std::abs(t.error()) > by; }));
}

std::vector<ExpectedTrace> ReadExpected(const std::string& folder,
                                        const std::vector<std::string>& only) {
  const std::string list = (fs::path(folder) / "expected.csv").string();
  CsvTable table(list, {kTrace, kCycles});
  const std::size_t name = table.Column(kTrace), cycles = table.Column(kCycles);
  std::vector<ExpectedTrace> traces;
  while (table.Next()) {
    ExpectedTrace trace;
    trace.trace = table.Text(name);
    trace.path = (fs::path(folder) / trace.trace).string();
    trace.cycles = table.Number(cycles);
    if (trace.cycles == 0) {
      throw InputError(
          fmt::format("{}: {}: expected a number of cycles, got 0", list, trace.trace));
    }
    if (Wanted(trace.trace, only)) traces.push_back(std::move(trace));
  }
  if (traces.empty()) {
    throw InputError(fmt::format("{}: expected at least one trace{}", list,
                                 only.empty() ? "" : " that --only lets through"));
  }
  return traces;
}

Validation Validate(const std::vector<ExpectedTrace>& traces, const Options& options,
                    const Backend& backend, unsigned jobs, bool quiet) {
  std::vector<Task> tasks;
  tasks.reserve(traces.size());
  for (const ExpectedTrace& trace : traces) {
    tasks.push_back({trace.trace, [&] { return RunAlone(trace, options, backend); }});
  }
  Progress progress(quiet);
  progress.Runs(0, tasks.size());
  const std::vector<RunResult> results =
      RunTasks(tasks, jobs, [&](std::size_t done) { progress.Runs(done, tasks.size()); });
  Validation validation;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    ValidatedTrace trace;
    trace.expected = traces[i];
    trace.warp_instructions = results[i].warp_instructions;
    for (const KernelStats& kernel : results[i].kernels) {
      trace.cycles = std::max(trace.cycles, kernel.last_tb_end);
    }
    validation.traces.push_back(std::move(trace));
  }
  return validation;
}

std::string ValidationCsv(const Validation& validation) {
  std::string text = "trace,expected_cycles,cycles,error\n";
  for (const ValidatedTrace& trace : validation.traces) {
    text += fmt::format("{},{},{},{:.6f}\n", QuotedCell(trace.expected.trace),
                        trace.expected.cycles, trace.cycles, trace.error());
  }
  return text;
}

std::string ValidationJson(const Validation& validation) {
  nlohmann::ordered_json j;
  j["schema"] = 1;
  j["machine"] = validation.machine;
  j["traces"] = nlohmann::ordered_json::array();
  for (const ValidatedTrace& trace : validation.traces) {
    j["traces"].push_back({{"trace", trace.expected.trace},
                           {"expected_cycles", trace.expected.cycles},
                           {"cycles", trace.cycles},
                           {"error", trace.error()},
                           {"warp_instructions", trace.warp_instructions}});
  }
  j["mean_error"] = validation.mean_error();
  j["worst"] = {{"trace", validation.worst().expected.trace},
                {"error", validation.worst().error()}};
  return j.dump(2) + "\n";
}

}  // namespace smk::sim
