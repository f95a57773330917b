// SPDX-License-Identifier: Apache-2.0
// smk sweep: many runs from one specification, into one database.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "sweep/words.h"

namespace smk::sim {

// The options of `sweep` as text; "" or empty: not given.
struct SweepOptions {
  std::string spec;
  SweepWords words;  // instead of a file; `spec` has the workloads
  std::string jobs;
  std::string shard;          // K/N
  std::string out;            // the database
  std::string export_format;  // csv or json
  std::vector<std::string> merge;
  std::vector<std::string> experiments;
  bool list = false;
  bool retry_failed = false;
  bool one_writer = false;
  std::string runs_file;  // ids, one in a line
  bool slurm = false;
  bool wait = false;
  std::string tasks;
  std::vector<std::string> sbatch;
  bool quiet = false;
};

int SweepCommand(const Context& context, const SweepOptions& options);

}  // namespace smk::sim
