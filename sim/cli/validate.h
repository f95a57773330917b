// SPDX-License-Identifier: Apache-2.0
// `smk validate`: traces beside the cycles that another simulator needs for them.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace smk::sim {

// What `smk validate` runs.
struct ValidateOptions {
  std::string folder;
  std::vector<std::string> only;  // traces whose names begin so; none: all
  std::string machine = "gtx980-accelsim";
  std::vector<std::string> sets;
  std::string cycles = "1G";  // of a trace, at most
  std::string within;         // per cent
  std::string jobs;
  std::string csv, json;
  bool no_cache = false;
  bool quiet = false;
};
int ValidateCommand(const Context& context, const ValidateOptions& options);

}  // namespace smk::sim
