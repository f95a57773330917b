// SPDX-License-Identifier: Apache-2.0
#include "cli/run_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "cli/config_file.h"
#include "cli/gzip.h"
#include "cli/manifest.h"
#include "cli/numbers.h"
#include "cli/timeline.h"
#include "cosim/wave_view.h"

namespace smk::cli {

RunnerOptions MakeRunnerOptions(const Options& options) {
  RunnerOptions runner;
  runner.jobs = options.jobs.empty()
                    ? Processors()
                    : static_cast<unsigned>(ParseCount("--jobs", options.jobs, 1, 1024));
  runner.quiet = options.quiet;
  if (!options.no_cache) runner.cache_folder = IsolatedCache::DefaultFolder();
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
  const WaveView view = RunWaveView(SMK_WAVES_DIR, fst);
  folder.Write("wave.gtkw",
               WriteGtkw(view, fst.signals(), "", "wave.fst", FindWindow(view, fst, "")).text);
}

void WriteTimeline(const OutputFolder& folder, const Report& report) {
  const TimelineTrace trace = TimelineJson(report);
  folder.Write("timeline.json.gz", Gzip(trace.json));
  if (trace.cut) {
    fmt::print(stderr,
               "smk: warning: timeline.json.gz ends at cycle {}, it is full; --timeline FROM:TO "
               "shows others\n",
               *trace.cut);
  }
}

}  // namespace

void WriteRun(const OutputFolder& folder, const Context& context, const Report& report,
              bool timeline) {
  if (!folder) return;
  folder.Clear();
  folder.Write("config.toml", ConfigToml(*report.experiment, report.policy));
  folder.Write("stats.json", StatsJson(report).dump(2) + "\n");
  folder.Write("kernels.csv", KernelsCsv(report));
  folder.Write("tbs.csv", TbsCsv(report));
  folder.Write("decisions.csv", DecisionsCsv(report));
  // Kernels that ran one after another have no time in common.
  if (!report.policy.time_shared || report.result.kernels.size() == 1) {
    folder.Write("samples.csv", SamplesCsv(report));
  }
  if (timeline) WriteTimeline(folder, report);
  FinishWave(folder, *report.experiment);
  // Last: a folder with a manifest is complete.
  folder.Write("manifest.json", ManifestJson(*report.experiment, context.command_line, "PASS"));
}

void WriteFailure(const OutputFolder& folder, const Context& context, const Experiment& experiment,
                  const std::string& status) noexcept {
  try {
    if (!folder) return;
    folder.Clear();
    FinishWave(folder, experiment);
    folder.Write("manifest.json", ManifestJson(experiment, context.command_line, status));
  } catch (const std::exception& error) {
    fmt::print(stderr, "smk: warning: {}\n", error.what());
  }
}

}  // namespace smk::cli
