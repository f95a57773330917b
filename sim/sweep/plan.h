// SPDX-License-Identifier: Apache-2.0
// A specification expanded to runs, each with an id made of everything that decides its result.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "sweep/spec.h"

namespace smk::sim {

// One simulation of a sweep. Nothing in it depends on which experiment asked for it first.
struct SweepRun {
  std::string id;   // 16 hexadecimal digits
  Options options;  // kernels, machine, control, cycles, seed, arrivals, settings
  std::string policy;
  std::string preempt;  // of a policy that uses it, else ""
  // Ids of the kernels' isolated runs, by slot; an isolated run names itself.
  std::vector<std::string> isolated;
  std::string group;  // "C+M"
  // How machine and policy differ from the named ones: "sm.l1.bytes=32768".
  std::vector<std::string> settings;
  std::string workload;  // names of the kernels, joined by +
  bool is_isolated() const { return policy == "isolated"; }
};

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

// Everything about a run that can be loaded from its options.
struct LoadedRun {
  Experiment experiment;
  Policy policy;
  RunRequest request;
};

// The same backend, which reads each workload and each machine once.
Backend RememberingBackend(const Backend& backend);

// Throws InputError "file:line: key: expected what".
SweepPlan ExpandSweep(const SweepSpec& spec, const Backend& backend);

LoadedRun LoadRun(const SweepRun& run, const Backend& backend);

// The `smk run` that is the same run.
std::string RunCommandLine(const SweepRun& run);

}  // namespace smk::sim
