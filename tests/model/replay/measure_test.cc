// SPDX-License-Identifier: Apache-2.0
// Rates from runs: by hand, of results that are made up.
#include "replay/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/replay/rig.h"
#include "replay/windows.h"

namespace smk {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(ReplayWindows, CountTheCyclesThatAreInThem) {
  Windows windows({{10, 20}, {30, 50}, {50, 50}});
  EXPECT_EQ(windows.total(), 30u);
  EXPECT_EQ(windows.Within(0, 100), 30u);
  EXPECT_EQ(windows.Within(15, 35), 10u);
  EXPECT_EQ(windows.Within(20, 30), 0u);
  EXPECT_EQ(windows.Within(49, 60), 1u);
  EXPECT_EQ(windows.Within(35, 15), 0u);
  EXPECT_THAT(windows.And(Windows({{0, 12}, {18, 31}, {40, 90}})).spans(),
              ElementsAre(Pair(10, 12), Pair(18, 20), Pair(30, 31), Pair(40, 50)));
  windows.DropFirst(15);
  EXPECT_THAT(windows.spans(), ElementsAre(Pair(35, 50)));
  windows.DropFirst(99);
  EXPECT_EQ(windows.total(), 0u);
  EXPECT_EQ(windows.Within(0, 100), 0u);
}

// Results of the rig's machine, sampled every 250 cycles on one SM.
class ReplayMeasure : public testing::Test, protected ReplayRig {
 protected:
  LaunchKind Kind(const std::string& name, std::uint32_t tbs) {
    return {Add(name, tbs).workload, 0, tbs, true};
  }
  MeasureConfig Config() const {
    MeasureConfig config;
    config.machine = request.machine;
    config.limits = {10'000, 1000};
    return config;
  }
  // A launch with TBs placed at these cycles.
  static void Launch(RunResult* result, unsigned slot, Cycle end,
                     const std::vector<Cycle>& placed) {
    result->launches.push_back({0, end, static_cast<JobId>(slot), static_cast<KernelId>(slot), 0, 1,
                                0, static_cast<std::uint32_t>(placed.size())});
    for (std::size_t i = 0; i < placed.size(); ++i) {
      TbRecord tb;
      tb.start = placed[i];
      tb.end = end;
      tb.job = static_cast<JobId>(slot);
      tb.launch = 1;
      tb.tb = static_cast<TbId>(i);
      result->tbs.push_back(tb);
    }
    result->kernels.resize(slot + 1);
  }
  // From one sample to the next so many instructions, and then so many TBs.
  static void Sample(RunResult* result, Cycle cycle, const std::vector<unsigned>& instructions,
                     const std::vector<unsigned>& tbs) {
    EpochSample sample;
    sample.cycle = cycle;
    for (std::size_t k = 0; k < tbs.size(); ++k) {
      sample.warp_instructions[k] = instructions[k];
      sample.resident_tbs[k] = static_cast<std::uint8_t>(tbs[k]);
    }
    result->epochs.push_back(sample);
  }
};

// 50 TBs of 10 instructions: 400 of the 500 are issued when the last TB is placed at 1000.
TEST_F(ReplayMeasure, AWholeLaunchFeedsUntilItsLastTbIsPlaced) {
  const LaunchKind kind = Kind("a", 50);
  ASSERT_TRUE(Feeds(kind, request.machine));
  RunResult result;
  std::vector<Cycle> placed(50, 0);
  placed[49] = 1000;
  Launch(&result, 0, 1500, placed);
  for (Cycle c = 0; c <= 1000; c += 250) Sample(&result, c, {c == 0 ? 0u : 100u}, {40});
  Sample(&result, 1250, {75}, {20});
  Sample(&result, 1500, {25}, {0});
  result.cycles = 1501;
  const AloneRate alone = WholeRate(result, kind, Config());
  EXPECT_DOUBLE_EQ(alone.instructions, 10);
  EXPECT_DOUBLE_EQ(alone.drain_tbs, 10);
  EXPECT_DOUBLE_EQ(alone.drain_cycles, 500);
  EXPECT_DOUBLE_EQ(alone.rate, 40.0 / 1000);
  EXPECT_DOUBLE_EQ(alone.places, 40);
  EXPECT_DOUBLE_EQ(alone.drain_places, 30) << "of the samples at 1000 and 1250";
  EXPECT_DOUBLE_EQ(alone.Cycles(50), 1500);
  EXPECT_DOUBLE_EQ(alone.RatePart(), 0.5);
  EXPECT_DOUBLE_EQ(alone.PlacesPart(), 0.75);
  EXPECT_DOUBLE_EQ(alone.WorkPart(), 0.25);
}

TEST_F(ReplayMeasure, ALaunchThatFitsHasOneRate) {
  const LaunchKind kind = Kind("a", 40);
  EXPECT_FALSE(Feeds(kind, request.machine));
  RunResult result;
  Launch(&result, 0, 800, std::vector<Cycle>(40, 0));
  Sample(&result, 0, {0}, {40});
  Sample(&result, 800, {400}, {0});
  result.cycles = 801;
  result.tbs[3].end = 600;
  const AloneRate alone = WholeRate(result, kind, Config());
  EXPECT_DOUBLE_EQ(alone.rate, 40.0 / 800);
  ASSERT_EQ(alone.tb_ends.size(), 40u);
  EXPECT_DOUBLE_EQ(alone.tb_ends[2], 1);
  EXPECT_DOUBLE_EQ(alone.tb_ends[3], 0.75);
  EXPECT_DOUBLE_EQ(alone.drain_tbs, 0);
  EXPECT_DOUBLE_EQ(alone.Cycles(40), 800);
}

TEST_F(ReplayMeasure, WhatFewSamplesSeeIsCounted) {
  const LaunchKind kind = Kind("a", 4);
  RunResult result;
  Launch(&result, 0, 120, std::vector<Cycle>(4, 0));
  Sample(&result, 0, {0}, {0});
  result.kernels[0].warp_instructions = 40;
  result.cycles = 121;
  EXPECT_DOUBLE_EQ(WholeRate(result, kind, Config()).instructions, 10);
  Sample(&result, 250, {28}, {2});
  result.launches[0].end = 300;
  result.cycles = 301;
  EXPECT_DOUBLE_EQ(WholeRate(result, kind, Config()).instructions, 10);
}

// All of it is between two samples: it has the places of the machine, as far as is known.
TEST_F(ReplayMeasure, WhatNoSampleSeesHasPlaces) {
  const LaunchKind kind = Kind("a", 50);
  RunResult result;
  std::vector<Cycle> placed(50, 0);
  placed[49] = 100;
  Launch(&result, 0, 120, placed);
  Sample(&result, 0, {0}, {0});
  result.kernels[0].warp_instructions = 500;
  result.cycles = 121;
  EXPECT_DOUBLE_EQ(WholeRate(result, kind, Config()).places, 40);
}

// b issues in a window in which no sample sees a TB of it: it has its part of what it has alone.
TEST_F(ReplayMeasure, InASetWhatGoesOnHasPlaces) {
  const std::vector<LaunchKind> set = {Kind("a", 50), Kind("b", 50)};
  AloneRate alone;
  alone.instructions = 10;
  alone.rate = 0.04;
  alone.places = 40;
  RunResult result;
  Launch(&result, 0, 5000, std::vector<Cycle>(50, 4000));
  Launch(&result, 1, 5000, std::vector<Cycle>(50, 4000));
  for (Cycle c = 0; c <= 1000; c += 250) Sample(&result, c, {100, 50}, {30, 0});
  result.cycles = 1000;
  const auto rates = RatesOfSet(result, set, {alone, alone}, Config());
  ASSERT_TRUE(rates);
  EXPECT_DOUBLE_EQ(rates->mean[0].places, 30);
  EXPECT_DOUBLE_EQ(rates->mean[1].places, 20);
  EXPECT_GT(rates->mean[1].rate, 0);
}

// The last TB is placed at 5000 of 10000 cycles. What it does then is not of its rate.
TEST_F(ReplayMeasure, ALongLaunchHasItsRateWhileItFeeds) {
  RunResult result;
  std::vector<Cycle> placed(130, 0);
  placed[129] = 5000;
  Launch(&result, 0, kNever, placed);
  for (Cycle c = 0; c <= 10'000; c += 250) {
    Sample(&result, c, {c == 0 ? 0u : c <= 5000 ? 100u : 20u}, {40});
  }
  result.cycles = 10'000;
  result.cut_short = true;
  AloneRate ten;
  ten.instructions = 10;
  EXPECT_DOUBLE_EQ(FeedingRate(result, ten, Config()), 10.0 / 250);
}

// Whole waves are 40 TBs: what is left over of them stays.
TEST_F(ReplayMeasure, AShorterLaunchHasTheSameRest) {
  EXPECT_EQ(Shortened(Kind("a", 1017), request.machine).tbs, 80u + 17);
  EXPECT_EQ(Shortened(Kind("b", 1000), request.machine).tbs, 80u);
  EXPECT_EQ(Shortened(Kind("c", 45), request.machine).tbs, 45u);
}

// The first quarter, 250 of 1000 cycles, is not counted; from 1000 on a drains.
TEST_F(ReplayMeasure, ASetIsMeasuredWhileAllFeed) {
  const std::vector<LaunchKind> set = {Kind("a", 50), Kind("b", 50)};
  AloneRate ten;
  ten.instructions = 10;
  AloneRate twenty;
  twenty.instructions = 20;
  RunResult result;
  std::vector<Cycle> placed(50, 0);
  placed[49] = 1000;
  Launch(&result, 0, 1500, placed);
  placed[49] = 4000;
  Launch(&result, 1, 5000, placed);
  for (Cycle c = 0; c <= 1000; c += 250) Sample(&result, c, {100, 50}, {30, 10});
  Sample(&result, 1250, {500, 500}, {20, 20});
  result.cycles = 5000;
  const auto rates = RatesOfSet(result, set, {ten, twenty}, Config());
  ASSERT_TRUE(rates);
  EXPECT_TRUE(rates->by_age.empty()) << "TBs of all ages";
  EXPECT_DOUBLE_EQ(rates->mean[0].rate, 300.0 / 750 / 10);
  EXPECT_DOUBLE_EQ(rates->mean[1].rate, 150.0 / 750 / 20);
  EXPECT_DOUBLE_EQ(rates->mean[0].places, 30);
  EXPECT_DOUBLE_EQ(rates->mean[1].places, 10);
  result.launches[1].start = 1200;
  EXPECT_FALSE(RatesOfSet(result, set, {ten, twenty}, Config())) << "never together";
}

// Slices of a: to 10,000 and to 40,000, then one that does not end. b's: to 20,000 and to 30,000.
// So a is older up to 10,000 and from 20,000 on. The first 1000 cycles are not counted.
TEST_F(ReplayMeasure, SlicesAreMeasuredByAge) {
  std::vector<LaunchKind> set = {Kind("a", 20), Kind("b", 20)};
  set[0].whole = set[1].whole = false;
  AloneRate ten;
  ten.instructions = 10;
  RunResult result;
  const auto slice = [&](unsigned slot, Cycle start, Cycle end) {
    result.launches.push_back(
        {start, end, static_cast<JobId>(slot), static_cast<KernelId>(slot), 0, 1, 0, 20});
  };
  slice(0, 0, 10'000);
  slice(0, 10'001, 40'000);
  slice(0, 40'001, 60'000);
  slice(1, 1, 20'000);
  slice(1, 20'001, 30'000);
  result.cycles = 50'000;
  for (Cycle c = 0; c <= 50'000; c += 250) {
    const bool first = c > 10'000 && c <= 20'000;  // b is older
    Sample(&result, c, {first ? 10u : 30u, first ? 50u : 20u}, {20, 20});
  }
  const auto rates = RatesOfSet(result, set, {ten, ten}, Config());
  ASSERT_TRUE(rates);
  ASSERT_EQ(rates->by_age.size(), 2u);
  EXPECT_NEAR(rates->by_age.at({0, 1})[0].rate, 30.0 / 250 / 10, 1e-5);
  EXPECT_NEAR(rates->by_age.at({0, 1})[1].rate, 20.0 / 250 / 10, 1e-5);
  EXPECT_NEAR(rates->by_age.at({1, 0})[0].rate, 10.0 / 250 / 10, 1e-5);
  EXPECT_NEAR(rates->by_age.at({1, 0})[1].rate, 50.0 / 250 / 10, 1e-5);
  EXPECT_EQ(&rates->Of({1, 0}), &rates->by_age.at({1, 0}));
  EXPECT_EQ(&rates->Of({0}), &rates->mean) << "not seen";
  set[0].whole = set[1].whole = true;
  EXPECT_TRUE(RatesOfSet(result, set, {ten, ten}, Config())->by_age.empty()) << "no slices";
}

// Two TBs on each of 10 SMs; of a's second slice, from 10,000 on, three on one.
TEST_F(ReplayMeasure, SlicesThatLieUnevenlyDoNotCount) {
  std::vector<LaunchKind> set = {Kind("a", 20), Kind("b", 20)};
  set[0].whole = set[1].whole = false;
  AloneRate ten;
  ten.instructions = 10;
  RunResult result;
  for (const unsigned number : {1u, 2u}) {
    for (const unsigned slot : {0u, 1u}) {
      const Cycle end = 10'000 * number;
      result.launches.push_back({end - 10'000, end, static_cast<JobId>(slot),
                                 static_cast<KernelId>(slot), 0, number, 0, 20});
    }
  }
  for (unsigned i = 0; i < 3; ++i) {
    TbRecord tb;
    tb.launch = 2;
    result.tbs.push_back(tb);
  }
  result.cycles = 20'000;
  for (Cycle c = 0; c <= 20'000; c += 250) {
    Sample(&result, c, {c <= 10'000 ? 30u : 10u, c <= 10'000 ? 20u : 50u}, {20, 20});
  }
  const auto rates = RatesOfSet(result, set, {ten, ten}, Config());
  ASSERT_TRUE(rates);
  EXPECT_NEAR(rates->mean[0].rate, 30.0 / 250 / 10, 1e-5);
  EXPECT_NEAR(rates->mean[1].rate, 20.0 / 250 / 10, 1e-5);
  EXPECT_DOUBLE_EQ(rates->first_cycles, 10'000);
  // Three and two do not fit, so that no slices lie evenly for long.
  set[0].tbs = 30;
  EXPECT_NEAR(RatesOfSet(result, set, {ten, ten}, Config())->mean[0].rate, 20.0 / 250 / 10, 5e-4);
}

TEST_F(ReplayMeasure, RunsAreAsLongAsTheyMustBe) {
  const std::vector<LaunchKind> set = {Kind("a", 50), Kind("b", 20)};
  AloneRate a{0.01, 10, 1000};
  AloneRate b{0.02};
  EXPECT_EQ(SetRequest(Config(), set, {a, b}).cycles, 10'000u) << "the limit";
  MeasureConfig longer = Config();
  longer.limits.cycles = 1'000'000;
  const RunRequest both = SetRequest(longer, set, {a, b});
  EXPECT_EQ(both.cycles, 20'000u) << "at least";
  ASSERT_EQ(both.jobs.size(), 2u);
  EXPECT_TRUE(both.jobs[0].repeat);
  EXPECT_EQ(both.jobs[0].workload->kernels[0].tb_limit, 50u);
  EXPECT_EQ(both.jobs[1].workload->kernels[0].tb_limit, 0u) << "slices of the whole grid";
  a.rate = 0.001;
  EXPECT_EQ(SetRequest(longer, set, {a, b}).cycles, 2u * 41'000) << "twice as long as a alone";
  b.rate = 0.0001;
  EXPECT_EQ(SetRequest(longer, {set[1]}, {b}).cycles, 1'000'000u);
  EXPECT_EQ(SetRequest(longer, {set[1]}, {AloneRate{0.002}}).cycles, 80'000u) << "eight launches";
  b.rate = 0.00001;  // a slice takes 2,000,000
  EXPECT_EQ(SetRequest(longer, {set[1]}, {b}).cycles, 1'000'000u);
  LaunchKind slice = set[1];
  slice.whole = false;
  EXPECT_NEAR(static_cast<double>(SetRequest(longer, {slice}, {b}).cycles), 6e6, 1)
      << "three in any case";
}

}  // namespace
}  // namespace smk
