// SPDX-License-Identifier: Apache-2.0
// smk timeline
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace smk::sim {

struct TimelineOptions {
  std::string folder;            // of a run
  std::string out;               // "": timeline.svg in the folder
  std::string cycles;            // FROM:TO; "": all
  std::string width = "1200";    // pixels
  std::vector<std::string> sms;  // none: all
  bool svg = false;
  bool quiet = false;
};

int TimelineCommand(const Context& context, const TimelineOptions& options);

}  // namespace smk::sim
