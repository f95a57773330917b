// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiment/experiment.h"

namespace smk::sim {

// A name stays a name; the path of a file is made absolute, so that the folder can be used from
// anywhere.
std::string PortableName(const std::string& name);

// Everything in effect, as a file for `smk run --config`.
std::string ConfigToml(const Experiment& experiment, const Policy& policy);

// Reads such a file into what the command line left open. A machine on the command line replaces
// the file's machine. Under another policy than the file's, and in a comparison, what belongs to
// the file's policy alone does not count: `preempt` and the knobs of which each policy has its own
// value; with other kernels, `arrive`.
void MergeConfig(const std::string& path, bool compare, Options* options);

}  // namespace smk::sim
