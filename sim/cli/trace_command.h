// SPDX-License-Identifier: Apache-2.0
// Accel-Sim traces on the command line: their names as kernels of a run, and `smk trace`.
#pragma once

#include <string>

#include "cli/backend.h"
#include "cli/commands.h"

namespace smk::cli {

// A kernel of a run that is a trace: "trace:PATH", or "trace:PATH:N" for one of its streams.
struct TraceName {
  std::string path;
  std::size_t stream = 0;  // from 1; 0: all
};

// Whether `name` names a trace at all.
bool IsTraceName(const std::string& name);
// Takes the name apart.
TraceName ParseTraceName(const std::string& name);
// The same name with an absolute path.
std::string PortableTraceName(const std::string& name);

// What `smk trace info` shows.
struct TraceInfoOptions {
  std::string path;
  bool json = false;
  bool strict = false;
  bool no_cache = false;
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

}  // namespace smk::cli
