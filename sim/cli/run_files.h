// SPDX-License-Identifier: Apache-2.0
// What `run` and `compare` have in common: options that say how, and the files of one run.
#pragma once

#include <string>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/report.h"
#include "cli/runner.h"

namespace smk::cli {

RunnerOptions MakeRunnerOptions(const Options& options);

// What --out and --timeline ask to record; throws InputError when they do not go together.
Recording MakeRecording(const Options& options);

// Writes the files of a run that passed.
void WriteRun(const OutputFolder& folder, const Context& context, const Report& report,
              bool timeline);
// Writes what there is to say about a run that failed; never throws.
void WriteFailure(const OutputFolder& folder, const Context& context, const Experiment& experiment,
                  const std::string& status) noexcept;

}  // namespace smk::cli
