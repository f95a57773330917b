// SPDX-License-Identifier: Apache-2.0
// smk sweep: many runs from one specification, into one database.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/sweep_plan.h"

namespace smk::cli {

// The options of `sweep` as text; "" or empty: not given.
struct SweepOptions {
  std::string spec;
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

// Keeps the runs of some experiments and the isolated runs that they need. Throws InputError for a
// name that is not in the plan.
void KeepExperiments(const std::vector<std::string>& names, SweepPlan* plan);

// Keeps the runs whose ids the file lists. Throws InputError for one that is not in the plan.
void KeepListed(const std::string& path, SweepPlan* plan);

// Indices of the runs of part K of N, of `text` "K/N" ("": all of them): every N-th run.
std::vector<std::size_t> ShardRuns(const SweepPlan& plan, const std::string& text);

}  // namespace smk::cli
