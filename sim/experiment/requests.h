// SPDX-License-Identifier: Apache-2.0
// The runs that an experiment asks for.
#pragma once

#include "experiment/experiment.h"

namespace smk::sim {

// What is recorded besides the statistics.
struct Recording {
  bool tbs = false;
  bool decisions = false;
  bool samples = false;  // at the end of each epoch, without a timeline
  bool timeline = false;
  bool wave = false;
};

// The run of all kernels together.
// Cycles that a run of the kernels together has at most; until equal work more than `--cycles`.
Cycle MostCycles(const Experiment& experiment);

RunRequest SharedRequest(const Experiment& experiment, const Policy& policy,
                         const Recording& recording);

// In a run until equal work: the job has as much to do as it did alone. Throws InputError when that
// was nothing.
void SetWork(std::size_t job, const RunResult& alone, RunRequest* request);

// The run of one kernel alone on the whole GPU, from cycle 0, for the same number of cycles. Its
// control plane places TBs wherever there is room; only knobs that matter to it alone hold.
RunRequest IsolatedRequest(const Experiment& experiment, std::size_t kernel,
                           const Recording& recording);

// The first kernel that does the same as this one: their isolated runs are one.
std::size_t FirstAlike(const Experiment& experiment, std::size_t kernel);

}  // namespace smk::sim
