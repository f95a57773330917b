// SPDX-License-Identifier: Apache-2.0
// What the host of a stream did over time, for timelines: copies, launches, and how many jobs are
// in which state. Nothing of a run without a stream.
#pragma once

#include <string>
#include <vector>

#include "run/results.h"

namespace smk::sim {

// Something that lasts. The slices of a track do not overlap, and are in order of time.
struct HostSlice {
  Cycle begin = 0, end = 0;
  JobId job{0};
  std::string name;
  nlohmann::ordered_json args;
};

struct HostTrack {
  std::string name;
  std::vector<HostSlice> slices;
};

// The engine of each direction, if there are copies; each kernel slot that had a launch. What has
// not ended ends with the run.
std::vector<HostTrack> HostTracks(const Results& results);

// Jobs in each state of docs/serve.md but done, from this cycle on; one for each cycle in which one
// changes, in order of time.
struct JobCounts {
  Cycle cycle = 0;
  unsigned waiting = 0, ready = 0, running = 0;
};
std::vector<JobCounts> CountJobs(const std::vector<JobStats>& jobs);

}  // namespace smk::sim
