// SPDX-License-Identifier: Apache-2.0
// One run of a sweep, with an id made of everything that decides its result: loaded, named, and as
// a command.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "replay/measure.h"
#include "serve/stream_run.h"

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

// Everything about a run that can be loaded from its options.
struct LoadedRun {
  Experiment experiment;
  Policy policy;
  RunRequest request;
  MeasureLimits limits = {};  // of a stream on replay
};

// The stream as the command has it, with what the run says.
Serving ServingOf(const SweepStream& stream, const Options& options, const Backend& backend);

LoadedRun LoadRun(const SweepRun& run, const Backend& backend);
// The job alone, or the whole stream.
LoadedRun LoadStream(const SweepRun& run, const Serving& serving);
// The run of these kernels together.
LoadedRun LoadShared(const SweepRun& run, const Experiment& experiment);

// The hash of everything that decides the result, but the program that computes it.
std::string RunId(const SweepRun& of, const LoadedRun& run);
// The types of the kernels: "C+M".
std::string GroupName(const Experiment& experiment);
// Fills in group, workload and settings.
void NameRun(const LoadedRun& loaded, const Backend& backend, SweepRun* run);

// Simulates a run of a stream in this process, measurements before it included.
RunResult RunStreamOf(const SweepRun& run, const Backend& backend);

// The `smk run` that is the same run; of a stream the `smk serve`, of a job of it alone the one
// that makes it as well.
std::string RunCommandLine(const SweepRun& run);

}  // namespace smk::sim
