// SPDX-License-Identifier: Apache-2.0
// A specification expanded to runs, each with an id made of everything that decides its result.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "replay/measure.h"
#include "sweep/spec.h"

namespace smk::sim {

// What makes a run that of a stream of jobs.
struct SweepStream {
  std::string path;
  std::string scheduler;                  // of the host
  std::string device;                     // cycle, replay
  std::optional<std::size_t> alone = {};  // this job of it, in an isolated run
};

// One simulation of a sweep. Nothing in it depends on which experiment asked for it first.
struct SweepRun {
  std::string id;   // 16 hexadecimal digits
  Options options;  // kernels, machine, control, cycles, seed, arrivals, settings
  std::string policy;
  std::string preempt;                // of a policy that uses it, else ""
  std::optional<SweepStream> stream;  // instead of kernels
  // Ids of the kernels' or jobs' isolated runs, by slot; an isolated run names itself.
  std::vector<std::string> isolated;
  std::string group;  // "C+M"
  // How machine and policy differ from the named ones: "sm.l1.bytes=32768".
  std::vector<std::string> settings;
  std::string workload;  // names of the kernels, joined by +, or that of the stream
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
  MeasureLimits limits = {};  // of a stream on replay
};

// The same backend, which reads each workload and each machine once.
Backend RememberingBackend(const Backend& backend);

// Throws InputError "file:line: key: expected what".
SweepPlan ExpandSweep(const SweepSpec& spec, const Backend& backend);

LoadedRun LoadRun(const SweepRun& run, const Backend& backend);

// Simulates a run of a stream in this process, measurements before it included.
RunResult RunStreamOf(const SweepRun& run, const Backend& backend);

// The `smk run` that is the same run; of a stream the `smk serve`, of a job of it alone the one
// that makes it as well.
std::string RunCommandLine(const SweepRun& run);

}  // namespace smk::sim
