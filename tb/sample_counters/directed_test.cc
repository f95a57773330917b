// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "control/sm/sample_counters.h"

namespace smk {
namespace {

using Inputs = SampleCounters::Inputs;

// A cycle in a window that samples `kernel`.
Inputs Window(unsigned kernel, unsigned valid, std::array<std::uint8_t, 4> kernels,
              unsigned memory = 0) {
  Inputs in;
  in.window = true;
  in.kernel = static_cast<std::uint8_t>(kernel);
  in.grant_valid = static_cast<std::uint8_t>(valid);
  in.grant_kernel = kernels;
  in.memory = static_cast<std::uint8_t>(memory);
  return in;
}

void Settle(SampleCounters* counters) {
  counters->Tick({});
  counters->Tick({});
}

TEST(SampleCountersTest, CountsTheGrantsOfTheSampledKernel) {
  SampleCounters counters;
  counters.Tick(Window(2, 0b1011, {2, 0, 2, 2}));
  EXPECT_EQ(counters.state().issued, 0) << "not yet";
  counters.Tick(Window(2, 0b0100, {2, 0, 2, 2}));
  EXPECT_EQ(counters.state().issued, 2);
  Settle(&counters);
  EXPECT_EQ(counters.state().issued, 3);
  EXPECT_EQ(counters.state().stalled, 0);
}

// [D32]: a scheduler that grants anybody does not stall.
TEST(SampleCountersTest, AStallIsNoGrantAndAWarpThatWaitsForMemory) {
  SampleCounters counters;
  counters.Tick(Window(1, 0b0011, {1, 0, 0, 0}, 0b0111));
  Settle(&counters);
  EXPECT_EQ(counters.state().issued, 1);
  EXPECT_EQ(counters.state().stalled, 1)
      << "scheduler 2; 0 and 1 grant, 3 waits for something else";
}

TEST(SampleCountersTest, AWindowLastsAsLongAsItsLevel) {
  SampleCounters counters;
  Inputs outside = Window(0, 0b1111, {}, 0b1111);
  outside.window = false;
  counters.Tick(outside);
  for (int i = 0; i < 5; ++i) counters.Tick(Window(0, 0b0001, {}, 0b0010));
  for (int i = 0; i < 9; ++i) counters.Tick(outside);
  EXPECT_EQ(counters.state().issued, 5) << "holds";
  EXPECT_EQ(counters.state().stalled, 5);
  counters.Tick(Window(0, 0b0001, {}));
  Settle(&counters);
  EXPECT_EQ(counters.state().issued, 1) << "the next begins with zero";
  EXPECT_EQ(counters.state().stalled, 0);
}

// 8 cycles of four schedulers: 32. Six instructions; memory keeps scheduler 3 for 8 cycles and
// scheduler 2 for 4: phi = 12 / 32.
TEST(SampleCountersTest, PhiOfAWindowWorkedByHand) {
  SampleCounters counters;
  for (unsigned cycle = 0; cycle < 8; ++cycle) {
    counters.Tick(Window(3, cycle < 6 ? 0b0001 : 0, {3, 3, 3, 3}, cycle < 4 ? 0b1100 : 0b1000));
  }
  Settle(&counters);
  EXPECT_EQ(counters.state().issued, 6);
  EXPECT_EQ(counters.state().stalled, 12);
}

TEST(SampleCountersTest, SaturatesAndDoesNotWrap) {
  SampleCounters counters;
  for (unsigned i = 0; i < 20'000; ++i) counters.Tick(Window(0, 0b1111, {}));
  EXPECT_EQ(counters.state().issued, SampleCounters::kFull);
  SampleCounters odd;
  odd.Tick(Window(0, 0b0111, {}));
  for (unsigned i = 0; i < 20'000; ++i) odd.Tick(Window(0, 0b1111, {}));
  EXPECT_EQ(odd.state().issued, SampleCounters::kFull + 3);
}

TEST(SampleCountersTest, RandomWindowsAddUp) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  SampleCounters counters;
  for (int n = 0; n < 500; ++n) {
    unsigned issued = 0, stalled = 0;
    const unsigned kernel = random() % kNumKernels, cycles = 1 + random() % 60;
    for (unsigned i = 0; i < cycles; ++i) {
      std::array<std::uint8_t, 4> kernels{};
      for (auto& k : kernels) k = static_cast<std::uint8_t>(random() % kNumKernels);
      const unsigned valid = random() % 16, memory = random() % 16;
      for (unsigned s = 0; s < 4; ++s) issued += (valid >> s & 1) != 0 && kernels[s] == kernel;
      stalled += static_cast<unsigned>(__builtin_popcount(memory & ~valid));
      counters.Tick(Window(kernel, valid, kernels, memory));
    }
    Settle(&counters);
    ASSERT_EQ(counters.state().issued, issued);
    ASSERT_EQ(counters.state().stalled, stalled);
  }
}

}  // namespace
}  // namespace smk
