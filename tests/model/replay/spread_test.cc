// SPDX-License-Identifier: Apache-2.0
// Launches that are followed TB by TB: where TBs lie, and how fast they go on, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "replay/alone_speeds.h"
#include "replay/sm_speeds.h"
#include "replay/tb_spread.h"

namespace smk {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;

constexpr KernelId kA{0}, kB{1};

// SMs of 12 units of registers and 8 TBs, and launches that take 1000 cycles.
class ReplaySpread : public testing::Test {
 protected:
  static ResourceVector Limits() { return {12, 100, 100, 8}; }
  static KernelSpec Kernel(std::uint16_t registers) {
    KernelSpec kernel;
    kernel.need = {registers, 0, 1, 1};
    return kernel;
  }
  static void Place(TbSpread* spread) {
    spread->Place({0, 1, 2, 3});
    TbSpread::Speeds speeds;
    speeds.fill({0.001});
    for (unsigned sm = 0; sm < spread->sms(); ++sm) spread->SetSpeeds(sm, speeds);
  }
  // To the next end.
  static Cycle Step(TbSpread* spread) {
    const Cycle cycles = spread->NextEnd();
    EXPECT_TRUE(spread->Advance(cycles));
    Place(spread);
    return cycles;
  }
  static std::vector<unsigned> TbsOf(const TbSpread& spread, KernelId slot) {
    std::vector<unsigned> tbs;
    for (unsigned sm = 0; sm < spread.sms(); ++sm) tbs.push_back(spread.On(sm).now[Index(slot)]);
    return tbs;
  }
};

TEST_F(ReplaySpread, TbsGoToSmsInTurnTheOldestKernelFirst) {
  const KernelSpec a = Kernel(2), b = Kernel(4);
  TbSpread spread(Limits(), 3);
  spread.Launch(kB, b, 3, {});
  spread.Launch(kA, a, 14, {});
  Place(&spread);
  EXPECT_THAT(TbsOf(spread, kA), ElementsAre(5, 5, 4));
  EXPECT_THAT(TbsOf(spread, kB), ElementsAre(0, 0, 1)) << "4 of 12 are left on the third only";
  EXPECT_EQ(Step(&spread), 1000u);
  EXPECT_TRUE(spread.Ended(kA));
  EXPECT_FALSE(spread.Ended(kB));
  EXPECT_THAT(TbsOf(spread, kB), ElementsAre(1, 1, 0)) << "the next in turn";
}

// Four TBs on each of two SMs: those of the second end at once, those of the first later.
TEST_F(ReplaySpread, AKernelThatComesFindsRoomOnSomeSmsOnly) {
  const KernelSpec a = Kernel(3), b = Kernel(3);
  TbSpread spread(Limits(), 2);
  spread.Launch(kA, a, 8, {1, 0.5, 1, 0.5, 1, 0.5, 1, 0.5});
  Place(&spread);
  spread.Launch(kB, b, 4, {});
  Place(&spread);
  EXPECT_THAT(TbsOf(spread, kB), ElementsAre(0, 0));
  EXPECT_EQ(Step(&spread), 500u);
  EXPECT_THAT(TbsOf(spread, kB), ElementsAre(0, 4));
  EXPECT_DOUBLE_EQ(spread.Done(kA), 4 + 4 * 0.5);
  EXPECT_DOUBLE_EQ(spread.RateOf(kA), 4 * 0.001);
}

// Six TBs of 2: when the first and the third have ended, 4 are free, and not in one piece.
TEST_F(ReplaySpread, ATbWaitsForAGapAndItsSmGetsNoOther) {
  const KernelSpec a = Kernel(2), b = Kernel(4), c = Kernel(2);
  TbSpread spread(Limits(), 1);
  spread.Launch(kA, a, 6, {0.1, 0.4, 0.2, 1, 1, 1});
  Place(&spread);
  spread.Launch(kB, b, 1, {});
  Place(&spread);
  EXPECT_EQ(Step(&spread), 100u);
  EXPECT_EQ(Step(&spread), 100u);
  EXPECT_THAT(TbsOf(spread, kB), ElementsAre(0));
  EXPECT_EQ(Step(&spread), 200u);
  EXPECT_THAT(TbsOf(spread, kB), ElementsAre(1)) << "0 to 4 of 0 to 6";
  spread.Launch(KernelId{2}, c, 1, {});
  Place(&spread);
  EXPECT_THAT(TbsOf(spread, KernelId{2}), ElementsAre(1));
  EXPECT_EQ(Step(&spread), 600u);
  EXPECT_TRUE(spread.Ended(kA));
}

// Three on an SM. The two older have all of the speed.
TEST_F(ReplaySpread, TbsOnAnSmGoOnByAge) {
  const KernelSpec a = Kernel(4), b = Kernel(1);
  const std::vector<double> three = {1.5, 1.5, 0}, two = {1.25, 0.75};
  TbSpread spread(Limits(), 1);
  spread.Launch(kA, a, 3, {});
  spread.Place({0, 1, 2, 3});
  spread.SetSpeeds(0, {{{0.001, &three}}});
  EXPECT_DOUBLE_EQ(spread.RateOf(kA), 0.003);
  EXPECT_EQ(spread.NextEnd(), 667u);
  spread.Advance(600);
  EXPECT_DOUBLE_EQ(spread.Done(kA), 1.8);
  spread.Advance(67);
  EXPECT_THAT(TbsOf(spread, kA), ElementsAre(1)) << "the youngest is where it began";
  spread.Launch(kB, b, 2, {});
  spread.Place({0, 1, 2, 3});
  spread.SetSpeeds(0, {{{0.001}, {0.001, &two}}});
  EXPECT_EQ(spread.NextEnd(), 800u) << "of the other kernel's, the older";
  EXPECT_TRUE(spread.Advance(800));
  EXPECT_DOUBLE_EQ(spread.Done(kA), 2 + 0.8);
}

TEST_F(ReplaySpread, ATbLiesWhereAnEarlierOneOfItsKernelLay) {
  const KernelSpec a = Kernel(4), b = Kernel(4);
  TbSpread spread(Limits(), 1);
  spread.Launch(kA, a, 4, {0.5, 1, 1, 1});
  Place(&spread);
  EXPECT_TRUE(spread.On(0).in_step);
  EXPECT_EQ(Step(&spread), 500u);
  EXPECT_THAT(TbsOf(spread, kA), ElementsAre(3)) << "the fourth took the place of the first";
  EXPECT_FALSE(spread.On(0).in_step);
  EXPECT_EQ(Step(&spread), 500u);
  EXPECT_TRUE(spread.On(0).in_step) << "one TB is left";
  EXPECT_EQ(spread.On(0).most[Index(kA)], 3u);
}

// Rates by the TBs of a launch. On the GPU: 10 SMs of 8 TBs.
class SpeedRates : public RateSource {
 public:
  AloneRate Alone(const LaunchKind& launch) override {
    AloneRate alone;
    alone.rate = launch.tbs / time.at(launch.tbs);
    alone.tb_ends = ends;
    alone.tb_ends.resize(launch.tbs, 1);
    return alone;
  }
  SetRates Together(const std::vector<LaunchKind>& set) override {
    SetRates rates;
    for (const LaunchKind& launch : set) rates.mean.push_back({Alone(launch).rate * part, 0});
    rates.first_cycles = first_cycles;
    return rates;
  }
  RateSource& OnOneSm() override { return *one_sm; }
  std::map<std::uint32_t, double> time;  // of a launch of so many TBs
  std::vector<double> ends;              // of its first TBs; of others at its end
  double part = 0.5;                     // of its rate, in a set
  double first_cycles = 0;
  SpeedRates* one_sm = nullptr;
};

class ReplaySpeeds : public testing::Test {
 protected:
  // One, two, four and eight on an SM, which is as fast when the others are empty.
  ReplaySpeeds() {
    rates.time = {{10, 1000}, {20, 1200}, {40, 2000}, {80, 4000}};
    on_one_sm.time = {{1, 1000}, {2, 1200}, {4, 2000}, {8, 4000}};
    rates.one_sm = &on_one_sm;
  }
  static MachineConfig Machine() {
    MachineConfig machine;
    machine.sms = 10;
    machine.sm.limits = {1000, 1000, 1000, 8};
    return machine;
  }
  std::size_t Kind(std::uint32_t tbs, std::uint32_t grid = 80) {
    auto& workload = workloads[grid];
    if (workload == nullptr) {
      auto made = std::make_shared<Workload>();
      made->kernels.resize(1);
      made->kernels[0].need = {1, 1, 1, 1};
      made->kernels[0].grid_x = grid;
      workload = made;
    }
    return kinds.Of({workload, 0, tbs, false});
  }
  std::vector<double> PartsOf(const std::vector<SmSpeeds::Member>& members, bool in_step) {
    std::vector<double> parts;
    for (const SmSpeeds::Speed& speed : speeds.Of(members, in_step, 0)) {
      parts.push_back(speed.parts);
    }
    return parts;
  }
  // Of the TBs of a launch that the GPU holds, alone and at speeds by age.
  std::vector<Cycle> EndsByAge(std::size_t kind) {
    TbSpread spread(machine.sm.limits, machine.sms);
    const LaunchKind& launch = kinds[kind].launch;
    spread.Launch(kA, launch.spec(), launch.tbs, alone.PartsOf(kind));
    spread.Place({0, 1, 2, 3});
    std::vector<Cycle> ends;
    for (Cycle now = 0; ends.size() < launch.tbs;) {
      std::vector<unsigned> tbs;
      for (unsigned sm = 0; sm < spread.sms(); ++sm) tbs.push_back(spread.On(sm).now[Index(kA)]);
      for (unsigned sm = 0; sm < spread.sms(); ++sm) {
        if (tbs[sm] == 0) continue;
        const double mean = alone.DeliveredTo(kind, tbs) / alone.OwnTimeOf(kind, tbs[sm]);
        spread.SetSpeeds(sm, {{{mean, &alone.ByAge(kind, tbs[sm])}}});
      }
      const unsigned before = std::accumulate(tbs.begin(), tbs.end(), 0u);
      now += spread.NextEnd();
      spread.Advance(spread.NextEnd());
      unsigned left = 0;
      for (unsigned sm = 0; sm < spread.sms(); ++sm) left += spread.On(sm).now[Index(kA)];
      ends.resize(ends.size() + before - left, now);
    }
    return ends;
  }
  std::map<std::uint32_t, std::shared_ptr<const Workload>> workloads;
  const MachineConfig machine = Machine();
  SpeedRates rates, on_one_sm;
  ReplayChecks checks{1};
  Kinds kinds{rates, checks}, one_sm{on_one_sm, checks};
  AloneSpeeds alone{machine, kinds, one_sm};
  SmSpeeds speeds{machine, kinds, alone};
};

TEST_F(ReplaySpeeds, ALaunchIsAsFastAsThoseThatHaveAsManyTbs) {
  const std::size_t kind = Kind(40);
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 4), 2000);
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 8), 4000);
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 6), 3000) << "in the middle";
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 1), 1000);
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 2), 1200) << "half the even share is measured";
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 3), 1600);
}

// Of an even share of three, half would be one, which is measured anyway.
TEST_F(ReplaySpeeds, HalfOfASmallShareIsNotMeasured) {
  rates.time[30] = 1500;
  const std::size_t kind = Kind(30);
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 1), 1000);
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 2), 1250) << "and not 1200";
}

// A kernel of 40 TBs, in slices of 20: more than four on an SM are not measured.
TEST_F(ReplaySpeeds, MoreTbsThanWereMeasuredHaveTheirThroughput) {
  const std::size_t kind = Kind(20, 40);
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 3), 1600);
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 4), 2000);
  EXPECT_DOUBLE_EQ(alone.TimeOf(kind, 6), 3000);
}

// An SM alone does a TB in 200 cycles, four in 800. When all do, they take 1000 and 2000.
TEST_F(ReplaySpeeds, AnSmIsFasterWhenOthersAreEmpty) {
  on_one_sm.time = {{1, 200}, {2, 400}, {4, 800}, {8, 5000}};
  const std::size_t kind = Kind(40);
  EXPECT_DOUBLE_EQ(alone.OwnTimeOf(kind, 4), 800);
  EXPECT_DOUBLE_EQ(alone.OwnTimeOf(kind, 3), 600);
  EXPECT_DOUBLE_EQ(alone.OwnTimeOf(kind, 8), 4000) << "and never slower";
  EXPECT_DOUBLE_EQ(1 / speeds.Of({{kind, 4, 4, 0}}, true, 0)[0].parts, 800);
  EXPECT_DOUBLE_EQ(speeds.Of({{kind, 4, 4, 0}}, true, 0)[0].demand, 4 / 800.0);
}

// The GPU delivers 10 TBs in 1000 cycles, 40 in 4000, 80 in 8000; SMs alone are twice as fast.
TEST_F(ReplaySpeeds, TheGpuDeliversWhatItDoesWhereAllSmsAreAlike) {
  rates.time = {{10, 1000}, {20, 2000}, {40, 4000}, {80, 8000}};
  on_one_sm.time = {{1, 500}, {2, 1000}, {4, 2000}, {8, 4000}};
  const std::size_t kind = Kind(40);
  const double sm = 4 / 2000.0;
  EXPECT_DOUBLE_EQ(alone.Delivered(kind, 10 * sm), 0.5);
  EXPECT_DOUBLE_EQ(alone.Delivered(kind, 8 * sm), 5.0 / 8);
  EXPECT_DOUBLE_EQ(alone.Delivered(kind, 5 * sm), 1) << "five SMs have all that they can";
  EXPECT_DOUBLE_EQ(alone.Delivered(kind, 2 * sm), 1);
}

// Demands of 10, 15, 20 and 40 TBs in 1000 cycles, of which 10, 12, 18 and 24 are delivered.
TEST_F(ReplaySpeeds, BetweenTwoLoadsDeliveryIsLinear) {
  on_one_sm.time = {{1, 1000}, {2, 2 / 1.5e-3}, {4, 2000}, {8, 2000}};
  rates.time = {{10, 1000}, {20, 20 / 12e-3}, {40, 40 / 18e-3}, {80, 80 / 24e-3}};
  const std::size_t kind = Kind(40);
  EXPECT_DOUBLE_EQ(alone.Delivered(kind, 12.5e-3), 11.0 / 12.5);
  EXPECT_DOUBLE_EQ(alone.Delivered(kind, 16e-3), 13.2 / 16);
  EXPECT_DOUBLE_EQ(alone.Delivered(kind, 30e-3), 21.0 / 30);
  EXPECT_DOUBLE_EQ(alone.Delivered(kind, 50e-3), 24.0 / 50);
}

// Two on an SM. Those of the first five SMs end at half of the time, of which they have had half;
// then the other five have all that they demand.
TEST_F(ReplaySpeeds, TbsOfALaunchEndWhenTheyDidAlone) {
  rates.time = {{10, 1000}, {20, 2000}, {40, 4000}, {80, 8000}};
  on_one_sm.time = {{1, 500}, {2, 1000}, {4, 2000}, {8, 4000}};
  rates.ends = {0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5};
  const std::vector<double> parts = alone.PartsOf(Kind(20));
  EXPECT_DOUBLE_EQ(parts[0], 1000 * 0.5 / 1000);
  EXPECT_DOUBLE_EQ(parts[14], parts[0]);
  EXPECT_DOUBLE_EQ(parts[5], 1000 * 0.5 / 1000 + 1000 * 1.0 / 1000);
}

// Half of the rate beside two others; with one of them a quarter is lost.
TEST_F(ReplaySpeeds, OthersSlowDownAsFarAsTheyAreThere) {
  const std::size_t a = Kind(40, 80), b = Kind(20, 90);
  EXPECT_THAT(PartsOf({{a, 4, 4, 0}, {b, 2, 2, 1}}, false),
              ElementsAre(DoubleEq(0.5 / 2000), DoubleEq(0.5 / 1200)));
  EXPECT_THAT(PartsOf({{a, 4, 4, 0}, {b, 1, 1, 1}}, false),
              ElementsAre(DoubleEq(0.75 / 2000), DoubleEq(0.5 / 1000)));
  EXPECT_THAT(PartsOf({{a, 4, 4, 0}, {b, 1, 2, 1}}, false)[0], DoubleEq(0.5 / 2000))
      << "a slice that drains was measured as well";
}

// Even shares of 8 and 2 are more than an SM holds: in turn, it has 6 and 2. In this set both take
// twice as long as alone.
TEST_F(ReplaySpeeds, SharesThatDoNotFitAreCut) {
  rates.time[60] = 3000;
  const std::size_t a = Kind(80, 80), b = Kind(20, 90);
  const double six = 3000;  // of a: between 4 and 8
  EXPECT_THAT(PartsOf({{a, 6, 8, 0}, {b, 2, 2, 1}}, false),
              ElementsAre(DoubleEq(0.5 / six), DoubleEq(0.5 / 1200)));
  // A third of a's TBs, and half of b's, are gone: they cost as much less.
  EXPECT_THAT(PartsOf({{a, 4, 8, 0}, {b, 1, 2, 1}}, false),
              ElementsAre(DoubleEq(1 / 1.5 / alone.OwnTimeOf(a, 4)), DoubleEq(0.6 / 1000)));
  EXPECT_THAT(PartsOf({{a, 6, 8, 0, 1.25}, {b, 2, 2, 1}}, false),
              ElementsAre(DoubleEq(1.25 * 0.5 / six), DoubleEq(0.5 / 1200)))
      << "its TBs follow each other";
}

// Four on an SM, of which the first have together what so many have alone: one of them takes 1000
// cycles, two 1200, three 1600, four 2000.
TEST_F(ReplaySpeeds, OlderTbsHaveWhatTheyHaveAlone) {
  const double ends[] = {0.4, 0.5, 0.75, 1};  // earlier than at any priority
  for (unsigned tb = 0; tb < 40; ++tb) rates.ends.push_back(ends[tb / 10]);
  const std::size_t kind = Kind(40, 40);
  const auto share = [](double before, double together) {
    return 0.1 + 0.9 * 4 * (together - before) / (4 / 2000.0);
  };
  EXPECT_THAT(
      alone.ByAge(kind, 4),
      ElementsAre(DoubleEq(share(0, 1 / 1000.0)), DoubleEq(share(1 / 1000.0, 2 / 1200.0)),
                  DoubleEq(share(2 / 1200.0, 3 / 1600.0)), DoubleEq(share(3 / 1600.0, 4 / 2000.0))))
      << "0.9 is the most, so that the youngest goes on as well";
  EXPECT_THAT(alone.ByAge(kind, 1), ElementsAre(DoubleEq(1)));
}

TEST_F(ReplaySpeeds, WhereAllTbsEndTogetherNoneGoesFirst) {
  EXPECT_THAT(alone.ByAge(Kind(40), 4), Each(DoubleEq(1)));
}

// Whenever TBs ended alone, at speeds by age they do so again.
TEST_F(ReplaySpeeds, AtSpeedsByAgeTbsEndWhenTheyDidAlone) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    rates.ends.resize(80);
    for (double& end : rates.ends) end = 0.3 + 0.7 * static_cast<double>(random() % 1000) / 1000;
    const std::vector<Cycle> ends = EndsByAge(Kind(80, 1000 + seed));
    std::vector<double> expected(rates.ends);
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(ends.size(), expected.size());
    for (std::size_t i = 0; i < ends.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(ends[i]), expected[i] * 4000, 20) << "TB " << i;
    }
  }
}

// What a launch alone makes of its TBs that follow each other.
TEST_F(ReplaySpeeds, ALaunchThatFeedsHasItsOwnSpeed) {
  const std::size_t kind = Kind(80, 160);
  EXPECT_DOUBLE_EQ(1 / PartsOf({{kind, 8, 8, 0, 1.25}}, true)[0], 4000 / 1.25);
  EXPECT_DOUBLE_EQ(1 / PartsOf({{kind, 8, 8, 0, 1.25}}, false)[0], 4000 / 1.25);
  rates.part = 1;
  const std::vector<double> two = PartsOf({{kind, 5, 8, 0, 1.25}, {kind, 3, 3, 1}}, false);
  EXPECT_DOUBLE_EQ(5 * two[0] + 3 * two[1], 8 * 1.25 / 4000) << "and so do two of one kernel";
}

// A kernel of 160 TBs, of which 80 fit. Two overlapping slices have their rate alone each.
TEST_F(ReplaySpeeds, TbsOutOfStepGoOnAsThoseOfSlicesThatOverlap) {
  rates.part = 1;
  const std::size_t kind = Kind(80, 160);
  EXPECT_DOUBLE_EQ(1 / PartsOf({{kind, 8, 8, 0}}, true)[0], 4000);
  EXPECT_DOUBLE_EQ(1 / PartsOf({{kind, 8, 8, 0}}, false)[0], 2000);
  EXPECT_DOUBLE_EQ(1 / PartsOf({{Kind(20), 2, 2, 0}}, false)[0], 1200)
      << "the GPU holds the whole kernel";
}

// The longest TB has half of its time left when the seven others of its SM end, and has it in a
// quarter of the cycles then. With others in their places it would take four quarters.
TEST_F(ReplaySpeeds, TheOlderSliceGoesFirstAsFarAsItDidWhenMeasured) {
  rates.ends.assign(80, 0.5);
  rates.ends[0] = 1;
  rates.part = 1;
  const double speed = 2 * (79 * 0.5 + 2.5) / 80;
  rates.first_cycles = (4000 + 2.5 * 4000 / speed) / 2;
  const std::size_t kind = Kind(80, 160);
  EXPECT_DOUBLE_EQ(alone.OverlapOf(kind, 0).speed, speed);
  EXPECT_DOUBLE_EQ(alone.OverlapOf(kind, 0).priority, 0.5);
  const std::vector<double> parts = PartsOf({{kind, 5, 8, 0}, {kind, 3, 3, 1}}, false);
  EXPECT_DOUBLE_EQ(parts[0], (1 / alone.OwnTimeOf(kind, 5) + speed / 4000) / 2);
  EXPECT_DOUBLE_EQ(5 * parts[0] + 3 * parts[1], 8 * speed / 4000);
}

}  // namespace
}  // namespace smk
