// SPDX-License-Identifier: Apache-2.0
#include "run/host_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace smk::sim {
namespace {

void AddCopies(const Results& results, std::vector<HostTrack>* tracks) {
  if (results.result.copy_records.empty()) return;
  std::array<HostTrack, 2> engines = {HostTrack{"copies to the GPU", {}},
                                      HostTrack{"copies to the host", {}}};
  for (const CopyRecord& copy : results.result.copy_records) {
    engines[copy.out ? 1 : 0].slices.push_back({copy.start,
                                                std::min(copy.end, results.result.cycles),
                                                copy.job,
                                                results.experiment->labels.at(Index(copy.job)),
                                                {{"job", Index(copy.job)}, {"bytes", copy.bytes}}});
  }
  tracks->insert(tracks->end(), engines.begin(), engines.end());
}

void AddLaunches(const Results& results, std::vector<HostTrack>* tracks) {
  std::map<KernelId, HostTrack> slots;
  for (const LaunchRecord& launch : results.result.launches) {
    HostTrack& track = slots[launch.slot];
    track.name = fmt::format("kernel slot {}", Index(launch.slot));
    const Workload& workload = *results.experiment->workloads.at(Index(launch.job));
    track.slices.push_back({launch.start,
                            std::min(launch.end, results.result.cycles),
                            launch.job,
                            fmt::format("{} {}", results.experiment->labels.at(Index(launch.job)),
                                        workload.kernels.at(launch.kernel).name),
                            {{"job", Index(launch.job)},
                             {"launch", launch.number},
                             {"first_tb", launch.first_tb},
                             {"tb_count", launch.tb_count}}});
  }
  for (auto& [slot, track] : slots) tracks->push_back(std::move(track));
}

}  // namespace

std::vector<HostTrack> HostTracks(const Results& results) {
  std::vector<HostTrack> tracks;
  if (results.experiment->stream.scheduler.empty()) return tracks;
  AddCopies(results, &tracks);
  AddLaunches(results, &tracks);
  return tracks;
}

std::vector<JobCounts> CountJobs(const std::vector<JobStats>& jobs) {
  struct Change {
    int waiting = 0, ready = 0, running = 0;
  };
  std::map<Cycle, Change> changes;
  for (const JobStats& job : jobs) {
    ++changes[job.arrival].waiting;
    --changes[job.ready].waiting;
    ++changes[job.ready].ready;
    --changes[job.start].ready;
    ++changes[job.start].running;
    --changes[job.finish].running;
  }
  changes.erase(kNever);
  std::vector<JobCounts> counts;
  Change sum;
  for (const auto& [cycle, change] : changes) {
    sum.waiting += change.waiting;
    sum.ready += change.ready;
    sum.running += change.running;
    if (change.waiting == 0 && change.ready == 0 && change.running == 0) continue;
    counts.push_back({cycle, static_cast<unsigned>(sum.waiting), static_cast<unsigned>(sum.ready),
                      static_cast<unsigned>(sum.running)});
  }
  return counts;
}

}  // namespace smk::sim
