// SPDX-License-Identifier: Apache-2.0
// The rules of SlicerProfiler once there is a plan: whom it watches, and who is sampled again.
#include <gtest/gtest.h>

#include "slicer_profiler/profiler_bench.h"

namespace smk {
namespace {

// After the plan the SMs watch the members in turn, once they have settled.
TEST(SlicerProfilerTest, SmsWatchTheKernelsInTurn) {
  ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm, kEighthOfAnSm}, 4);
  p.Start(0b101);
  p.UntilSharing();
  p.gives.clear();
  const unsigned planned = p.cycle;
  EXPECT_EQ(p.Until([&] { return p.state().window(); }) - planned, 4u + 20u);
  EXPECT_EQ(p.Given(), "0:0 2:0 0:0 2:0");
  EXPECT_FALSE(p.state().profiling());
}

// Runs `windows` windows of watching, in which kernel 1 issues `issued` on each SM that watches it.
void Watch(ProfilerBench* p, unsigned windows, unsigned issued) {
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
    ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm}, 16);
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
  ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm}, 16);
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
  ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm}, 16);
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
  ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm}, 16);
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
  ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm, kEighthOfAnSm}, 16);
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
  ProfilerBench p({kEighthOfAnSm, kEighthOfAnSm}, 16);
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
