// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiment/experiment.h"

namespace smk::sim {

// manifest.json: what produced the files of the folder, and their hashes. `status` is the last line
// of the run, PASS or FAIL; `runs` are folders inside, whose manifests are listed like files.
std::string ManifestJson(const Experiment& experiment, const std::string& command_line,
                         const std::string& status, const OutputFolder& folder,
                         const std::vector<std::string>& runs = {});

// The name of a run's manifest in that of its comparison.
std::string ManifestOf(const std::string& run);

// The runs of the comparison in a folder that are there as its manifest lists them.
std::vector<std::string> RunsOfComparison(const std::string& folder);

// Throws InputError when a file of the folder does not have the hash that its manifest lists, or is
// missing. Manifests of older versions list none.
void CheckOutputs(const std::string& folder, const nlohmann::ordered_json& manifest,
                  const std::vector<std::string>& names);

// The words of a command line, quoted for a shell where they need it.
std::string CommandLine(const std::vector<std::string>& words);

}  // namespace smk::sim
