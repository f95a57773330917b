// SPDX-License-Identifier: Apache-2.0
// The rules of SlicerProfiler, one test each, with psi and phi worked by hand.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/oracle.h"
#include "control/driver/slicer_profiler.h"
#include "control/driver/waterfill_planner.h"

namespace smk {
namespace {

using Step = SlicerProfiler::Step;

constexpr ResourceVector kLimits{256, 384, 64, 32};
constexpr ResourceVector kEighth{32, 0, 1, 1};

// What was given or sampled: SM, kernel, TBs.
struct Record {
  unsigned cycle, sm, kernel, tbs, performance;
};

// A profiler with kernels of these needs, SMs that answer with counts(sm, kernel, tbs), and a
// planner that answers at once.
class Profiled {
 public:
  Profiled(const std::vector<ResourceVector>& needs, unsigned sms)
      : profiler_({kLimits, sms}), kernels_(oracle::Table(needs, kLimits)), held_(sms) {
    in.warmup = 20;
    in.settle = 10;
    in.window = 200;
    in.kernel_table = &kernels_;
    counts = [](unsigned, unsigned, unsigned) { return std::pair<unsigned, unsigned>{400, 0}; };
  }
  void Start(KernelMask mask) {
    cycle = 0;
    gives.clear();
    samples.clear();
    in.start = true;
    in.kernels = mask;
    Cycle();
    in.start = false;
  }
  void Cycle() {
    const SlicerProfiler::State& s = state();
    std::tie(in.issued, in.stalled) = counts(s.sm, held_[s.sm].kernel, held_[s.sm].tbs);
    in.planned = s.plan;
    windows += s.window() && !was_window_ ? 1 : 0;
    was_window_ = s.window();
    profiler_.Tick(in);
    ++cycle;
    if (s.give_valid) {
      held_[s.give_sm] = {cycle, s.give_sm, s.give_kernel, s.give_tbs, 0};
      gives.push_back(held_[s.give_sm]);
    }
    if (s.sample_valid) {
      samples.push_back({cycle, 0, s.sample_kernel, s.sample_tbs, s.sample_performance});
    }
  }
  // Until `done`, or 100,000 cycles later.
  unsigned Until(const std::function<bool()>& done) {
    const unsigned end = cycle + 100'000;
    while (!done() && cycle < end) Cycle();
    EXPECT_TRUE(done());
    return cycle;
  }
  unsigned UntilSharing() {
    return Until([this] { return state().watches; });
  }
  // "kernel:TBs" of the SMs, in the order given.
  std::string Given() const {
    std::string text;
    for (const Record& g : gives) {
      text += (text.empty() ? "" : " ") + std::to_string(g.kernel) + ":" + std::to_string(g.tbs);
    }
    return text;
  }
  const SlicerProfiler::State& state() const { return profiler_.state(); }

  SlicerProfiler::Inputs in;
  std::function<std::pair<unsigned, unsigned>(unsigned, unsigned, unsigned)> counts;
  unsigned cycle = 0, windows = 0;
  std::vector<Record> gives, samples;

 private:
  SlicerProfiler profiler_;
  KernelTable::State kernels_;
  std::vector<Record> held_;
  bool was_window_ = false;
};

// Fig. 4: two kernels of eight TBs on 16 SMs.
TEST(SlicerProfilerTest, TheIthSmOfAKernelHoldsITbs) {
  Profiled p({kEighth, kEighth}, 16);
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
  Profiled p({{51, 0, 1, 1}, {0, 128, 1, 1}}, 5);
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
  Profiled p({{128, 0, 1, 1}, {256, 0, 1, 1}, {0, 200, 1, 1}, {0, 192, 1, 1}}, 1);
  p.Start(0b1111);
  p.UntilSharing();
  EXPECT_EQ(p.Given(), "0:1 0:2 1:1 2:1 3:1 3:2");
  EXPECT_EQ(p.windows, 6u);
  Profiled two({{128, 0, 1, 1}, {256, 0, 1, 1}, {0, 128, 1, 1}}, 2);
  two.Start(0b0111);
  two.UntilSharing();
  EXPECT_EQ(two.Given(), "0:1 1:1 0:2 1:0 2:1 2:2 2:3 2:0");
  EXPECT_EQ(two.windows, 4u);
}

TEST(SlicerProfilerTest, AKernelWhoseTbFitsNoSmIsNotSampled) {
  Profiled p({{300, 0, 1, 1}, {128, 0, 1, 1}}, 2);
  p.Start(0b11);
  p.UntilSharing();
  EXPECT_EQ(p.Given(), "1:1 1:2");
  Profiled none({{300, 0, 1, 1}}, 2);
  none.Start(0b1);
  none.UntilSharing();
  EXPECT_TRUE(none.samples.empty());
}

// The warm-up comes once, before the first window; [D35]: the others begin `settle` cycles after
// the plan.
TEST(SlicerProfilerTest, WarmUpWindowAndSettleLastAsLongAsTheyShould) {
  Profiled p({{128, 0, 1, 1}}, 1);
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
    Profiled p({{128, 0, 1, 1}}, 1);
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
    Profiled p({kEighth, kEighth}, 16);
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
  const SlicerProfiler profiler({kLimits});
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
  const SlicerProfiler profiler({kLimits});
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
  Profiled p({kEighth, {64, 0, 1, 1}}, 5);
  p.counts = [](unsigned, unsigned kernel, unsigned tbs) {
    return std::pair<unsigned, unsigned>{10 * tbs + kernel, 0};
  };
  p.Start(0b11);
  p.UntilSharing();
  ASSERT_EQ(p.samples.size(), 12u);
  const SlicerProfiler expected({kLimits});
  for (const Record& s : p.samples) {
    EXPECT_EQ(s.performance,
              expected.Point(10 * s.tbs + s.kernel, 0, 800, s.tbs, s.kernel == 0 ? 8 : 4));
  }
}

// The curve goes to the planner as it is. By hand: kernel 0 has 1/3 and 2/3 of its best with 1 and
// 2 TBs, kernel 1 an eighth with each. From 1/3 and 1/8 they rise to 2/3 and 6/8, and the SM is
// full.
TEST(SlicerProfilerTest, ThePlannerPlansFromTheCurve) {
  Profiled p({kEighth, kEighth}, 16);
  p.counts = [](unsigned, unsigned kernel, unsigned tbs) {
    return std::pair<unsigned, unsigned>{kernel == 1 ? 20 * tbs : tbs < 4 ? 30 * tbs : 80, 0};
  };
  p.Start(0b11);
  p.UntilSharing();
  WaterfillPlanner planner({kLimits});
  KernelTable::State kernels = oracle::Table({kEighth, kEighth}, kLimits);
  WaterfillPlanner::Inputs in;
  in.kernel_table = &kernels;
  for (const Record& s : p.samples) {
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

// After the plan the SMs watch the members in turn, once they have settled.
TEST(SlicerProfilerTest, SmsWatchTheKernelsInTurn) {
  Profiled p({kEighth, kEighth, kEighth}, 4);
  p.Start(0b101);
  p.UntilSharing();
  p.gives.clear();
  const unsigned planned = p.cycle;
  EXPECT_EQ(p.Until([&] { return p.state().window(); }) - planned, 4u + 20u);
  EXPECT_EQ(p.Given(), "0:0 2:0 0:0 2:0");
  EXPECT_FALSE(p.state().profiling());
}

// Runs `windows` windows of watching, in which kernel 1 issues `issued` on each SM that watches it.
void Watch(Profiled* p, unsigned windows, unsigned issued) {
  p->counts = [issued](unsigned, unsigned kernel, unsigned) {
    return std::pair<unsigned, unsigned>{kernel == 1 ? issued : 400, 0};
  };
  for (unsigned i = 0; i < windows && p->state().watches; ++i) {
    p->Until([&] { return p->state().window(); });
    p->Until([&] { return !p->state().window(); });
    p->Until([&] { return p->state().window() || !p->state().watches; });
  }
}

// [D36]: 400 becomes 504 or 296, more than a quarter, for two windows.
TEST(SlicerProfilerTest, ASustainedChangeIsSampledAgain) {
  for (const unsigned issued : {504u, 296u}) {
    Profiled p({kEighth, kEighth}, 16);
    p.Start(0b11);
    p.UntilSharing();
    Watch(&p, 3, 400);
    Watch(&p, 1, issued);
    EXPECT_TRUE(p.state().watches) << "one window is not sustained";
    p.gives.clear();
    p.samples.clear();
    Watch(&p, 1, issued);
    EXPECT_FALSE(p.state().watches);
    EXPECT_TRUE(p.state().priority_valid());
    EXPECT_EQ(p.state().again_kernel, 1);
    const unsigned begin = p.cycle;
    p.Until([&] { return p.state().window(); });
    EXPECT_EQ(p.cycle - begin, 1u + 16u + 10u) << "no warm-up";
    EXPECT_EQ(p.Given(), "1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:8 1:0 1:0 1:0 1:0 1:0 1:0 1:0 1:0");
    p.Until([&] { return p.state().plan; });
    EXPECT_FALSE(p.state().priority_valid());
    EXPECT_EQ(p.state().kernels, 0b11) << "all are planned again";
    EXPECT_EQ(p.samples.size(), 8u);
    p.UntilSharing();
    Watch(&p, 4, issued);
    EXPECT_TRUE(p.state().watches) << "what it is now is the measure";
  }
}

TEST(SlicerProfilerTest, ASmallOrShortChangeIsNone) {
  Profiled p({kEighth, kEighth}, 16);
  p.Start(0b11);
  p.UntilSharing();
  Watch(&p, 1, 400);
  Watch(&p, 4, 500);
  Watch(&p, 4, 300);
  EXPECT_TRUE(p.state().watches) << "a quarter is not more than a quarter";
  for (int i = 0; i < 4; ++i) {
    Watch(&p, 1, 800);
    Watch(&p, 1, 400);
  }
  EXPECT_TRUE(p.state().watches) << "not in two windows in a row";
  p.in.sustain = 0;
  Watch(&p, 6, 800);
  EXPECT_TRUE(p.state().watches) << "switched off";
}

// [D38]: a kernel in its last TBs issues less, and has none that could be sampled. What counts are
// windows in a row at the end of which it has some.
TEST(SlicerProfilerTest, AKernelWithoutTbsToDispatchIsNotSampledAgain) {
  Profiled p({kEighth, kEighth}, 16);
  p.Start(0b11);
  p.UntilSharing();
  Watch(&p, 1, 400);
  p.in.able = 0b01;
  Watch(&p, 20, 100);
  EXPECT_TRUE(p.state().watches) << "nothing to sample it with";
  p.in.able = 0b11;
  Watch(&p, 1, 100);
  EXPECT_TRUE(p.state().watches) << "one window is not sustained";
  Watch(&p, 1, 100);
  EXPECT_FALSE(p.state().watches);
  EXPECT_EQ(p.state().again_kernel, 1);
}

// [D105]: a curve that was taken while its kernel had no TB to dispatch says nothing of its next
// launch, whatever IPC that has. It is sampled again as soon as it has some, and once: its TBs may
// be as few.
TEST(SlicerProfilerTest, AKernelThatHadNoTbsToDispatchIsSampledOnceMore) {
  Profiled p({kEighth, kEighth}, 16);
  p.in.able = 0b01;
  p.Start(0b11);
  p.UntilSharing();
  Watch(&p, 6, 400);
  EXPECT_TRUE(p.state().watches);
  p.in.able = 0b11;
  Watch(&p, 1, 400);
  EXPECT_FALSE(p.state().watches);
  EXPECT_EQ(p.state().again_kernel, 1);
  p.in.able = 0b01;
  p.UntilSharing();
  p.in.able = 0b11;
  Watch(&p, 10, 400);
  EXPECT_TRUE(p.state().watches) << "once";
  // A profile of all is another one; and who is never sampled again is not.
  p.in.able = 0b01;
  p.Start(0b11);
  p.UntilSharing();
  p.in.able = 0b11;
  p.in.sustain = 0;
  Watch(&p, 10, 400);
  EXPECT_TRUE(p.state().watches);
  p.in.sustain = 2;
  Watch(&p, 1, 400);
  EXPECT_FALSE(p.state().watches);
}

// A third kernel makes all be profiled again; whatever was going on.
TEST(SlicerProfilerTest, AThirdKernelMakesAllBeProfiledAgain) {
  Profiled p({kEighth, kEighth, kEighth}, 16);
  for (const unsigned after : {5u, 30u, 100u, 500u, 5000u}) {
    p.Start(0b11);
    for (unsigned i = 0; i < after; ++i) p.Cycle();
    p.Start(0b111);
    EXPECT_TRUE(p.state().profiling());
    p.UntilSharing();
    EXPECT_EQ(p.samples.size(), 24u);
    EXPECT_EQ(p.state().kernels, 0b111);
  }
}

TEST(SlicerProfilerTest, StopEndsAll) {
  Profiled p({kEighth, kEighth}, 16);
  for (const unsigned after : {3u, 30u, 70u, 200u, 5000u}) {
    p.Start(0b11);
    for (unsigned i = 0; i < after; ++i) p.Cycle();
    p.in.stop = true;
    p.Cycle();
    p.in.stop = false;
    for (unsigned i = 0; i < 100; ++i) {
      EXPECT_FALSE(p.state().profiling() || p.state().watches || p.state().window());
      EXPECT_FALSE(p.state().give_valid || p.state().sample_valid || p.state().plan);
      p.Cycle();
    }
  }
}

}  // namespace
}  // namespace smk
