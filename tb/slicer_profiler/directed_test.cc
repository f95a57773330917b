// SPDX-License-Identifier: Apache-2.0
// The rules of SlicerProfiler until there is a plan, one test each, with psi and phi worked by
// hand.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "control/driver/waterfill_planner.h"
#include "slicer_profiler/profiler_bench.h"

namespace smk {
namespace {

using Step = SlicerProfiler::Step;

// Fig. 4: two kernels of eight TBs on 16 SMs.
TEST(SlicerProfilerTest, TheIthSmOfAKernelHoldsITbs) {
  ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm}, 16);
  p.Start(0b11);
  p.Until([&] { return p.state().window(); });
  EXPECT_EQ(p.Given(), "0:1 0:2 0:3 0:4 0:5 0:6 0:7 0:8 1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:8");
  p.UntilSharing();
  EXPECT_EQ(p.windows, 1u);
  EXPECT_EQ(p.samples.size(), 16u);
}

// [D33]: five and three TBs on two SMs each take three windows, in which no SM loses a TB; the
// fifth SM has nothing to sample.
TEST(SlicerProfilerTest, TbsBeyondTheSmsShareTime) {
  ProfilerBench p({{51, 0, 1, 1}, {0, 128, 1, 1}}, 5);
  p.Start(0b11);
  p.UntilSharing();
  EXPECT_EQ(p.Given(),
            "0:1 0:2 1:1 1:2 0:0 "
            "0:3 0:4 1:3 1:0 0:0 "
            "0:5 0:0 1:0 1:0 0:0");
  EXPECT_EQ(p.windows, 3u);
  EXPECT_EQ(p.samples.size(), 8u);
}

TEST(SlicerProfilerTest, KernelsBeyondTheSmsShareTime) {
  ProfilerBench p({{128, 0, 1, 1}, {256, 0, 1, 1}, {0, 200, 1, 1}, {0, 192, 1, 1}}, 1);
  p.Start(0b1111);
  p.UntilSharing();
  EXPECT_EQ(p.Given(), "0:1 0:2 1:1 2:1 3:1 3:2");
  EXPECT_EQ(p.windows, 6u);
  ProfilerBench two({{128, 0, 1, 1}, {256, 0, 1, 1}, {0, 128, 1, 1}}, 2);
  two.Start(0b0111);
  two.UntilSharing();
  EXPECT_EQ(two.Given(), "0:1 1:1 0:2 1:0 2:1 2:2 2:3 2:0");
  EXPECT_EQ(two.windows, 4u);
}

TEST(SlicerProfilerTest, AKernelWhoseTbFitsNoSmIsNotSampled) {
  ProfilerBench p({{300, 0, 1, 1}, {128, 0, 1, 1}}, 2);
  p.Start(0b11);
  p.UntilSharing();
  EXPECT_EQ(p.Given(), "1:1 1:2");
  ProfilerBench none({{300, 0, 1, 1}}, 2);
  none.Start(0b1);
  none.UntilSharing();
  EXPECT_TRUE(none.samples.empty());
}

// The warm-up comes once, before the first window; [D35]: the others begin `settle` cycles after
// the plan.
TEST(SlicerProfilerTest, WarmUpWindowAndSettleLastAsLongAsTheyShould) {
  ProfilerBench p({{128, 0, 1, 1}}, 1);
  p.in.warmup = 200;
  p.in.settle = 30;
  p.in.window = 70;
  p.Start(0b1);
  p.Until([&] { return p.state().step == Step::kSettle; });
  const unsigned given = p.cycle;
  EXPECT_EQ(p.Until([&] { return p.state().window(); }) - given, 200u);
  const unsigned begin = p.cycle;
  EXPECT_EQ(p.Until([&] { return !p.state().window(); }) - begin, 70u);
  p.Until([&] { return p.state().step == Step::kSettle; });
  const unsigned again = p.cycle;
  EXPECT_EQ(p.Until([&] { return p.state().window(); }) - again, 30u);
  EXPECT_EQ(p.Until([&] { return !p.state().window(); }) - again, 100u);
}

// [D35]: TBs that run for long are in the way of those that an SM was given. Each window comes
// `settle` cycles after the last of them has gone, and not before the warm-up is over.
TEST(SlicerProfilerTest, AWindowWaitsUntilTheSmsAreSettled) {
  for (const std::uint16_t settle : {0, 1, 2, 30}) {
    ProfilerBench p({{128, 0, 1, 1}}, 1);
    p.in.warmup = 200;
    p.in.settle = settle;
    p.in.settled = false;
    p.Start(0b1);
    const auto waits = [&p](unsigned cycles) {
      for (unsigned i = 0; i < cycles; ++i) p.Cycle();
      EXPECT_EQ(p.state().step, Step::kSettle);
    };
    const auto settles = [&p, settle] {
      p.in.settled = true;
      const unsigned from = p.cycle;
      EXPECT_EQ(p.Until([&] { return p.state().window(); }) - from, std::max<unsigned>(1, settle));
    };
    waits(70'000);
    settles();
    // A further window; what was settled before is not any more.
    p.Until([&] { return p.state().step == Step::kSettle; });
    p.in.settled = false;
    waits(1'000);
    p.in.settled = true;
    if (settle > 2) waits(settle - 1);
    p.in.settled = false;
    waits(1'000);
    settles();
    // Those that watch.
    p.UntilSharing();
    p.Until([&] { return p.state().step == Step::kSettle; });
    p.in.settled = false;
    waits(1'000);
    settles();
  }
}

TEST(SlicerProfilerTest, TheDecisionMayTakeLonger) {
  unsigned last = 0;
  for (const std::uint16_t delay : {1, 1000, 5000, 10000}) {
    ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm}, 16);
    p.in.delay = delay;
    p.Start(0b11);
    const unsigned cycles = p.UntilSharing();
    if (last == 0) last = cycles;
    EXPECT_EQ(cycles - last, delay - 1u);
  }
}

// By hand: 5,000 cycles of four schedulers, 8,000 instructions, 6,000 stalls: phi = 0.3. Of eight
// TBs CTA_avg is 4.5: psi = 8 / 4.5 - 1 = 7/9 with eight, -7/9 with one. 1 + 0.3 x 7/9 = 1.2333,
// 0.7667. Of seven, four are the average: 1. A unit is 2^18 / 180,000 instructions, of seven 2^18 /
// 160,000.
TEST(SlicerProfilerTest, PsiAndPhiWorkedByHand) {
  const SlicerProfiler profiler({kProfilerLimits});
  EXPECT_EQ(profiler.Point(8000, 6000, 20'000, 8, 8), 6774) << "8000 x 1.23333 x 0.68665 = 6774.9";
  EXPECT_EQ(profiler.Point(8000, 6000, 20'000, 1, 8), 4211) << "8000 x 0.76667 x 0.68665 = 4211.4";
  EXPECT_EQ(profiler.Point(8000, 6000, 20'000, 4, 7), 4882) << "8000 x 1 x 0.61035 = 4882.8";
  EXPECT_EQ(profiler.Point(8000, 0, 20'000, 8, 8), 5493) << "phi = 0: 8000 x 0.68665 = 5493.2";
  EXPECT_EQ(profiler.Point(8000, 12'000, 20'000, 1, 1), 4882) << "one TB is the average";
  EXPECT_EQ(profiler.Point(0, 20'000, 20'000, 32, 32), 0);
  EXPECT_EQ(profiler.Point(20'000, 0, 20'000, 4, 7), 12'207) << "20000 x 0.61035 = 12207.0";
}

// Less than two units below the exact value, never above it.
TEST(SlicerProfilerTest, APointIsLessThanTwoUnitsBelowTheExactOne) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const SlicerProfiler profiler({kProfilerLimits});
  double worst = 0;
  for (int i = 0; i < 500'000; ++i) {
    const unsigned cycles = 4 * (1 + random() % (random() % 2 != 0 ? 16'382 : 200));
    const unsigned issued = random() % (cycles + 1), stalled = random() % (cycles - issued + 1);
    const unsigned most = 1 + random() % 32, tbs = 1 + random() % most;
    const double phi = static_cast<double>(stalled) / cycles;
    const double psi = tbs / ((most + 1) / 2.0) - 1;
    double unit = static_cast<double>(cycles) * (most + 1);
    while (unit >= 1) unit /= 2;
    const double exact = issued * (1 + phi * psi) * unit;
    const double below = exact - profiler.Point(issued, stalled, cycles, tbs, most);
    ASSERT_GT(below, -1e-6) << issued << " " << stalled << " " << cycles << " " << tbs << "/"
                            << most;
    ASSERT_LT(below, 2) << issued << " " << stalled << " " << cycles << " " << tbs << "/" << most;
    worst = std::max(worst, below);
  }
  std::printf("at most %.3f units below the exact value\n", worst);
}

// The i-th sample of a kernel is that of the SM that held i TBs.
TEST(SlicerProfilerTest, EachSampleIsThatOfItsSm) {
  ProfilerBench p({kEighthOfAnSm, {64, 0, 1, 1}}, 5);
  p.counts = [](unsigned, unsigned kernel, unsigned tbs) {
    return std::pair<unsigned, unsigned>{10 * tbs + kernel, 0};
  };
  p.Start(0b11);
  p.UntilSharing();
  ASSERT_EQ(p.samples.size(), 12u);
  const SlicerProfiler expected({kProfilerLimits});
  for (const ProfilerRecord& s : p.samples) {
    EXPECT_EQ(s.performance,
              expected.Point(10 * s.tbs + s.kernel, 0, 800, s.tbs, s.kernel == 0 ? 8 : 4));
  }
}

// The curve goes to the planner as it is. By hand: kernel 0 has 1/3 and 2/3 of its best with 1 and
// 2 TBs, kernel 1 an eighth with each. From 1/3 and 1/8 they rise to 2/3 and 6/8, and the SM is
// full.
TEST(SlicerProfilerTest, ThePlannerPlansFromTheCurve) {
  ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm}, 16);
  p.counts = [](unsigned, unsigned kernel, unsigned tbs) {
    return std::pair<unsigned, unsigned>{kernel == 1 ? 20 * tbs : tbs < 4 ? 30 * tbs : 80, 0};
  };
  p.Start(0b11);
  p.UntilSharing();
  WaterfillPlanner planner({kProfilerLimits});
  KernelTable::State kernels = oracle::Table({kEighthOfAnSm, kEighthOfAnSm}, kProfilerLimits);
  WaterfillPlanner::Inputs in;
  in.kernel_table = &kernels;
  for (const ProfilerRecord& s : p.samples) {
    in.sample_valid = true;
    in.sample_kernel = static_cast<std::uint8_t>(s.kernel);
    in.sample_tbs = static_cast<std::uint8_t>(s.tbs);
    in.sample_performance = static_cast<std::uint16_t>(s.performance);
    planner.Tick(in);
  }
  in.sample_valid = false;
  in.kernels = p.state().kernels;
  in.start = true;
  planner.Tick(in);
  in.start = false;
  for (int i = 0; i < 3000 && !planner.state().done; ++i) planner.Tick(in);
  EXPECT_EQ(planner.state().range[0].tb_count, 2);
  EXPECT_EQ(planner.state().range[1].tb_count, 6);
}

}  // namespace
}  // namespace smk
