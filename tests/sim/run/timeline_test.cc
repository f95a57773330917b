// SPDX-License-Identifier: Apache-2.0
// timeline.json.gz is a Chrome trace that Perfetto can draw: what its importer of the format needs.
#include "run/timeline.h"

#include <zlib.h>

#include <cmath>
#include <map>
#include <set>

#include "base/csv_table.h"
#include "sim/command.h"
#include "sim/fake.h"

namespace smk {
namespace {

using nlohmann::ordered_json;
using Track = std::pair<unsigned, unsigned>;  // SM, TB slot

// The fields that an event of each phase has, and must have.
const std::map<std::string, std::set<std::string>> kSchema = {
    {"M", {"ph", "name", "pid", "args"}},
    {"B", {"ph", "ts", "pid", "tid", "name", "cat", "args"}},
    {"E", {"ph", "ts", "pid", "tid"}},
    {"C", {"ph", "ts", "pid", "name", "args"}},
    {"i", {"ph", "ts", "pid", "tid", "name", "cat", "s", "args"}},
    {"s", {"ph", "ts", "pid", "tid", "id", "name", "cat"}},
    {"f", {"ph", "ts", "pid", "tid", "id", "name", "cat", "bp"}}};

class Timeline : public CommandTest {
 protected:
  // Runs and looks at everything that holds for each timeline.
  ordered_json Trace(const std::string& arguments) {
    const Outcome outcome = Smk("run " + arguments + " --force --out out");
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.err, "");
    ordered_json trace = ordered_json::parse(ReadGzip("out/timeline.json.gz"));
    EXPECT_EQ(trace["displayTimeUnit"], "ns");
    clock_mhz = trace["otherData"]["core_clock_mhz"];
    cycles = trace["otherData"]["cycles"];
    CheckEvents(trace["traceEvents"]);
    return trace;
  }
  std::string ReadGzip(const std::string& name) const {
    const gzFile file = gzopen(Path(name).c_str(), "rb");
    EXPECT_NE(file, nullptr) << name;
    std::string text(std::size_t{1} << 20, '\0'), all;
    for (int n; (n = gzread(file, text.data(), static_cast<unsigned>(text.size()))) > 0;) {
      all.append(text, 0, static_cast<std::size_t>(n));
    }
    gzclose(file);
    return all;
  }
  // Every event has the fields of its phase, names a track that has a name, and is in order.
  void CheckEvents(const ordered_json& events) {
    std::set<unsigned> pids, tids;
    double last = 0;
    for (const auto& event : events) {
      std::set<std::string> fields;
      for (const auto& [key, value] : event.items()) fields.insert(key);
      const std::string phase = event["ph"];
      ASSERT_EQ(kSchema.count(phase), 1u) << event.dump();
      if (phase == "M") {
        fields.erase("tid");
        const bool process = event["name"].get<std::string>().rfind("process_", 0) == 0;
        (process ? pids : tids).insert(event[process ? "pid" : "tid"].get<unsigned>());
      }
      EXPECT_EQ(fields, kSchema.at(phase)) << event.dump();
      if (phase == "M") continue;
      EXPECT_EQ(pids.count(event["pid"]), 1u) << event.dump();
      if (event.contains("tid")) {
        EXPECT_EQ(tids.count(event["tid"]), 1u) << event.dump();
      }
      EXPECT_GE(event["ts"].get<double>(), last) << "not in order: " << event.dump();
      EXPECT_LE(event["ts"].get<double>(), cycles / clock_mhz + 1e-6) << event.dump();
      last = event["ts"];
    }
    for (const unsigned tid : tids) EXPECT_EQ(pids.count(tid), 0u) << "would be drawn first";
    EXPECT_EQ(tids.size(), 16 * 32 + 1u) << "one for each TB slot, and no two with one id";
  }
  // The cycle of an event; it must be a whole one.
  double CycleOf(const ordered_json& event) const {
    const double cycle = event["ts"].get<double>() * clock_mhz;
    EXPECT_NEAR(cycle, std::round(cycle), 1e-3) << event.dump();
    return std::round(cycle);
  }
  static Track TrackOf(const ordered_json& event) {
    const unsigned pid = event["pid"], tid = event["tid"];
    EXPECT_EQ(tid / 100, pid + 1) << event.dump();
    return {pid, tid % 100};
  }

  double clock_mhz = 0, cycles = 0;
};

TEST_F(Timeline, SlicesNestOnEveryTrack) {
  const ordered_json trace =
      Trace("lbm+sgemm --cycles 50k --policy smk --arrive sgemm@10k --timeline");
  std::map<Track, ordered_json> open;
  unsigned slices = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "B" && event["ph"] != "E") continue;
    const Track track = TrackOf(event);
    EXPECT_LT(track.first, 16u);
    EXPECT_LT(track.second, 32u);
    if (event["ph"] == "B") {
      EXPECT_EQ(open.count(track), 0u) << "two TBs in one slot: " << event.dump();
      EXPECT_EQ(CycleOf(event), event["args"]["start_cycle"].get<double>());
      open[track] = event;
      ++slices;
    } else {
      ASSERT_EQ(open.count(track), 1u) << event.dump();
      EXPECT_EQ(CycleOf(event), open[track]["args"]["end_cycle"].get<double>());
      open.erase(track);
    }
  }
  EXPECT_TRUE(open.empty()) << "slices without an end";
  const std::string tbs = Read("out/tbs.csv");
  EXPECT_EQ(slices + 1, std::count(tbs.begin(), tbs.end(), '\n')) << "one slice for each stay";
}

// The importer binds an arrow to the slice that is open when it comes, in order of the file.
TEST_F(Timeline, ArrowsGoFromAnOpenSliceToAnOpenSlice) {
  const ordered_json trace =
      Trace("lbm+sgemm --cycles 60k --policy smk --arrive sgemm@10k --timeline");
  std::map<Track, ordered_json> open;
  std::map<unsigned, ordered_json> starts;
  unsigned arrows = 0;
  for (const auto& event : trace["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase == "B") open[TrackOf(event)] = event;
    if (phase == "E") open.erase(TrackOf(event));
    if (phase != "s" && phase != "f") continue;
    ASSERT_EQ(open.count(TrackOf(event)), 1u) << event.dump();
    const ordered_json& slice = open[TrackOf(event)];
    if (phase == "s") {
      EXPECT_EQ(slice["args"]["outcome"], "S") << event.dump();
      starts[event["id"]] = slice;
    } else {
      ASSERT_EQ(starts.count(event["id"]), 1u) << event.dump();
      EXPECT_EQ(slice["args"]["restored"], true) << event.dump();
      EXPECT_EQ(slice["name"], starts[event["id"]]["name"]) << "the same TB";
      EXPECT_EQ(event["bp"], "e");
      ++arrows;
    }
  }
  EXPECT_EQ(arrows, starts.size());
  sim::CsvTable tbs(Path("out/tbs.csv"), {"restored"});
  unsigned restored = 0;
  while (tbs.Next()) restored += tbs.Text(tbs.Column("restored")) == "1" ? 1 : 0;
  EXPECT_EQ(arrows, restored);
  EXPECT_GT(arrows, 0u);
}

TEST_F(Timeline, MarksTheDecisionsThatMoveTbs) {
  const ordered_json trace =
      Trace("lbm+sgemm --cycles 60k --policy smk --arrive sgemm@10k --timeline");
  unsigned marks = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "i") continue;
    EXPECT_EQ(event["pid"], 16);
    EXPECT_EQ(CycleOf(event), event["args"]["cycle"].get<double>());
    marks += event["name"] == "preempt" ? 1 : 0;
  }
  const std::string decisions = Read("out/decisions.csv");
  unsigned preempted = 0;
  for (std::size_t at = 0; (at = decisions.find(",preempt,", at)) != std::string::npos; ++at) {
    ++preempted;
  }
  EXPECT_EQ(marks, preempted);
  EXPECT_GT(marks, 0u);
}

TEST_F(Timeline, CountersHavePlausibleValues) {
  const ordered_json trace =
      Trace("lbm+sgemm --cycles 50k --set policy.epoch_length=5000 --timeline");
  const std::map<std::string, double> most = {{"IPC", 4},
                                              {"IPC GPU", 64},
                                              {"resident TBs", 32},
                                              {"registers (KB)", 256},
                                              {"shared memory (KB)", 96},
                                              {"threads", 2048},
                                              {"quota", 10000},
                                              {"quota left", 5000}};
  // While new quotas arrive, one kernel after the other, old and new ones stand side by side.
  std::map<std::string, std::set<double>> seen;
  std::map<std::string, std::string> last;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "C") continue;
    const std::string name = event["name"].get<std::string>() + (event["pid"] == 16 ? " GPU" : "");
    ASSERT_EQ(most.count(name), 1u) << event.dump();
    double sum = 0;
    for (const auto& [series, value] : event["args"].items()) {
      EXPECT_TRUE(series == "in use" || series == "lbm" || series == "sgemm") << event.dump();
      EXPECT_GE(value.get<double>(), 0) << event.dump();
      sum += value.get<double>();
    }
    EXPECT_LE(sum, most.at(name)) << event.dump();
    std::string& before = last[name + event["pid"].dump()];
    EXPECT_NE(before, event["args"].dump()) << "the same again";
    before = event["args"].dump();
    seen[name].insert(sum);
  }
  for (const auto& [name, limit] : most) EXPECT_GT(seen[name].size(), 1u) << name;
}

TEST_F(Timeline, QuotaIsSpentBetweenReloads) {
  const ordered_json trace =
      Trace("lbm+sgemm --cycles 60k --set policy.epoch_length=2000 --timeline 20k:60k");
  std::map<unsigned, double> before;
  unsigned down = 0, up = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "C" || event["name"] != "quota left") continue;
    const double left = event["args"]["sgemm"];
    if (before.count(event["pid"]) != 0) ++(left < before[event["pid"]] ? down : up);
    before[event["pid"]] = left;
  }
  EXPECT_GT(down, 100u);
  EXPECT_GT(up, 10u);
}

TEST_F(Timeline, WindowCutsTheSlices) {
  const ordered_json trace = Trace("lbm --cycles 50k --policy isolated --timeline 20k:22k");
  EXPECT_EQ(trace["otherData"]["from"], 20000);
  EXPECT_EQ(trace["otherData"]["to"], 22000);
  unsigned slices = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M") continue;
    EXPECT_GE(CycleOf(event), 20000) << event.dump();
    EXPECT_LE(CycleOf(event), 22000) << event.dump();
    slices += event["ph"] == "B" ? 1 : 0;
  }
  EXPECT_GT(slices, 0u);
}

// A sample must not wake anything up.
TEST_F(Timeline, ChangesNothingThatIsSimulated) {
  const std::string run = "lbm+sgemm --cycles 60k --policy smk --arrive sgemm@10k";
  const ordered_json without = Fixed(run);
  EXPECT_EQ(Fixed(run + " --timeline"), without);
  EXPECT_EQ(Fixed(run + " --timeline --timeline-step 15"), without);
  EXPECT_EQ(Fixed("spmv --policy isolated --cycles 30k --timeline --timeline-step 7k"),
            Fixed("spmv --policy isolated --cycles 30k"));
}

// A run of one kernel, TBs of `length` one after another, and nothing else.
struct LongRun {
  LongRun(unsigned tbs, unsigned length, Cycle cycles) {
    experiment.labels = {"stencil"};
    experiment.workloads = {sim::FakeWorkload("stencil")};
    experiment.cycles = experiment.timeline_to = cycles;
    results.experiment = &experiment;
    results.result.cycles = cycles;
    results.result.kernels.resize(1);
    results.result.sms.resize(16);
    for (unsigned i = 0; i < tbs; ++i) {
      TbRecord tb;
      tb.tb = TbId{i};
      tb.start = length * i;
      tb.end = tb.start + length;
      tb.sm = SmId{static_cast<std::uint8_t>(i % 16)};
      results.result.tbs.push_back(tb);
    }
  }
  sim::Experiment experiment;
  sim::Results results;
};

// Counters have at most 4000 samples of 8 counters each on 16 SMs, and the rest is limited here.
TEST(TimelineSize, EndsBeforeItIsTooLong) {
  const LongRun run(1000, 10, 100'000);
  EXPECT_FALSE(sim::TimelineJson(run.results).cut);
  EXPECT_FALSE(sim::TimelineJson(run.results, 1000).cut);
  const sim::TimelineTrace trace = sim::TimelineJson(run.results, 300);
  EXPECT_EQ(trace.cut, 3000u);
  const auto json = ordered_json::parse(trace.json);
  EXPECT_EQ(json["otherData"]["complete"], false);
  EXPECT_EQ(json["otherData"]["to"], 3000);
  EXPECT_EQ(std::count_if(json["traceEvents"].begin(), json["traceEvents"].end(),
                          [](const auto& event) { return event["ph"] == "B"; }),
            300);
}

// What a page of the documentation says of the size.
TEST(TimelineSize, IsAbout30MegabytesWhenItIsFull) {
  const LongRun run(110'000, 17, 2'000'000);
  const sim::TimelineTrace trace = sim::TimelineJson(run.results);
  EXPECT_TRUE(trace.cut);
  EXPECT_GT(trace.json.size(), 20'000'000u);
  EXPECT_LT(trace.json.size(), 30'000'000u);
}

}  // namespace
}  // namespace smk
