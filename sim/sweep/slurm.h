// SPDX-License-Identifier: Apache-2.0
// smk sweep --slurm: the runs that are missing, as one array job.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweep/plan.h"
#include "sweep/store.h"

namespace smk::sim {

struct SlurmOptions {
  std::string spec;                 // absolute path
  std::string tasks;                // N or N%RUNNING; "": a task for every 64 runs
  std::vector<std::string> sbatch;  // handed through
  std::string data_dir;
  bool retry_failed = false;
  bool wait = false;
  bool quiet = false;
};

// Takes over what finished tasks have left in DB.slurm, and submits a job for what is missing then.
// With `wait`, waits for the job and begins again, up to three times. Gives the exit status.
//
// DB.slurm holds for the job number N of this database: N.runs (ids), N.sh (the script), N.TASK.db
// and N.TASK.log; and `job`, the id of the last one.
int SlurmSweep(const SweepPlan& plan, const std::vector<std::size_t>& runs, SweepStore* store,
               const SlurmOptions& options);

// "task" and "running" of "N%RUNNING"; throws InputError.
struct ArraySize {
  std::size_t tasks = 0, running = 0;  // 0: no limit
};
ArraySize ParseTasks(const std::string& text);

// The value of a key in what `scontrol show config` prints; `otherwise` when it is not there.
std::size_t ConfigNumber(const std::string& config, const std::string& key, std::size_t otherwise);

}  // namespace smk::sim
