// SPDX-License-Identifier: Apache-2.0
#include "control/profile_counters.h"

#include <gtest/gtest.h>

#include <random>

namespace smk {
namespace {

ProfileCounters::Inputs Grants(std::uint8_t valid, std::array<std::uint8_t, 4> kernels,
                               bool tick = false) {
  ProfileCounters::Inputs in;
  in.grant_valid = valid;
  in.grant_kernel = kernels;
  in.tick = tick;
  return in;
}

using Counts = std::array<std::uint16_t, kMaxKernels>;

TEST(ProfileCountersTest, CountsEachSchedulersGrantForItsKernel) {
  ProfileCounters counters;
  counters.Tick(Grants(0b1011, {2, 0, 3, 2}));
  EXPECT_EQ(counters.state().issued, (Counts{1, 0, 2, 0}));
}

TEST(ProfileCountersTest, ReportsOneCycleAfterTheTickAndForOneCycle) {
  ProfileCounters counters;
  counters.Tick(Grants(1, {1}));
  EXPECT_FALSE(counters.state().report_valid);
  counters.Tick(Grants(0, {}, true));
  EXPECT_TRUE(counters.state().report_valid);
  EXPECT_EQ(counters.state().report, (Counts{0, 1, 0, 0}));
  counters.Tick(Grants(0, {}));
  EXPECT_FALSE(counters.state().report_valid);
}

TEST(ProfileCountersTest, AGrantInTheCycleOfTheTickBelongsToTheNextWindow) {
  ProfileCounters counters;
  counters.Tick(Grants(1, {0}, true));
  EXPECT_EQ(counters.state().report, Counts{});
  EXPECT_EQ(counters.state().issued, (Counts{1, 0, 0, 0}));
}

TEST(ProfileCountersTest, SaturatesAndDoesNotWrap) {
  ProfileCounters counters;
  for (unsigned i = 0; i < 0xffff - 1; ++i) counters.Tick(Grants(1, {3}));
  EXPECT_EQ(counters.state().issued[3], 0xfffe);
  counters.Tick(Grants(0b1111, {3, 3, 3, 3}));
  EXPECT_EQ(counters.state().issued[3], 0xffff);
  counters.Tick(Grants(0b1111, {3, 3, 3, 3}));
  EXPECT_EQ(counters.state().issued[3], 0xffff);
}

TEST(ProfileCountersTest, NothingChangesWithoutGrantOrTick) {
  ProfileCounters counters;
  counters.Tick(Grants(1, {1}, true));
  counters.Tick({});
  const Counts issued = counters.state().issued, report = counters.state().report;
  counters.Tick({});
  EXPECT_EQ(counters.state().issued, issued);
  EXPECT_EQ(counters.state().report, report);
  EXPECT_FALSE(counters.state().report_valid);
}

TEST(ProfileCountersTest, WindowsOfRandomGrantsAddUp) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  ProfileCounters counters;
  Counts window{};
  for (int i = 0; i < 20000; ++i) {
    ProfileCounters::Inputs in;
    in.grant_valid = random() % 16;
    for (auto& kernel : in.grant_kernel) kernel = random() % kMaxKernels;
    in.tick = random() % 100 == 0;
    const Counts ended = window;
    if (in.tick) window.fill(0);
    for (unsigned s = 0; s < kMaxSchedulers; ++s) {
      if (in.grant_valid >> s & 1) ++window[in.grant_kernel[s]];
    }
    counters.Tick(in);
    ASSERT_EQ(counters.state().issued, window);
    ASSERT_EQ(counters.state().report_valid, in.tick);
    if (in.tick) {
      ASSERT_EQ(counters.state().report, ended);
    }
  }
}

}  // namespace
}  // namespace smk
