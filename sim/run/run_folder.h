// SPDX-License-Identifier: Apache-2.0
// What `run` and `compare` have in common: options that say how, and the files of one run.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/files.h"
#include "run/results.h"
#include "run/runner.h"

namespace smk::sim {

RunnerOptions MakeRunnerOptions(const Options& options);

// What --out and --timeline ask to record; throws InputError when they do not go together.
Recording MakeRecording(const Options& options);

// Writes the files of a run that passed, and others of the caller's: names and texts.
void WriteRun(const OutputFolder& folder, const std::string& command_line, const Results& results,
              bool timeline, const std::map<std::string, std::string>& others = {});
// Does `work`. What it throws goes on to the caller; unless it is an InputError, the folder is left
// with a manifest that says so, and nothing else.
void RunInto(const OutputFolder& folder, const std::string& command_line,
             const Experiment& experiment, const std::function<void()>& work);

}  // namespace smk::sim
