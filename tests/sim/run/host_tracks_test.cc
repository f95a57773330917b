// SPDX-License-Identifier: Apache-2.0
// The host of a stream over time: copies.csv, its tracks, and the jobs in each state.
#include "run/host_tracks.h"

#include <gmock/gmock.h>

#include "run/timeline.h"
#include "sim/fake.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;

// Two jobs in 1000 cycles. The first was copied in, launched in two slices, and is being copied
// out; the second runs beside its second slice.
class HostTracksOf : public testing::Test {
 protected:
  HostTracksOf() {
    experiment.stream = {"two jobs", "kernelet", "cycle", nullptr, true};
    experiment.labels = {"a", "b"};
    experiment.workloads = {FakeWorkload("a"), FakeWorkload("b")};
    experiment.cycles = experiment.timeline_to = 1000;
    results.experiment = &experiment;
    RunResult& r = results.result;
    r.cycles = 1000;
    r.kernels.resize(2);
    r.sms.resize(2);
    r.jobs.resize(2);
    const auto job = [&](unsigned i, Cycle arrival, Cycle ready, Cycle start, Cycle finish) {
      r.jobs[i].arrival = arrival;
      r.jobs[i].ready = ready;
      r.jobs[i].start = start;
      r.jobs[i].finish = finish;
    };
    job(0, 10, 110, 120, kNever);
    job(1, 300, 300, 300, 900);
    r.copy_records = {{10, 110, JobId{0}, false, 4096}, {950, 1200, JobId{0}, true, 64}};
    r.launches = {{120, 200, JobId{0}, KernelId{0}, 0, 1, 0, 28},
                  {300, 900, JobId{1}, KernelId{1}, 0, 1, 0, 100},
                  {310, 940, JobId{0}, KernelId{0}, 0, 2, 28, 72}};
  }
  // What the track of this name has from when to when.
  std::vector<std::pair<Cycle, Cycle>> Track(const std::string& name) const {
    std::vector<std::pair<Cycle, Cycle>> times;
    for (const HostTrack& track : HostTracks(results)) {
      if (track.name != name) continue;
      for (const HostSlice& slice : track.slices) times.emplace_back(slice.begin, slice.end);
    }
    return times;
  }

  Experiment experiment;
  Results results;
};

TEST_F(HostTracksOf, EnginesAndKernelSlots) {
  std::vector<std::string> names;
  for (const HostTrack& track : HostTracks(results)) names.push_back(track.name);
  EXPECT_THAT(names, ElementsAre("copies to the GPU", "copies to the host", "kernel slot 0",
                                 "kernel slot 1"));
  EXPECT_THAT(Track("copies to the GPU"), ElementsAre(std::pair{10, 110}));
  EXPECT_THAT(Track("copies to the host"), ElementsAre(std::pair{950, 1000})) << "the run ends";
  EXPECT_THAT(Track("kernel slot 0"), ElementsAre(std::pair{120, 200}, std::pair{310, 940}));
  EXPECT_EQ(HostTracks(results)[2].slices[1].args,
            ordered_json({{"job", 0}, {"launch", 2}, {"first_tb", 28}, {"tb_count", 72}}));
  EXPECT_EQ(HostTracks(results)[3].slices[0].name, "b b_kernel");
}

TEST_F(HostTracksOf, WithoutCopiesThereAreNoEngines) {
  results.result.copy_records.clear();
  EXPECT_EQ(HostTracks(results).size(), 2u);
  results.result.launches.clear();
  EXPECT_TRUE(HostTracks(results).empty());
}

TEST_F(HostTracksOf, ARunWithoutAStreamHasNone) {
  experiment.stream = {};
  EXPECT_TRUE(HostTracks(results).empty());
  EXPECT_EQ(TimelineJson(results).json.find("\"host\""), std::string::npos);
}

TEST_F(HostTracksOf, JobsAreCountedAtEveryChange) {
  std::vector<std::array<Cycle, 4>> counts;
  for (const JobCounts& c : CountJobs(results.result.jobs)) {
    counts.push_back({c.cycle, c.waiting, c.ready, c.running});
  }
  using Counts = std::array<Cycle, 4>;
  EXPECT_THAT(counts, ElementsAre(Counts{10, 1, 0, 0}, Counts{110, 0, 1, 0}, Counts{120, 0, 0, 1},
                                  Counts{300, 0, 0, 2}, Counts{900, 0, 0, 1}));
}

TEST_F(HostTracksOf, AreInTheTimeline) {
  experiment.timeline_from = 150;
  const auto trace = ordered_json::parse(TimelineJson(results).json);
  std::vector<std::string> slices;
  ordered_json jobs;
  for (const auto& event : trace["traceEvents"]) {
    if (event["pid"] != 3) continue;  // after two SMs and the GPU
    if (event["ph"] == "B") slices.push_back(event["name"]);
    if (event["ph"] == "C" && jobs.is_null()) jobs = event["args"];
  }
  EXPECT_THAT(slices, ElementsAre("a a_kernel", "b b_kernel", "a a_kernel", "a"));
  EXPECT_EQ(jobs, ordered_json({{"waiting", 1}, {"ready", 0}, {"running", 0}}))
      << "what came before the window is there as it was";
}

TEST_F(HostTracksOf, CopiesHaveARowEach) {
  EXPECT_EQ(CopiesCsv(results),
            "job,name,direction,bytes,start,end\n0,a,in,4096,10,110\n0,a,out,64,950,\n");
}

}  // namespace
}  // namespace smk::sim
