// SPDX-License-Identifier: Apache-2.0
// smk run
#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/rtl_build.h"
#include "experiment/config_file.h"
#include "run/run_folder.h"

namespace smk::sim {
namespace {

constexpr char kDefaultPolicy[] = "smk-pw";

void RefuseForBaseline(const Options& options, const Experiment& experiment) {
  if (!options.arrivals.empty()) {
    throw InputError("--arrive: has no meaning for the policy isolated, where kernels run alone");
  }
  if (options.timeline && experiment.names.size() > 1) {
    throw InputError(
        "--timeline: the policy isolated runs each kernel alone; ask for one kernel at a time");
  }
  if (options.wave && experiment.names.size() > 1) {
    throw InputError(
        "--wave: the policy isolated runs each kernel alone; ask for one kernel at a time");
  }
}

int Run(const Context& context, const RunOptions& options) {
  Experiment experiment = Resolve(options, context.backend);
  const Policy policy =
      ResolvePolicy(options.policy.value_or(kDefaultPolicy), options.preempt, experiment);
  if (policy.time_shared) RefuseForBaseline(options, experiment);
  const Recording recording = MakeRecording(options);
  Runner runner(context.backend, experiment, MakeRunnerOptions(options));
  const OutputFolder folder = OutputFolder::Prepare(options.out, options.force);
  if (!experiment.gates.empty()) {
    experiment.rtl_object = BuildParts(experiment.machine.name, experiment.control_config,
                                       experiment.gates, options.quiet || options.json)
                                .path;
  }
  RunInto(folder, context.command_line, experiment, [&] {
    const Results results = runner.Run(policy, recording);
    WriteRun(folder, context.command_line, results, options.timeline.has_value());
    fmt::print(stderr, "{}", WindowNote(results));
    if (options.json) {
      fmt::print("{}\n", StatsJson(results).dump(2));
    } else {
      fmt::print("{}PASS\n", options.quiet ? "" : Summary(results));
    }
  });
  return 0;
}

}  // namespace

int RunCommand(const Context& context, RunOptions options) {
  if (!options.config.empty()) MergeConfig(options.config, /*compare=*/false, &options);
  return options.origins.At([&] { return Run(context, options); });
}

}  // namespace smk::sim
