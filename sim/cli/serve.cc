// SPDX-License-Identifier: Apache-2.0
#include "cli/serve.h"

#include <fmt/format.h>

#include "base/error.h"
#include "serve/serve.h"
#include "serve/stream_run.h"
#include "serve/tenant_serve.h"
#include "sweep/plan.h"

namespace smk::sim {
namespace {

// Clients with scripts instead of jobs.
int ServeTenants(const Context& context, const ServeOptions& options, const Backend& backend) {
  if (options.no_overlap) {
    throw InputError("--no-overlap: clients with scripts have no copies; expected none");
  }
  TenantServing serving =
      PrepareTenants(options.spec, options, options.scheduler, backend, options.device);
  MakeRecording(serving.options);
  if (serving.options.timeline && serving.options.out.empty()) {
    throw InputError("--timeline: needs --out DIR");
  }
  const OutputFolder folder = OutputFolder::Prepare(options.out, options.force);
  RunInto(folder, context.command_line, serving.experiment, [&] {
    MeasureTenantKernels(backend, &serving);
    const TenantResults results = RunTenantServing(serving, backend);
    WriteTenants(folder, context.command_line, serving, results);
    if (options.json) {
      fmt::print("{}\n", TenantJson(serving, results).dump(2));
    } else {
      fmt::print("{}PASS\n", options.quiet ? "" : TenantSummary(serving, results));
    }
  });
  return 0;
}

}  // namespace

int ServeCommand(const Context& context, const ServeOptions& options) {
  const Backend backend = RememberingBackend(context.backend);
  if (IsTenantSpec(options.spec)) return ServeTenants(context, options, backend);
  Serving serving = PrepareServing(options.spec, options, options.scheduler, !options.no_overlap,
                                   backend, options.device);
  const Recording recording = MakeRecording(serving.options);
  const OutputFolder folder = OutputFolder::Prepare(options.out, options.force);
  RunInto(folder, context.command_line, serving.experiment, [&] {
    std::map<std::string, std::string> files;
    files["stream.toml"] =
        StreamToml(serving.spec, serving.options, serving.scheduler.text,
                   serving.experiment.stream.overlap_copies, serving.jobs, serving.device);
    const StreamDevice device(backend, serving);
    PlanScheduler(backend, device.profiled_tbs(), &serving, options.out.empty() ? nullptr : &files);
    Runner runner(device.backend(), serving.experiment, RunnerOptionsOf(serving));
    const Results results = runner.Run(serving.policy, recording);
    if (const auto rates = device.RatesCsv()) files["replay_rates.csv"] = *rates;
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
