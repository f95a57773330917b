// SPDX-License-Identifier: Apache-2.0
// smk report
#pragma once

#include <string>

#include "cli/commands.h"

namespace smk::sim {

struct ReportOptions {
  std::string path;  // a run's or a comparison's folder, or a sweep's database
  std::string out;   // "": report.html in the folder, or beside the database
  std::string title;
  bool quiet = false;
};

int ReportCommand(const Context& context, const ReportOptions& options);

}  // namespace smk::sim
