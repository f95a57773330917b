// SPDX-License-Identifier: Apache-2.0
// A stream of jobs under a host scheduler, from its specification to the table on the terminal.
#pragma once

#include <map>
#include <string>

#include "run/run_folder.h"
#include "serve/devices.h"
#include "serve/kernelet_profiles.h"
#include "serve/schedulers.h"
#include "serve/stream.h"

namespace smk::sim {

// A stream that can be run.
struct Serving {
  StreamSpec spec;
  Options options;  // what the command was given, else the specification, else the default
  SchedulerChoice scheduler;
  DeviceChoice device;
  std::vector<PlannedJob> jobs;
  Experiment experiment;
  Policy policy;
};

// `scheduler` and `device`: of the command line, or empty. `overlap`: false goes before the file.
// Throws InputError.
Serving PrepareServing(const std::string& path, Options options, const std::string& scheduler,
                       bool overlap, const Backend& backend, const DeviceOptions& device = {});

// How runs of the stream are made: what replay gives is not kept, only its rates are.
RunnerOptions RunnerOptionsOf(const Serving& serving);

// What the scheduler has to know of the kernels is measured by the cycle model, of so many of their
// TBs, and written into `files`: names and texts. Without `files` no pair is predicted that the
// scheduler does not ask for.
void PlanScheduler(const Backend& cycle_model, const ProfiledTbs& tbs, Serving* serving,
                   std::map<std::string, std::string>* files);

// The table at the end of `smk serve`.
std::string ServeSummary(const Results& results);

}  // namespace smk::sim
