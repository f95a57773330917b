// SPDX-License-Identifier: Apache-2.0
// What `smk rtl build` makes, and `smk run --gates` when it is not there: netlists, parts, and the
// shared object of them.
#pragma once

#include <string>
#include <vector>

#include "control/control_plane.h"

namespace smk::sim {

struct BuiltObject {
  std::string path;
  bool was_there = false;
};

// The parts of --control rtl for the control plane of a machine, with these blocks as gates; only
// what is not in the cache is made. Throws InputError when a tool is missing or a machine has no
// such block.
BuiltObject BuildParts(const std::string& machine, const ControlConfig& config,
                       const std::vector<std::string>& gates, bool quiet);
// The same with schedulers and profile counters as compiled gates, for --control compiled.
BuiltObject BuildCompiled(const std::string& machine, const ControlConfig& config, bool quiet);
// The whole chip as one model.
BuiltObject BuildChip(const std::string& machine, const ControlConfig& config, bool quiet);

// What is in the cache.
struct BuiltRtlEntry {
  std::string machine;             // whose it was last
  std::string of;                  // parts, compiled or chip
  std::vector<std::string> gates;  // blocks that are netlists
  std::string path;
};
std::vector<BuiltRtlEntry> ListBuilt();

// "16 SMs of 4 x 16 warps, 4 kernels"
std::string SizeText(const ControlConfig& config);

}  // namespace smk::sim
