// SPDX-License-Identifier: Apache-2.0
#include "cli/validate.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/text_table.h"
#include "run/run_folder.h"
#include "run/validation.h"

namespace smk::sim {
namespace {

// The --within of the command line: "10", "2.5"; as a part of one.
std::optional<double> ParseWithin(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end != text.size() || !(value >= 0) || !std::isfinite(value)) {
    throw InputError(fmt::format("--within: expected a number of per cent, got '{}'", text));
  }
  return value / 100;
}

std::string Percent(double part) { return fmt::format("{:+.1f} %", 100 * part); }

std::string Table(const Validation& validation, const std::optional<double>& within) {
  TextTable table({"trace", "expected", "ours", "error", ""}, {0, 4});
  for (const ValidatedTrace& trace : validation.traces) {
    const bool off = within && std::abs(trace.error()) > *within;
    table.Add({trace.expected.trace, fmt::to_string(trace.expected.cycles),
               fmt::to_string(trace.cycles), Percent(trace.error()), off ? "off" : ""});
  }
  const ValidatedTrace& worst = validation.worst();
  return fmt::format(
      "machine {}, cycles until the last TB ends\n\n{}\n"
      "{} traces   mean of |error| {:.1f} %   worst {} {}\n",
      validation.machine, table.ToString(), validation.traces.size(), 100 * validation.mean_error(),
      Percent(worst.error()), worst.expected.trace);
}

}  // namespace

int ValidateCommand(const Context& context, const ValidateOptions& options) {
  const std::optional<double> within = ParseWithin(options.within);
  for (const std::string& set : options.sets) {
    if (set.rfind("policy.", 0) != 0) continue;
    throw InputError(
        fmt::format("--set {}: expected a key of the machine, control or run; a trace "
                    "that runs alone has no policy",
                    set));
  }
  for (const auto& [option, path] : {std::pair("--csv", &options.csv), {"--json", &options.json}}) {
    if (!path->empty()) RequireWritable(option, *path);
  }
  if (!options.csv.empty() && options.csv == options.json) {
    throw InputError(
        fmt::format("--json: expected another file than --csv, got '{}'", options.json));
  }
  Options run;
  run.machine = options.machine;
  run.sets = options.sets;
  run.cycles = options.cycles;
  run.until = "done";
  run.jobs = options.jobs;
  run.no_cache = options.no_cache;
  const unsigned jobs = MakeRunnerOptions(run).jobs;
  const auto traces = ReadExpected(options.folder, options.only);
  Validation validation = Validate(traces, run, context.backend, jobs, options.quiet);
  validation.machine = options.machine;
  if (!options.quiet) fmt::print("{}", Table(validation, within));
  if (!options.csv.empty()) WriteFileAtomically(options.csv, ValidationCsv(validation));
  if (!options.json.empty()) WriteFileAtomically(options.json, ValidationJson(validation));
  const std::size_t off = within ? validation.outside(*within) : 0;
  if (off == 0) {
    fmt::print("PASS\n");
    return 0;
  }
  fmt::print("FAIL: {} of {} traces are off by more than {} %\n", off, traces.size(),
             options.within);
  return 1;
}

}  // namespace smk::sim
