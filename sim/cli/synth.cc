// SPDX-License-Identifier: Apache-2.0
#include "cli/synth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <thread>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "report/page.h"
#include "synth/tables.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

// A block may be so much larger than in the table.
constexpr double kTolerancePercent = 5;

// What the RTL refuses when it is elaborated, which takes the tools for ever far beyond it.
struct Range {
  unsigned least = 1, most = 1 << 20;
};
Range RangeOf(const std::string& name) {
  static const std::map<std::string, Range> kRanges = {{"NumSms", {1, kMaxSms}},
                                                       {"NumKernels", {2, kMaxKernels}},
                                                       {"NumSchedulers", {1, kMaxSchedulers}},
                                                       {"WarpsPerScheduler", {2, 32}},
                                                       {"LimitThreads", {1, kMaxWarps}},
                                                       {"LimitTbs", {1, 32}},
                                                       {"PreemptedDepth", {4, 32768}}};
  const auto known = kRanges.find(name);
  return known == kRanges.end() ? Range{} : known->second;
}

// Applies --set NAME=N.
void Set(const std::string& text, SynthConfig* config) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool word =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  if (name.empty() || !word || equals == std::string::npos) {
    throw InputError(fmt::format("--set {}: expected NAME=N", text));
  }
  const Range range = RangeOf(name);
  const auto value = static_cast<unsigned>(
      ParseCount("--set " + name, text.substr(equals + 1), range.least, range.most));
  if (name == "NumSms") config->sms = value;
  if (name == "NumKernels") config->kernels = value;
  config->sets[name] = value;
}

// The library with the wires that were asked for, in a file of its own when these are not its own.
void LoadCells(const std::string& path, const ToolCache& cache, SynthTarget* target) {
  target->liberty = LoadLiberty(path);
  const std::string text = ReadFile(path);
  target->wire_name = DefaultWires(text);
  if (target->wires.kind == WireModel::Kind::kLibrary) return;
  target->liberty = LoadLiberty(cache.Keep(WithWires(path, text, target->wires), ".lib"));
}

SynthTarget Target(const SynthCatalogue& catalogue, const SynthOptions& options,
                   const ToolCache& cache) {
  SynthTarget target;
  target.config = catalogue.Config(options.config);
  for (const std::string& set : options.sets) Set(set, &target.config);
  target.mhz = static_cast<double>(ParseCount("--mhz", options.mhz, 1, 100000));
  target.wires = WireModel::Parse("--wires", options.wires);
  target.uncertainty = static_cast<double>(ParseCount("--uncertainty", options.uncertainty, 0, 50));
  target.repair = static_cast<unsigned>(ParseCount("--repair", options.repair, 0, 10000));
  target.corner = options.corner;
  target.derate = catalogue.Derate(options.corner);
  LoadCells(options.liberty.empty() ? catalogue.liberty() : fs::absolute(options.liberty).string(),
            cache, &target);
  return target;
}

std::vector<std::string> Names(const SynthCatalogue& catalogue, const SynthOptions& options) {
  std::vector<std::string> names;
  for (const std::string& name : options.blocks) names.push_back(catalogue.Find(name).name);
  if (!names.empty()) return names;
  for (const SynthBlock& block : catalogue.blocks()) names.push_back(block.name);
  return names;
}

unsigned Jobs(const SynthOptions& options) {
  if (!options.jobs) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(ParseCount("--jobs", *options.jobs, 1, 256));
}

std::string ToolFolder(const SynthOptions& options) {
  const std::string folder = options.no_cache ? "" : CacheFolder();
  return folder.empty() ? "" : fs::absolute(folder + "/synth").string();
}

// Only what is not the same as when the table was made.
std::vector<SynthBlock> Changed(const SynthFlow& flow, const std::vector<SynthBlock>& blocks,
                                const AreaTable& table) {
  std::vector<SynthBlock> changed;
  for (const SynthBlock& block : blocks) {
    if (flow.Inputs(block) != table.Inputs(block.name)) changed.push_back(block);
  }
  return changed;
}

int Check(const SynthFlow& flow, const SynthOptions& options, const SynthTarget& target,
          const std::vector<SynthBlock>& blocks, const SynthProgress& progress) {
  const AreaTable table(options.against);
  table.RequireSameTarget(target);
  const std::vector<SynthBlock> changed = Changed(flow, blocks, table);
  std::vector<std::string> grown;
  if (!changed.empty()) {
    grown = table.Grown(flow.Run(changed, false, Jobs(options), progress), kTolerancePercent);
  }
  if (!grown.empty()) {
    throw std::runtime_error(
        fmt::format("{}; when that is meant, write the table again with --json {}",
                    Join(grown, "; "), options.against));
  }
  fmt::print(
      "{} of {} blocks are made of something else than in {}; none has grown by more than "
      "{:.0f} %\nPASS\n",
      changed.size(), blocks.size(), options.against, kTolerancePercent);
  return 0;
}

// The page of `smk synth --html`.
void WriteHtml(const SynthSummary& summary, const std::string& path) {
  nlohmann::ordered_json data;
  data["kind"] = "synth";
  data["statistics"] = nlohmann::ordered_json::object();
  data["synth"] = ToJson(summary);
  data["papers"] = PaperJson(summary);
  // Registers are no matter for a page: thousands of names.
  for (auto& block : data["synth"]["blocks"]) block.erase("registers");
  const SynthTarget& target = summary.target;
  WritePage(path,
            fmt::format("Area and timing of {} in {}", target.config.name, target.liberty.name),
            "smk synth", data);
}

// `--json BLOCK` would overwrite a file where JSON on stdout is meant.
void CheckJson(const SynthCatalogue& catalogue, const SynthOptions& options) {
  for (const SynthBlock& block : catalogue.blocks()) {
    if (options.json == block.name) {
      throw InputError(fmt::format(
          "--json {0}: expected a file, got a block; write {0} before --json", block.name));
    }
  }
  if (!options.html.empty() && !options.against.empty()) {
    throw InputError("--html: --against makes no page");
  }
  if (options.PrintsJson() && !options.against.empty()) {
    throw InputError("--json: --against prints no numbers");
  }
}

}  // namespace

int SynthCommand(const Context& context, const SynthOptions& options) {
  const SynthCatalogue catalogue(context.backend.data_dir);
  const std::vector<std::string> names = Names(catalogue, options);
  CheckJson(catalogue, options);
  // Before minutes of work.
  if (!options.html.empty()) {
    EmptyPage();
    RequireWritable("--html", options.html);
  }
  if (options.json && !options.PrintsJson()) RequireWritable("--json", *options.json);
  RequireTool("yosys", "yosys");
  const bool timing = !options.no_timing && options.against.empty();
  if (timing) RequireTool("sta", "opensta");
  ToolCache cache(ToolFolder(options));
  const SynthTarget target = Target(catalogue, options, cache);
  const OutputFolder out = OutputFolder::Prepare(options.out, true);
  const SynthFlow flow(catalogue, target, &cache);
  const std::vector<SynthBlock> blocks = flow.WithContents(names);
  Progress line(options.quiet);
  const SynthProgress progress = [&](const std::string& text) { line.Line(text); };
  if (!options.against.empty()) return Check(flow, options, target, blocks, progress);

  SynthSummary summary;
  summary.target = target;
  summary.results = flow.Run(blocks, timing, Jobs(options), progress);
  line.Clear();
  if (out) flow.CopyFiles(blocks, timing, out.path());
  if (!options.html.empty()) WriteHtml(summary, options.html);
  const std::string json = ToJson(summary).dump(1) + '\n';
  if (options.PrintsJson()) {
    fmt::print("{}", json);
    return 0;
  }
  if (options.json) WriteFileAtomically(*options.json, json);
  if (!options.quiet) fmt::print("{}", ToText(summary));
  return 0;
}

}  // namespace smk::sim
