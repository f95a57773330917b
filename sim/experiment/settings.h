// SPDX-License-Identifier: Apache-2.0
// `--set key=value`: keys of the machine file, and knobs.
#pragma once

#include <string>
#include <vector>

#include "experiment/knobs.h"

namespace smk::sim {

// The settings of a command line, taken apart.
struct Settings {
  std::vector<KnobSetting> knobs;
  std::vector<std::string> machine;  // overrides for MachineConfig::Load, the last of each key only
};

// A machine's text without its table [host], which only copies read: what decides a run that has
// none.
std::string WithoutHost(const std::string& machine_toml);

// `first`, then `more`, both "key=value": of each key the last value, where its first one was.
std::vector<std::string> MergeSets(const std::vector<std::string>& first,
                                   const std::vector<std::string>& more);

// Takes `sets` ("key=value") apart; throws InputError with the nearest known key for an unknown
// one. `machine_keys` are the dotted keys of the machine file.
Settings ParseSettings(const std::vector<std::string>& sets,
                       const std::vector<std::string>& machine_keys);

}  // namespace smk::sim
