// SPDX-License-Identifier: Apache-2.0
// The subcommands. Each returns the exit status; InputError and other exceptions are the caller's.
#pragma once

#include <string>
#include <vector>

#include "experiment/backend.h"
#include "experiment/experiment.h"

namespace smk::sim {

// What every command gets.
struct Context {
  const Backend& backend;
  std::string command_line;  // for the manifest
};

// What is run, and what is printed of it.
struct RunOptions : Options {
  bool json = false;  // the results as JSON, and nothing else
};
int RunCommand(const Context& context, RunOptions options);
int CompareCommand(const Context& context, RunOptions options);

// What `smk list` shows.
struct ListOptions {
  std::string what;                  // kernels, policies, schedulers, machines, ...
  std::vector<std::string> kernels;  // only these; none: all there are
  std::string machine;
  bool json = false;
  std::string of;         // statistics: of this object only
  bool markdown = false;  // settings, keys, statistics: the tables of the manual
};
int ListCommand(const Context& context, const ListOptions& options);

int DoctorCommand(const Context& context);

// The whole command: parses, runs, reports errors as one line on stderr. Exit status 0, 1 or 2.
int Main(int argc, const char* const* argv, const Backend& backend);

}  // namespace smk::sim
