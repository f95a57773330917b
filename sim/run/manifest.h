// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiment/experiment.h"

namespace smk::sim {

// manifest.json: what produced the files beside it. `status` is the last line of the run, PASS or
// FAIL.
std::string ManifestJson(const Experiment& experiment, const std::string& command_line,
                         const std::string& status);

// The words of a command line, quoted for a shell where they need it.
std::string CommandLine(int argc, const char* const* argv);

}  // namespace smk::sim
