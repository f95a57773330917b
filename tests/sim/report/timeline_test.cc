// SPDX-License-Identifier: Apache-2.0
// The timeline of a folder: columns for the page, and a picture, with folders of older versions.
#include "report/timeline.h"

#include <gmock/gmock.h>

#include <set>

#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

constexpr char kTbColumns[] =
    "kernel,name,launch,tb,sm,tb_slot,start_cycle,end_cycle,restored,outcome,id,dispatched_by,"
    "preempted_by,replaced_by\n";
constexpr char kDecisionColumns[] =
    "cycle,reason,kernel,sm,tb,victim,victim_tbs,share_0,share_1,id\n";
// A TB of a is saved for one of b and goes on upon SM 1; rows are in order of the ends.
constexpr char kStays[] =
    "0,a,1,7,0,0,10,140,0,saved,0,0,1,1\n"
    "1,b,1,3,0,0,160,250,0,completed,1,2,,\n"
    "0,a,1,7,1,2,320,400,1,running,2,3,,\n";
constexpr char kReasons[] =
    "5,dispatch-new,0,0,7,,,0,0,0\n"
    "100,preempt,1,0,,0,1,0,0,1\n"
    "150,dispatch-new,1,0,3,,,0,0,2\n"
    "300,dispatch-restored,0,1,7,,,0,0,3\n";

class ReportTimelines : public ScratchTest {
 protected:
  RunTimeline Read(const std::string& stays = kStays,
                   const std::string& header = kTbColumns) const {
    return ReadTimeline(Write("tbs.csv", header + stays),
                        Write("decisions.csv", std::string(kDecisionColumns) + kReasons),
                        {400, 2, 2});
  }
  static std::string Svg(const RunTimeline& timeline, std::uint64_t from = 0,
                         std::uint64_t to = 400) {
    TimelineView view;
    view.from = from;
    view.to = to;
    view.sms = {0, 1};
    view.title = "a & b";
    view.kernels = {"a<1>", "b"};
    return TimelineSvg(timeline, view);
  }
  static std::size_t Count(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
    return count;
  }
};

TEST_F(ReportTimelines, ColumnsAreSmallNumbersWithLinks) {
  const ordered_json j = TimelineColumns(Read());
  EXPECT_EQ(j["total"], 3);
  EXPECT_EQ(j["start"], ordered_json({10, 150, 160})) << "differences";
  EXPECT_EQ(j["length"], ordered_json({130, 90, 80}));
  EXPECT_EQ(j["waited"], ordered_json({5, 10, 20}));
  EXPECT_EQ(j["restored"], ordered_json({2}));
  EXPECT_EQ(j["links"], ordered_json::parse("[[0, 0, 1]]"));
  EXPECT_EQ(j["outcomes"][j["outcome"][0].get<std::size_t>()], "saved");
  EXPECT_EQ(j["decisions"]["id"], ordered_json({1})) << "those that move TBs";
  EXPECT_EQ(j["decisions"]["victim"], ordered_json::array({0}));
}

TEST_F(ReportTimelines, LinksFollowTheStaysIntoTheOrderOfStarts) {
  const RunTimeline timeline = Read(
      "1,b,1,3,0,0,160,250,0,completed,0,2,,\n"
      "0,a,1,7,0,0,10,340,0,saved,1,0,1,0\n");
  ASSERT_EQ(timeline.stays.size(), 2u);
  EXPECT_EQ(timeline.stays[0].tb, 7u);
  EXPECT_EQ(timeline.stays[0].replaced_by, 1u);
}

TEST_F(ReportTimelines, FoldersOfOlderVersionsHaveNoLinks) {
  const RunTimeline timeline =
      Read("0,a,1,7,0,0,10,140,0,saved\n",
           "kernel,name,launch,tb,sm,tb_slot,start_cycle,end_cycle,restored,outcome\n");
  const ordered_json j = TimelineColumns(timeline);
  EXPECT_EQ(j["links"], ordered_json::array());
  EXPECT_EQ(j["waited"], ordered_json::array({nullptr}));
  EXPECT_THAT(Svg(timeline), HasSubstr("TB 7"));
}

TEST_F(ReportTimelines, NumbersOutOfTheRunAreRefused) {
  EXPECT_THAT(Refusal([&] { Read("2,a,1,7,0,0,10,140,0,saved,0,0,1,1\n"); }),
              HasSubstr("kernel: expected a number below 2, got 2"));
  EXPECT_THAT(Refusal([&] { Read("0,a,1,7,0,0,10,140,0,saved,0,0,x,1\n"); }),
              HasSubstr("preempted_by: expected a whole number, got 'x'"));
  const RunTimeline timeline = Read("0,a,1,7,0,0,10,140,0,saved,0,99,99,99\n");
  EXPECT_FALSE(timeline.stays[0].decision) << "no such decision";
  EXPECT_FALSE(timeline.stays[0].replaced_by);
}

TEST_F(ReportTimelines, ThePictureHasStaysDecisionsAndArrows) {
  const std::string svg = Svg(Read());
  EXPECT_EQ(Count(svg, "<title>a&lt;1&gt; TB 7"), 2u);
  EXPECT_EQ(Count(svg, "<title>b TB 3, launch 1, SM 0 slot 0, cycles 160 to 250, completed"), 1u);
  EXPECT_THAT(svg, HasSubstr("preempt at 100 for b on SM 0"));
  EXPECT_EQ(Count(svg, "<path d=\"M"), 2u) << "the decision and an arrow";
  EXPECT_THAT(svg, HasSubstr("<title>a &amp; b</title>"));
  EXPECT_THAT(svg, HasSubstr(">SM 1</text>"));
}

TEST_F(ReportTimelines, ThePictureOfAWindowHasWhatIsInIt) {
  const std::string svg = Svg(Read(), 150, 260);
  EXPECT_THAT(svg, HasSubstr("b TB 3"));
  EXPECT_THAT(svg, Not(HasSubstr("TB 7")));
  EXPECT_THAT(svg, Not(HasSubstr("preempt at")));
}

// As many boxes as pixels at most, however many TBs there were.
TEST_F(ReportTimelines, ALongRunIsDrawnByPixels) {
  RunTimeline timeline{{2'000'000, 2, 2}, {}, {}};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    TimelineStay stay;
    stay.kernel = i % 3 == 0 ? 1 : 0;
    stay.tb = i;
    stay.start = i * 20;
    stay.end = stay.start + 19;
    stay.outcome = "completed";
    timeline.stays.push_back(stay);
  }
  const std::string svg = Svg(timeline, 0, 2'000'000);
  EXPECT_LT(Count(svg, "<rect"), 1200u);
  EXPECT_GT(Count(svg, "fill-opacity=\"0.9"), 1000u) << "nearly full";
}

TEST_F(ReportTimelines, EightKernelsHaveColoursOfTheirOwn) {
  TimelineView view;
  view.kernels = {"a", "b", "c", "d", "e", "f", "g", "h"};
  std::set<std::string> colours;
  const std::string svg = TimelineSvg({{400, 8, 1}, {}, {}}, view);
  for (std::size_t at = 0; (at = svg.find("height=\"9\" fill=\"", at)) != std::string::npos; ++at) {
    colours.insert(svg.substr(at + 17, 7));
  }
  EXPECT_EQ(colours.size(), 8u);
}

TEST_F(ReportTimelines, KernelsOfOneNameHaveNumbersAndThoseOfAClientItsColour) {
  ordered_json stats = ordered_json::parse(R"({"kernels": [{"name": "a"}, {"name": "b"},
    {"name": "a"}], "jobs": [{"job": 0, "client": "x"}, {"job": 1, "client": "y"},
    {"job": 2, "client": "x"}]})");
  TimelineView view;
  NameKernels(stats, &view);
  EXPECT_THAT(view.kernels, testing::ElementsAre("a#1", "b", "a#2"));
  EXPECT_TRUE(view.clients.empty()) << "no stream";
  stats["host"] = ordered_json::object();
  NameKernels(stats, &view);
  EXPECT_THAT(view.clients, testing::ElementsAre("x", "y", "x"));
  const std::string svg = TimelineSvg({{400, 3, 1}, {}, {}}, view);
  EXPECT_EQ(Count(svg, ">x</text>"), 1u) << "once in the legend";
  EXPECT_EQ(Count(svg, "height=\"9\""), 2u);
  stats["jobs"][1].erase("client");
  view.clients.clear();
  NameKernels(stats, &view);
  EXPECT_TRUE(view.clients.empty()) << "not known of all";
}

}  // namespace
}  // namespace smk::sim
