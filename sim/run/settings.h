// SPDX-License-Identifier: Apache-2.0
// `--set key=value`: keys of the machine file, and of the policy, the control plane and the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/backend.h"
#include "run/policies.h"

namespace smk::sim {

// Everything `--set` can change besides the machine. Empty: the policy's own value holds.
struct Tunables {
  std::optional<std::uint64_t> epoch_length;
  std::optional<std::uint64_t> linger_ticks;
  std::optional<std::uint64_t> kernels_per_sm;
  std::optional<std::uint64_t> latency_scale;
  std::optional<WarpPolicy> warp_policy;
  std::optional<std::uint64_t> preempted_depth;
  bool ideal_preemption = false;
  std::uint64_t grid_divisor = 1;
};

// The settings of a command line, taken apart.
struct Settings {
  Tunables tunables;
  std::vector<std::string> machine;  // overrides for MachineConfig::Load, the last of each key only
};

// One key that is not of the machine file.
struct TunableInfo {
  std::string key;
  std::string expected;
  std::string description;
};
const std::vector<TunableInfo>& TunableKeys();

// Dotted names and values of all leaves of a TOML document, in its order; strings without quotes.
std::vector<std::pair<std::string, std::string>> FlattenToml(const std::string& toml,
                                                             const std::string& what);

// Takes `sets` ("key=value") apart; throws InputError with the nearest known key for an unknown
// one. `machine_keys` are the dotted keys of the machine file.
Settings ParseSettings(const std::vector<std::string>& sets,
                       const std::vector<std::string>& machine_keys);

// Puts what the user set over the policy's own values.
void Apply(const Tunables& tunables, PolicyConfig* config);

}  // namespace smk::sim
