// SPDX-License-Identifier: Apache-2.0
#include "cli/serve.h"

#include <fmt/format.h>

#include "base/error.h"
#include "serve/serve.h"
#include "sweep/plan.h"

namespace smk::sim {

int ServeCommand(const Context& context, const ServeOptions& options) {
  const Backend backend = RememberingBackend(context.backend);
  Serving serving =
      PrepareServing(options.spec, options, options.scheduler, !options.no_overlap, backend);
  const Recording recording = MakeRecording(serving.options);
  const OutputFolder folder = OutputFolder::Prepare(options.out, options.force);
  RunInto(folder, context.command_line, serving.experiment, [&] {
    std::map<std::string, std::string> files;
    files["stream.toml"] = StreamToml(serving.spec, serving.options, serving.scheduler.text,
                                      serving.experiment.stream.overlap_copies, serving.jobs);
    PlanScheduler(backend, &serving, &files);
    Runner runner(backend, serving.experiment, MakeRunnerOptions(serving.options));
    const Results results = runner.Run(serving.policy, recording);
    WriteRun(folder, context.command_line, results, options.timeline.has_value(), files);
    if (options.json) {
      fmt::print("{}\n", StatsJson(results).dump(2));
    } else {
      fmt::print("{}PASS\n", options.quiet ? "" : ServeSummary(results));
    }
  });
  return 0;
}

}  // namespace smk::sim
