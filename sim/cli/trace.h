// SPDX-License-Identifier: Apache-2.0
// smk trace info|export
#pragma once

#include <string>

#include "cli/commands.h"

namespace smk::sim {

// What `smk trace info` shows.
struct TraceInfoOptions {
  std::string path;
  bool json = false;
  bool strict = false;
  bool no_cache = false;
  bool verify = false;
};
int TraceInfoCommand(const Context& context, const TraceInfoOptions& options);

// What `smk trace export` writes.
struct TraceExportOptions {
  std::string kernel;
  std::string out;
  std::string tbs;
  std::string launches;
  std::string max_instructions;
  std::string seed = "1";
  bool force = false;
};
int TraceExportCommand(const Context& context, const TraceExportOptions& options);

}  // namespace smk::sim
