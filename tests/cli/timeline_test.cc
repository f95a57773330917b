// SPDX-License-Identifier: Apache-2.0
// timeline.json is a Chrome trace that a viewer can draw: nested, in order of time, in
// microseconds.
#include <cmath>
#include <map>

#include "cli/command.h"

namespace smk {
namespace {

using nlohmann::ordered_json;
using Track = std::pair<unsigned, unsigned>;  // SM, TB slot

class Timeline : public CommandTest {
 protected:
  // Runs and looks at everything that holds for each timeline.
  ordered_json Trace(const std::string& arguments) {
    const Outcome outcome = Smk("run " + arguments + " --timeline --force --out out");
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    ordered_json trace = Json("out/timeline.json");
    clock_mhz = trace["otherData"]["core_clock_mhz"];
    cycles = trace["otherData"]["cycles"];
    double last = 0;
    for (const auto& event : trace["traceEvents"]) {
      if (event["ph"] == "M") continue;
      const double ts = event["ts"];
      EXPECT_GE(ts, last) << "not in order: " << event.dump();
      EXPECT_LE(ts, cycles / clock_mhz + 1e-9) << event.dump();
      EXPECT_LE(event["pid"].get<unsigned>(), 16u) << event.dump();
      last = ts;
    }
    return trace;
  }
  // The cycle of an event; it must be a whole one.
  double CycleOf(const ordered_json& event) const {
    const double cycle = event["ts"].get<double>() * clock_mhz;
    EXPECT_NEAR(cycle, std::round(cycle), 1e-3) << event.dump();
    return std::round(cycle);
  }

  double clock_mhz = 0, cycles = 0;
};

TEST_F(Timeline, SlicesNestOnEveryTrack) {
  const ordered_json trace = Trace(
      "lbm+sgemm --cycles 50k --policy smk --arrive sgemm@10k --set policy.epoch_length=5000");
  std::map<Track, ordered_json> open;
  unsigned slices = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "B" && event["ph"] != "E") continue;
    const Track track(event["pid"], event["tid"]);
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

TEST_F(Timeline, ArrowsGoFromPreemptionToResume) {
  const ordered_json trace = Trace("lbm+sgemm --cycles 60k --policy smk --arrive sgemm@10k");
  std::map<unsigned, ordered_json> starts;
  unsigned arrows = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "s") starts[event["id"]] = event;
    if (event["ph"] != "f") continue;
    ASSERT_EQ(starts.count(event["id"]), 1u) << event.dump();
    EXPECT_LE(starts[event["id"]]["ts"].get<double>(), event["ts"].get<double>());
    ++arrows;
  }
  EXPECT_EQ(arrows, starts.size());
  const std::string tbs = Read("out/tbs.csv");
  unsigned restored = 0;
  for (std::size_t at = 0; (at = tbs.find(",1,", at)) != std::string::npos; ++at) {
    const std::size_t end = tbs.find('\n', at);
    if (tbs.find(',', at + 3) > end) ++restored;  // the last column but one
  }
  EXPECT_EQ(arrows, restored);
  EXPECT_GT(arrows, 0u);
}

TEST_F(Timeline, CountersHavePlausibleValues) {
  const ordered_json trace = Trace("lbm+sgemm --cycles 50k --set policy.epoch_length=5000");
  std::map<std::string, double> largest;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "C") continue;
    const bool gpu = event["pid"] == 16;
    ASSERT_EQ(event["args"].size(), 2u) << event.dump();
    double sum = 0;
    for (const auto& [kernel, value] : event["args"].items()) sum += value.get<double>();
    const std::string name = event["name"];
    if (name == "IPC") {
      EXPECT_LE(sum, gpu ? 64.0 : 4.0) << event.dump();
    }
    if (name == "resident TBs") {
      EXPECT_LE(sum, 32.0) << event.dump();
    }
    if (name == "quota") {
      EXPECT_LE(sum, 5000.0) << event.dump();
    }
    largest[name + (gpu ? " GPU" : "")] = std::max(largest[name + (gpu ? " GPU" : "")], sum);
  }
  for (const char* name : {"IPC", "IPC GPU", "resident TBs", "quota"}) {
    EXPECT_GT(largest[name], 0) << name;
  }
}

TEST_F(Timeline, WindowCutsTheSlices) {
  const ordered_json trace = Trace("lbm --cycles 50k --policy isolated --window 20k:22k");
  unsigned slices = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M") continue;
    EXPECT_GE(CycleOf(event), 20000) << event.dump();
    EXPECT_LE(CycleOf(event), 22000) << event.dump();
    slices += event["ph"] == "B" ? 1 : 0;
  }
  EXPECT_GT(slices, 0u);
}

}  // namespace
}  // namespace smk
