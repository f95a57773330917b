// SPDX-License-Identifier: Apache-2.0
#include "run/run_folder.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/gzip.h"
#include "base/numbers.h"
#include "base/shared_folder.h"
#include "experiment/config_file.h"
#include "run/manifest.h"
#include "run/timeline.h"
#include "waves/view.h"

namespace smk::sim {

RunnerOptions MakeRunnerOptions(const Options& options) {
  RunnerOptions runner;
  runner.jobs = options.jobs.empty()
                    ? Processors()
                    : static_cast<unsigned>(ParseCount("--jobs", options.jobs, 1, 1024));
  runner.quiet = options.quiet;
  if (!options.no_cache) runner.cache_folder = CacheFolder();
  return runner;
}

Recording MakeRecording(const Options& options) {
  if (options.force && options.out.empty()) throw InputError("--force: needs --out DIR");
  const bool out = !options.out.empty();
  return {out, out, out, options.timeline.has_value(), options.wave.has_value()};
}

namespace {

// Gives a waveform its name and writes what GTKWave shows of it.
void FinishWave(const OutputFolder& folder, const Experiment& experiment) {
  if (experiment.wave.path.empty() || !std::filesystem::exists(experiment.wave.path)) return;
  const std::string fst_path = folder.path() + "/wave.fst";
  std::filesystem::rename(experiment.wave.path, fst_path);
  const FstFile fst(fst_path);
  const WaveView view = RunWaveView(SharedFile("tb"), fst);
  folder.Write("wave.gtkw",
               WriteGtkw(view, fst.signals(), "", "wave.fst", FindWindow(view, fst, "")).text);
}

void WriteTimeline(const OutputFolder& folder, const Results& results) {
  const TimelineTrace trace = TimelineJson(results);
  folder.Write("timeline.json.gz", Gzip(trace.json));
  if (trace.cut) {
    fmt::print(stderr,
               "smk: warning: timeline.json.gz ends at cycle {}, it is full; --timeline FROM:TO "
               "shows others\n",
               *trace.cut);
  }
}

// Writes what there is to say about a run that failed.
void WriteFailure(const OutputFolder& folder, const std::string& command_line,
                  const Experiment& experiment, const std::string& status) noexcept {
  try {
    if (!folder) return;
    folder.Clear();
    FinishWave(folder, experiment);
    folder.Write("manifest.json", ManifestJson(experiment, command_line, status, folder));
  } catch (const std::exception& error) {
    fmt::print(stderr, "smk: warning: {}\n", error.what());
  }
}

}  // namespace

void WriteRun(const OutputFolder& folder, const std::string& command_line, const Results& results,
              bool timeline, const std::map<std::string, std::string>& others) {
  if (!folder) return;
  folder.Clear();
  for (const auto& [name, text] : others) folder.Write(name, text);
  folder.Write("config.toml", ConfigToml(*results.experiment, results.policy));
  folder.Write("stats.json", StatsJson(results).dump(2) + "\n");
  folder.Write("kernels.csv", KernelsCsv(results));
  folder.Write("stalls.csv", StallsCsv(results));
  folder.Write("jobs.csv", JobsCsv(results));
  folder.Write("launches.csv", LaunchesCsv(results));
  if (!results.result.copy_records.empty()) folder.Write("copies.csv", CopiesCsv(results));
  folder.Write("tbs.csv", TbsCsv(results));
  folder.Write("decisions.csv", DecisionsCsv(results));
  // Kernels that ran one after another have no time in common.
  if (!results.policy.time_shared || results.result.kernels.size() == 1) {
    folder.Write("samples.csv", SamplesCsv(results));
  }
  if (timeline) WriteTimeline(folder, results);
  FinishWave(folder, *results.experiment);
  // Last: a folder with a manifest is complete.
  folder.Write("manifest.json", ManifestJson(*results.experiment, command_line, "PASS", folder));
}

void RunInto(const OutputFolder& folder, const std::string& command_line,
             const Experiment& experiment, const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    WriteFailure(folder, command_line, experiment, fmt::format("FAIL: {}", error.what()));
    throw;
  }
}

}  // namespace smk::sim
