// SPDX-License-Identifier: Apache-2.0
// The timeline of clients with scripts: its tracks, and where it ends when it is full.
#include <gmock/gmock.h>

#include <map>

#include "serve/tenant_serve.h"

namespace smk::sim {
namespace {

using gemini::Nanoseconds;
using nlohmann::ordered_json;

class TenantTimelines : public testing::Test {
 protected:
  // Tokens of two clients take turns, each with a burst, and a sample after each.
  TenantTimelines() {
    serving.spec.name = "two";
    serving.scheduler.text = "gemini";
    for (const char* name : {"a", "b"}) {
      serving.spec.request.clients.emplace_back();
      serving.spec.request.clients.back().name = name;
    }
    for (std::size_t i = 0; i < 100; ++i) Turn(i);
    result.time = 100 * kTurn;
  }
  void Turn(std::size_t i) {
    const Nanoseconds start = static_cast<Nanoseconds>(i) * kTurn;
    gemini::TokenRecord record;
    record.token.client = i % 2;
    record.token.start = start;
    record.token.quota = kTurn - 2000;
    record.end = start + kTurn - 1000;
    result.tokens.push_back(record);
    result.bursts.push_back({i % 2, {start, start + kTurn - 1000}});
    result.samples.push_back({start + kTurn, kTurn, {1, 2}, {1, 2}});
  }
  // The end of the last event of each track: bursts are 3, shares 0.
  static std::map<int, double> Ends(const ordered_json& trace) {
    std::map<int, double> ends;
    for (const ordered_json& event : trace["traceEvents"]) {
      if (event["ph"] == "M") continue;
      double& end = ends[event.value("tid", 0)];
      end = std::max(end, event["ts"].get<double>() + event.value("dur", 0.0));
    }
    return ends;
  }
  ordered_json Trace(std::size_t most) {
    const TenantTimeline timeline = TenantTimelineJson(serving, result, most);
    cut = timeline.cut;
    return ordered_json::parse(timeline.json);
  }

  static constexpr Nanoseconds kTurn = 10'000;
  TenantServing serving;
  gemini::TenantResult result;
  std::optional<Nanoseconds> cut;
};

TEST_F(TenantTimelines, HasEverythingThatFits) {
  const ordered_json trace = Trace(500);  // 100 tokens, overuses and bursts, and 200 shares
  EXPECT_FALSE(cut.has_value());
  EXPECT_EQ(trace["otherData"], ordered_json::parse(R"({"workload": "two", "scheduler": "gemini",
      "time_ns": 1000000, "to_ns": 1000000, "complete": true})"));
  EXPECT_EQ(trace["traceEvents"].size(), 508u) << "and names";
  EXPECT_EQ(Ends(trace), (std::map<int, double>{{0, 1000}, {1, 998}, {2, 999}, {3, 999}}));
}

TEST_F(TenantTimelines, IsCutInAllTracksAtOneTime) {
  const ordered_json trace = Trace(252);
  EXPECT_EQ(cut, 50 * kTurn + 8000) << "before the overuse of the 51st token";
  EXPECT_EQ(trace["otherData"]["complete"], false);
  EXPECT_EQ(trace["otherData"]["to_ns"], *cut);
  EXPECT_EQ(Ends(trace), (std::map<int, double>{{0, 500}, {1, 508}, {2, 499}, {3, 508}}));
}

}  // namespace
}  // namespace smk::sim
