// SPDX-License-Identifier: Apache-2.0
// smk compare
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/csv_table.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "experiment/config_file.h"
#include "run/manifest.h"
#include "run/oracle.h"
#include "run/run_folder.h"
#include "sweep/words.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

// One of --policies; messages are about this option.
Policy ResolveOne(const std::string& name, const std::optional<std::string>& preempt,
                  const Experiment& experiment) {
  try {
    return ResolvePolicy(name, preempt, experiment);
  } catch (const InputError& error) {
    const std::string what = error.what(), option = "--policy";
    if (what.rfind(option, 0) != 0) throw;
    throw InputError("--policies" + what.substr(option.size()));
  }
}

// What is compared: policies, and before which of them the best of all fixed ones is shown.
struct Compared {
  std::vector<Policy> policies;
  std::optional<std::size_t> oracle;
};

Compared ResolvePolicies(const Options& options, const Experiment& experiment) {
  const std::vector<std::string> names =
      options.policies ? SplitPolicies(*options.policies) : DefaultPolicies();
  Compared compared;
  std::vector<Policy>& policies = compared.policies;
  bool preempts = false;
  for (const std::string& name : names) {
    if (name == kOracle) {
      if (compared.oracle) throw InputError("--policies: oracle is there twice");
      OracleCandidates(experiment);  // refuses what has none
      compared.oracle = policies.size();
      continue;
    }
    Policy policy = ResolveOne(name, std::nullopt, experiment);
    if (options.preempt && UsesPreempt(policy.config)) {
      policy = ResolveOne(name, options.preempt, experiment);
      preempts = true;
    }
    for (const Policy& other : policies) {
      if (other.name == policy.name) {
        throw InputError(fmt::format("--policies: {} is there twice", policy.name));
      }
    }
    policies.push_back(std::move(policy));
  }
  if (options.preempt && !preempts) {
    throw InputError(fmt::format("--preempt: {}, none is compared", WhoUsesPreempt()));
  }
  return compared;
}

std::string FolderName(const Policy& policy) {
  std::string name = policy.name;
  for (char& c : name) {
    if (c == ':' || c == ',') c = '-';
  }
  return name;
}

// The folders of the runs, in the order of the rows.
std::vector<std::string> FolderNames(const Compared& compared) {
  std::vector<std::string> names;
  for (const Policy& policy : compared.policies) names.push_back(FolderName(policy));
  if (compared.oracle) {
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(*compared.oracle), kOracle);
  }
  return names;
}

std::vector<Results> RunAll(const Compared& compared, const Experiment& experiment,
                            const Recording& recording, Runner* runner) {
  std::vector<Results> runs = runner->Compare(compared.policies, recording);
  if (compared.oracle) {
    runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(*compared.oracle),
                RunOracle(experiment, recording, runner));
  }
  return runs;
}

// The best value of a column, over all policies but the baseline.
class Best {
 public:
  Best(const std::vector<Results>& runs, std::optional<double> Metrics::*metric, bool smallest)
      : metric_(metric) {
    for (const Results& results : runs) {
      const auto& value = results.metrics.*metric;
      if (!value || results.policy.time_shared) continue;
      if (!best_ || (smallest ? *value < *best_ : *value > *best_)) best_ = value;
    }
  }
  // The cell, with a star when no other policy is better.
  std::string Cell(const Results& results) const {
    const auto& value = results.metrics.*metric_;
    const bool star = best_ && value && !results.policy.time_shared && Ratio(value) == Ratio(best_);
    return Ratio(value) + (star ? "*" : " ");
  }

 private:
  std::optional<double> Metrics::*metric_;
  std::optional<double> best_;
};

// "2000 cycles until each had done its work", as `smk run` says it.
std::string LengthText(const Results& results) {
  return fmt::format("{} cycles{}", results.result.cycles, EndText(results));
}

// What the runs were asked for: "2000 cycles", or how they end.
std::string AskedText(const Experiment& experiment) {
  const RunUntil until = experiment.run_config.until;
  if (until == RunUntil::kCycles) return fmt::format("{} cycles", experiment.cycles);
  return fmt::format("--until {} --cycles {}", Name(until), experiment.cycles);
}

// Whether runs may differ in how they end, and in what of them is measured.
bool LengthsDiffer(const Experiment& experiment, const std::vector<Results>& runs) {
  return experiment.run_config.until != RunUntil::kCycles ||
         std::any_of(runs.begin(), runs.end(),
                     [](const Results& results) { return !EndText(results).empty(); });
}

std::string Table(const Experiment& experiment, const std::vector<Results>& runs) {
  std::vector<std::string> header = {"policy", "STP ", "fairness ", "ANTT "};
  for (const std::string& label : experiment.labels) header.push_back(label);
  header.insert(header.end(), {"preemptions", "context MB", "cycles/s"});
  const bool lengths = LengthsDiffer(experiment, runs);
  std::vector<std::size_t> left = {0};
  if (lengths) {
    left.push_back(header.size());
    header.emplace_back("length");
  }
  TextTable table(header, left);
  const Best stp(runs, &Metrics::stp, false), fairness(runs, &Metrics::fairness, false),
      antt(runs, &Metrics::antt, true);
  for (const Results& results : runs) {
    std::vector<std::string> row = {results.policy.name, stp.Cell(results), fairness.Cell(results),
                                    antt.Cell(results)};
    for (const auto& normalized : results.metrics.normalized) row.push_back(Ratio(normalized));
    row.push_back(fmt::to_string(Total(results.result, &KernelStats::preemptions)));
    row.push_back(fmt::format(
        "{:.1f}", static_cast<double>(Total(results.result, &KernelStats::context_bytes)) / 1e6));
    row.push_back(fmt::format("{:.0f}", results.cycles_per_second()));
    if (lengths) row.push_back(LengthText(results));
    table.Add(std::move(row));
  }
  return fmt::format(
      "{}: machine {}, control {}, {}, seed {}\n\n{}\n{}", experiment.workload_name(),
      experiment.machine.name, Name(experiment.control), AskedText(experiment), experiment.seed,
      table.ToString(),
      "Columns with a kernel's name: its normalized IPC. * is the best of the column; "
      "isolated is the baseline,\nwhere the kernels take turns: its STP is 1 by "
      "definition.\n");
}

ordered_json PolicyJson(const Results& results) {
  const ordered_json stats = StatsJson(results);
  ordered_json j;
  for (const char* key : {"policy", "baseline", "cycles", "cut_short", "stp", "fairness", "antt"})
    j[key] = stats[key];
  j["kernels"] = ordered_json::array();
  for (const ordered_json& kernel : stats["kernels"]) {
    ordered_json k;
    for (const char* key : {"slot", "name", "ipc", "ipc_isolated", "normalized_ipc"}) {
      k[key] = kernel[key];
    }
    j["kernels"].push_back(std::move(k));
  }
  j["preemptions"] = stats["preemptions"];
  j["wall"] = stats["wall"];
  return j;
}

std::string CompareJson(const Experiment& experiment, const std::vector<Results>& runs) {
  ordered_json j;
  j["schema"] = 1;
  j["workload"] = experiment.workload_name();
  j["machine"] = experiment.machine.name;
  j["control"] = Name(experiment.control);
  j["cycles"] = experiment.cycles;
  j["seed"] = experiment.seed;
  j["policies"] = ordered_json::array();
  for (const Results& results : runs) j["policies"].push_back(PolicyJson(results));
  return j.dump(2) + "\n";
}

std::string CompareCsv(const Experiment& experiment, const std::vector<Results>& runs) {
  std::string text = "policy,stp,fairness,antt";
  for (std::size_t i = 0; i < experiment.names.size(); ++i) {
    text += fmt::format(",normalized_ipc_{}", i);
  }
  text += ",preemptions,context_bytes,cycles,cut_short\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "";
  };
  for (const Results& results : runs) {
    text += fmt::format("{},{},{},{}", QuotedCell(results.policy.name), number(results.metrics.stp),
                        number(results.metrics.fairness), number(results.metrics.antt));
    for (const auto& normalized : results.metrics.normalized) text += "," + number(normalized);
    text += fmt::format(",{},{},{},{}\n", Total(results.result, &KernelStats::preemptions),
                        Total(results.result, &KernelStats::context_bytes), results.result.cycles,
                        results.result.cut_short);
  }
  return text;
}

// The folder of the comparison and, in the same order as the policies, those of their runs.
struct Folders {
  OutputFolder top;
  std::vector<std::string> names;
  std::vector<OutputFolder> runs;
  std::vector<OutputFolder> old;  // of policies that an earlier comparison had
};

Folders PrepareFolders(const Options& options, const Compared& compared) {
  Folders folders;
  folders.names = FolderNames(compared);
  const std::vector<std::string> before = RunsOfComparison(options.out);
  std::vector<std::string> known = DefaultPolicies();
  known.insert(known.end(), folders.names.begin(), folders.names.end());
  known.insert(known.end(), before.begin(), before.end());
  folders.top = OutputFolder::Prepare(options.out, options.force, known);
  const auto prepare = [&](const std::string& run) {
    return OutputFolder::Prepare(folders.top ? options.out + "/" + run : "", options.force);
  };
  for (const std::string& run : folders.names) folders.runs.push_back(prepare(run));
  for (const std::string& run : before) {
    const bool again =
        std::find(folders.names.begin(), folders.names.end(), run) != folders.names.end();
    if (!again) folders.old.push_back(prepare(run));
  }
  return folders;
}

// Removes runs that are not of this comparison; things of others in their folders stay.
void RemoveOld(std::vector<OutputFolder>* old) {
  for (OutputFolder& folder : *old) {
    const std::string path = folder.path();
    folder.Clear();
    folder = {};
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
}

int Compare(const Context& context, const RunOptions& options) {
  const Experiment experiment = Resolve(options, context.backend);
  const Compared compared = ResolvePolicies(options, experiment);
  const Recording recording = MakeRecording(options);
  Runner runner(context.backend, experiment, MakeRunnerOptions(options));
  Folders folders = PrepareFolders(options, compared);
  RunInto(folders.top, context.command_line, experiment, [&] {
    const std::vector<Results> runs = RunAll(compared, experiment, recording, &runner);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const bool drawable = !runs[i].policy.time_shared || experiment.names.size() == 1;
      WriteRun(folders.runs[i], context.command_line, runs[i], options.timeline && drawable);
      fmt::print(stderr, "{}", WindowNote(runs[i]));
    }
    folders.top.Clear();
    RemoveOld(&folders.old);
    folders.top.Write("compare.csv", CompareCsv(experiment, runs));
    folders.top.Write("compare.json", CompareJson(experiment, runs));
    folders.top.Write("manifest.json", ManifestJson(experiment, context.command_line, "PASS",
                                                    folders.top, folders.names));
    if (options.json) {
      fmt::print("{}", CompareJson(experiment, runs));
    } else {
      fmt::print("{}PASS\n", options.quiet ? "" : Table(experiment, runs));
    }
  });
  return 0;
}

}  // namespace

int CompareCommand(const Context& context, RunOptions options) {
  if (!options.config.empty()) MergeConfig(options.config, /*compare=*/true, &options);
  return options.origins.At([&] { return Compare(context, options); });
}

}  // namespace smk::sim
