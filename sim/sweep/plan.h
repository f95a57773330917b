// SPDX-License-Identifier: Apache-2.0
// A specification expanded to runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweep/spec.h"
#include "sweep/sweep_run.h"

namespace smk::sim {

// A run that an experiment asks for.
struct SweepMember {
  std::string experiment;
  std::size_t run;  // index
};

struct SweepPlan {
  std::string name;
  std::vector<SweepRun> runs;  // each once; in the order in which they are asked for
  std::vector<SweepMember> members;
};

// The same backend, which reads each workload and each machine once.
Backend RememberingBackend(const Backend& backend);

// Throws InputError "file:line: key: expected what".
SweepPlan ExpandSweep(const SweepSpec& spec, const Backend& backend);

}  // namespace smk::sim
