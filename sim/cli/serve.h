// SPDX-License-Identifier: Apache-2.0
// smk serve: a stream of jobs under a host scheduler.
#pragma once

#include <string>

#include "cli/commands.h"
#include "serve/devices.h"

namespace smk::sim {

// The options of `serve` as text; "" or empty: not given.
struct ServeOptions : RunOptions {
  std::string spec;
  std::string scheduler;
  DeviceOptions device;
  bool no_overlap = false;
};
int ServeCommand(const Context& context, const ServeOptions& options);

}  // namespace smk::sim
