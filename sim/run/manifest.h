// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiment/experiment.h"

namespace smk::sim {

// manifest.json: what produced the files of the folder, and their hashes. `status` is the last line
// of the run, PASS or FAIL.
std::string ManifestJson(const Experiment& experiment, const std::string& command_line,
                         const std::string& status, const OutputFolder& folder);

// Throws InputError when a file of the folder does not have the hash that its manifest lists, or is
// missing. Manifests of older versions list none.
void CheckOutputs(const std::string& folder, const nlohmann::ordered_json& manifest,
                  const std::vector<std::string>& names);

// The words of a command line, quoted for a shell where they need it.
std::string CommandLine(const std::vector<std::string>& words);

}  // namespace smk::sim
