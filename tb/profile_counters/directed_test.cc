// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "control/sm/profile_counters.h"

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

using Counts = ProfileCounters::Counts;

TEST(ProfileCountersTest, CountsEachSchedulersGrantForItsKernel) {
  ProfileCounters counters;
  counters.Tick(Grants(0b1011, {2, 0, 3, 2}));
  EXPECT_EQ(counters.issued(), (Counts{1, 0, 2, 0}));
}

TEST(ProfileCountersTest, ATickStartsANewWindow) {
  ProfileCounters counters;
  counters.Tick(Grants(1, {1}));
  EXPECT_EQ(counters.issued(), (Counts{0, 1, 0, 0}));
  counters.Tick(Grants(0, {}, true));
  EXPECT_EQ(counters.issued(), Counts{});
}

TEST(ProfileCountersTest, AGrantInTheCycleOfTheTickBelongsToTheNextWindow) {
  ProfileCounters counters;
  counters.Tick(Grants(1, {1}));
  counters.Tick(Grants(1, {0}, true));
  EXPECT_EQ(counters.issued(), (Counts{1, 0, 0, 0}));
}

TEST(ProfileCountersTest, SaturatesAndDoesNotWrap) {
  ProfileCounters counters;
  for (unsigned i = 0; i < 61'442; ++i) counters.Tick(Grants(1, {3}));
  EXPECT_EQ(counters.issued()[3], 61'442);
  counters.Tick(Grants(0b1111, {3, 3, 3, 3}));
  EXPECT_EQ(counters.issued()[3], 61'443);
  counters.Tick(Grants(0b1111, {3, 3, 3, 3}));
  EXPECT_EQ(counters.issued()[3], 61'443);
}

TEST(ProfileCountersTest, NothingChangesWithoutGrantOrTick) {
  ProfileCounters counters;
  counters.Tick(Grants(1, {1}));
  counters.Tick({});
  EXPECT_EQ(counters.issued(), (Counts{0, 1, 0, 0}));
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
    for (auto& kernel : in.grant_kernel) kernel = random() % kNumKernels;
    in.tick = random() % 100 == 0;
    ASSERT_EQ(counters.issued(), window);
    if (in.tick) window.fill(0);
    for (unsigned s = 0; s < kMaxSchedulers; ++s) {
      if (in.grant_valid >> s & 1) ++window[in.grant_kernel[s]];
    }
    counters.Tick(in);
  }
}

}  // namespace
}  // namespace smk
