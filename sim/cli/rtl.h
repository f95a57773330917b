// SPDX-License-Identifier: Apache-2.0
// `smk rtl`: the RTL of any machine, written out or built for --control rtl.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace smk::sim {

// Which RTL, and where it goes.
struct RtlOptionsOfCommand {
  std::string machine;
  std::vector<std::string> sets;     // KEY=VALUE, of the machine or control.preempted_depth
  std::string kernels;               // emit: kernel slots; "": as many as machines have
  std::string out;                   // emit: the folder
  std::string prefix;                // emit: before the names of all modules and packages
  std::optional<std::string> gates;  // build: these blocks as netlists
  bool json = false;                 // list: as JSON
  bool chip = false;                 // build: smk_top as one model, not the parts
  bool compiled = false;             // build: with compiled gates
  bool force = false;
  bool quiet = false;
};
int RtlBuildCommand(const Context& context, const RtlOptionsOfCommand& options);
int RtlListCommand(const Context& context, const RtlOptionsOfCommand& options);
int RtlEmitCommand(const Context& context, const RtlOptionsOfCommand& options);

}  // namespace smk::sim
