// SPDX-License-Identifier: Apache-2.0
// Launches that are followed TB by TB: where TBs lie, and how fast they go on, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "replay/sm_speeds.h"
#include "replay/tb_spread.h"

namespace smk {
namespace {

using testing::DoubleEq;
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
    speeds.fill(0.001);
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
    alone.rate = launch.tbs / time.at(launch.whole ? 0 : launch.tbs);
    return alone;
  }
  SetRates Together(const std::vector<LaunchKind>& set) override {
    SetRates rates;
    for (const LaunchKind& launch : set) rates.mean.push_back({Alone(launch).rate * part, 0});
    return rates;
  }
  std::map<std::uint32_t, double> time;  // of a launch of so many TBs; 0: the whole kernel
  double part = 0.5;                     // of its rate, in a set
};

class ReplaySmSpeeds : public testing::Test {
 protected:
  // One, two, four and eight on an SM.
  ReplaySmSpeeds() { rates.time = {{10, 1000}, {20, 1200}, {40, 2000}, {80, 4000}}; }
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
  std::map<std::uint32_t, std::shared_ptr<const Workload>> workloads;
  const MachineConfig machine = Machine();
  SpeedRates rates;
  ReplayChecks checks{1};
  Kinds kinds{rates, checks};
  SmSpeeds speeds{machine, kinds};
};

TEST_F(ReplaySmSpeeds, AloneALaunchIsAsFastAsThoseThatHaveAsManyTbs) {
  const std::size_t kind = Kind(40);
  const auto time = [&](unsigned tbs) {
    return 1 / speeds.Of({{kind, tbs, tbs, 0}}, /*in_step=*/true, 0)[0];
  };
  EXPECT_DOUBLE_EQ(time(4), 2000);
  EXPECT_DOUBLE_EQ(time(8), 4000);
  EXPECT_DOUBLE_EQ(time(6), 3000) << "in the middle";
  EXPECT_DOUBLE_EQ(time(1), 1000);
  EXPECT_DOUBLE_EQ(time(2), 1000 + 1000 / 3.0);
}

// Half of the rate beside two others; with one of them a quarter is lost.
TEST_F(ReplaySmSpeeds, OthersSlowDownAsFarAsTheyAreThere) {
  const std::size_t a = Kind(40, 80), b = Kind(20, 90);
  EXPECT_THAT(speeds.Of({{a, 4, 4, 0}, {b, 2, 2, 1}}, false, 0),
              ElementsAre(DoubleEq(0.5 / 2000), DoubleEq(0.5 / 1200)));
  EXPECT_THAT(speeds.Of({{a, 4, 4, 0}, {b, 1, 1, 1}}, false, 0),
              ElementsAre(DoubleEq(0.75 / 2000), DoubleEq(0.5 / 1000)));
  EXPECT_THAT(speeds.Of({{a, 4, 4, 0}, {b, 1, 2, 1}}, false, 0)[0], DoubleEq(0.5 / 2000))
      << "a slice that drains was measured as well";
}

// Even shares of 8 and 2 are more than an SM holds. The highest throughput is 8 TBs in 4000.
TEST_F(ReplaySmSpeeds, WhatWasNeverTogetherSharesTheSm) {
  const std::size_t a = Kind(80, 80), b = Kind(20, 90);
  const std::vector<double> found = speeds.Of({{a, 6, 8, 0}, {b, 2, 2, 1}}, false, 0);
  const double all = 6 / 3142.857 / (8 / 4000.0) + 2 / 1200.0 / (8 / 4000.0);
  EXPECT_NEAR(1 / found[0], 3142.857 * all, 1) << "6 of 8: between 1000 for 1 and 4000";
  EXPECT_NEAR(1 / found[1], 1200 * all, 1);
}

// A kernel of 160 TBs, of which 80 fit, has 8 TBs of an SM done in 2000 cycles when it feeds.
TEST_F(ReplaySmSpeeds, TbsOutOfStepGoOnAsThoseOfALaunchThatFeeds) {
  rates.time[0] = 4000;
  const std::size_t kind = Kind(80, 160);
  EXPECT_DOUBLE_EQ(1 / speeds.Of({{kind, 8, 8, 0}}, true, 0)[0], 4000);
  EXPECT_DOUBLE_EQ(1 / speeds.Of({{kind, 8, 8, 0}}, false, 0)[0], 2000);
  EXPECT_DOUBLE_EQ(1 / speeds.Of({{kind, 5, 8, 0}, {kind, 3, 3, 1}}, false, 0)[1], 2000)
      << "two launches of it";
  EXPECT_DOUBLE_EQ(1 / speeds.Of({{Kind(20), 2, 2, 0}}, false, 0)[0], 1200)
      << "a kernel that never feeds";
}

}  // namespace
}  // namespace smk
