// SPDX-License-Identifier: Apache-2.0
// TBs one per cycle, in a driver among SMs that do what the test says.
#include <gtest/gtest.h>

#include "driver/bench.h"

namespace smk {
namespace {

PolicyConfig PolicyOf(DispatchMode dispatch, bool stream = true) {
  PolicyConfig policy;
  policy.dispatch = dispatch;
  policy.stream = stream;
  policy.table = {6, 6, 6, 6};
  return policy;
}

// A driver whose SMs give a credit back some cycles after each command.
class Bench : public DriverBench {
 public:
  explicit Bench(const PolicyConfig& policy, unsigned placing = 8)
      : DriverBench(ControlConfig{}, policy), placing_(placing) {}
  void Step() {
    for (unsigned i = 0; i < 16; ++i) {
      since_[i] = sm(i).owes ? since_[i] + 1 : 0;
      sm(i).ready = since_[i] >= placing_;
    }
    Cycle();
  }
  unsigned Resident(unsigned kernel) const {
    unsigned n = 0;
    for (unsigned i = 0; i < 16; ++i) n += DriverBench::Resident(kernel, i);
    return n;
  }
  // Cycles until so many TBs of the kernel are on the SMs.
  unsigned CyclesUntil(unsigned kernel, unsigned tbs) {
    for (unsigned cycle = 0; cycle < 5000; ++cycle) {
      if (Resident(kernel) >= tbs) return cycle;
      Step();
      for (unsigned i = 0; i < 16; ++i) {
        if (CanSettle(i)) Settle(i);
      }
    }
    return ~0u;
  }

 private:
  unsigned placing_;
  std::array<unsigned, 16> since_{};
};

constexpr ResourceVector kSmall{16, 0, 4, 1};

TEST(TbStreamTest, TheFirstWaveIsOutInAsManyCyclesAsTbsAndThirty) {
  Bench bench(PolicyOf(DispatchMode::kLeftover));
  bench.Launch(0, kSmall, 192);
  EXPECT_LE(bench.CyclesUntil(0, 192), 192u + 30);
  Bench spatial(PolicyOf(DispatchMode::kSpatial));
  spatial.Launch(2, kSmall, 192);
  EXPECT_LE(spatial.CyclesUntil(2, 192), 192u + 30);
}

TEST(TbStreamTest, OneAtATimeItTakesSevenTimesAsLong) {
  Bench bench(PolicyOf(DispatchMode::kLeftover, false));
  bench.Launch(0, kSmall, 192);
  EXPECT_GE(bench.CyclesUntil(0, 192), 6u * 192);
}

TEST(TbStreamTest, InSteadyStateOneTbPerCycle) {
  Bench bench(PolicyOf(DispatchMode::kLeftover));
  bench.Launch(0, kSmall, 100'000);
  bench.CyclesUntil(0, 256);
  const unsigned before = bench.fresh(0);
  for (unsigned cycle = 0; cycle < 1000; ++cycle) {
    // As many finish: one on every SM in turn.
    const unsigned sm = cycle % 16;
    if (!bench.sm(sm).tbs.empty()) bench.Finish(sm, 0);
    bench.Step();
  }
  EXPECT_GE(bench.fresh(0) - before, 950u);
}

TEST(TbStreamTest, PartitionsThatArePlannedAreFilledOnePerCycle) {
  for (const DispatchMode mode :
       {DispatchMode::kPartitioned, DispatchMode::kEven, DispatchMode::kTable}) {
    Bench bench(PolicyOf(mode));
    bench.Launch(1, kSmall, 1);
    bench.CyclesUntil(1, 1);  // the partitions of all SMs follow
    for (unsigned cycle = 0; cycle < 3000; ++cycle) {
      bench.Step();
      for (unsigned i = 0; i < 16; ++i) {
        if (bench.CanSettle(i)) bench.Settle(i);
      }
    }
    for (unsigned i = 0; i < 16; ++i) {
      while (!bench.sm(i).tbs.empty()) bench.Finish(i, 0);
    }
    for (unsigned cycle = 0; cycle < 5; ++cycle) bench.Step();
    bench.Launch(1, kSmall, 80);  // in its old place, with its old need
    EXPECT_LE(bench.CyclesUntil(1, 80), 80u + 30) << static_cast<unsigned>(mode);
  }
}

// Flushes every TB that must leave, one per SM and turn.
void FlushAll(Bench* bench) {
  for (bool some = true; some;) {
    some = false;
    for (unsigned i = 0; i < 16; ++i) {
      const auto& tbs = bench->sm(i).tbs;
      for (unsigned t = 0; t < tbs.size(); ++t) {
        if (!tbs[t].leaving) continue;
        some = true;
        const auto buffer = bench->AskForBuffer(i, tbs[t].kernel);
        ASSERT_TRUE(buffer.has_value());
        bench->Leave(i, t, *buffer, true);
        break;
      }
      bench->Step();
    }
  }
  for (unsigned i = 0; i < 16; ++i) {
    if (bench->CanSettle(i)) bench->Settle(i);
  }
}

// A kernel that has lost half of its SMs, and many TBs with them, keeps nobody waiting.
TEST(TbStreamTest, PreemptedTbsComeBackOnePerCycleBeforeNewOnes) {
  PolicyConfig policy = PolicyOf(DispatchMode::kSpatial);
  policy.preempt = PreemptMode::kFlush;
  Bench bench(policy, 2);  // eight SMs take a TB per cycle
  bench.Launch(0, kSmall, 1000);
  bench.CyclesUntil(0, 256);
  const unsigned fresh = bench.fresh(0);
  bench.Launch(1, kSmall, 1000);
  for (unsigned cycle = 0; cycle < 200; ++cycle) bench.Step();
  FlushAll(&bench);
  EXPECT_LE(bench.CyclesUntil(1, 128), 128u + 30);
  EXPECT_EQ(bench.Resident(0), 128u);
  ASSERT_EQ(bench.driver().preempted_queue().count(0), 128u);
  const unsigned mine = bench.sm(0).tbs[0].kernel == 0 ? 0 : 8;
  for (unsigned cycle = 0; cycle < 100; ++cycle) {
    bench.Finish(mine + cycle % 8, 0);
    bench.Step();
  }
  EXPECT_GE(bench.Resident(0), 128u - 10);
  EXPECT_LE(bench.driver().preempted_queue().count(0), 38u);
  EXPECT_EQ(bench.fresh(0), fresh) << "new ones wait until those have come back";
}

TEST(TbStreamTest, LeftoverServesTheOldestFirst) {
  Bench bench(PolicyOf(DispatchMode::kLeftover));
  bench.Launch(2, {64, 0, 16, 1}, 40);
  for (unsigned cycle = 0; cycle < 40; ++cycle) bench.Step();
  bench.Launch(1, kSmall, 1000);
  bench.CyclesUntil(1, 16);
  // 4 TBs of the older one fill an SM: 40 fit on 10 SMs, and the younger has none there.
  EXPECT_EQ(bench.Resident(2), 40u);
  for (unsigned i = 0; i < 16; ++i) {
    if (bench.DriverBench::Resident(2, i) != 4) continue;
    EXPECT_EQ(bench.DriverBench::Resident(1, i), 0u) << i;
  }
}

// Streaming or not, from the launch of the younger on.
TEST(TbStreamTest, StrictLeftoverWaitsForTheLastTbOfTheOlder) {
  for (const bool stream : {true, false}) {
    PolicyConfig policy = PolicyOf(DispatchMode::kLeftover, stream);
    policy.leftover_strict = true;
    Bench bench(policy);
    bench.Launch(2, {60, 0, 14, 1}, 80);  // 64 fit, and leave room for 128 of the other
    bench.Launch(1, {1, 0, 1, 1}, 1000);
    bench.CyclesUntil(2, 64);
    for (unsigned cycle = 0; cycle < 100; ++cycle) bench.Step();
    EXPECT_EQ(bench.Resident(1), 0u) << stream;
    for (unsigned i = 0; i < 16; ++i) {
      EXPECT_EQ(bench.Resident(1), 0u) << stream << " " << i;
      bench.Finish(i, 0);
      for (unsigned cycle = 0; cycle < 40; ++cycle) bench.Step();
    }
    ASSERT_EQ(bench.fresh(2), 80u) << stream;
    EXPECT_NE(bench.CyclesUntil(1, 100), ~0u) << stream;
  }
}

TEST(TbStreamTest, LeftoverThatIsNotStrictGivesTheYoungerItsRoomAtOnce) {
  Bench bench(PolicyOf(DispatchMode::kLeftover));
  bench.Launch(2, {100, 0, 16, 1}, 80);  // 32 fit, and 56 registers are left
  bench.Launch(1, {8, 0, 1, 1}, 1000);
  EXPECT_NE(bench.CyclesUntil(1, 16), ~0u);
  EXPECT_LT(bench.fresh(2), 80u);
}

TEST(TbStreamTest, ASliceOfTheOlderInItsPlaceGoesFirst) {
  PolicyConfig policy = PolicyOf(DispatchMode::kLeftover);
  policy.leftover_strict = true;
  Bench bench(policy);
  bench.Launch(2, kSmall, 16);
  bench.Launch(1, kSmall, 1000);
  bench.CyclesUntil(1, 240);
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned t = 0; bench.DriverBench::Resident(2, i) != 0; ++t) {
      if (bench.sm(i).tbs[t].kernel == 2) bench.Finish(i, t--);
    }
  }
  for (unsigned cycle = 0; cycle < 100; ++cycle) bench.Step();
  bench.Launch(2, kSmall, 100, 0, 16);  // the next slice of its grid
  const unsigned fresh = bench.fresh(1);
  for (unsigned n = 0; n < 40; ++n) {
    bench.Finish(n % 16, 0);
    for (unsigned cycle = 0; cycle < 20; ++cycle) bench.Step();
  }
  EXPECT_LE(bench.fresh(1), fresh + 1) << "but for one that was on its way";
  EXPECT_GE(bench.Resident(2), 39u);
}

// Its TBs were taken off SMs, and go first when they may come back.
TEST(TbStreamTest, StrictLeftoverWaitsForPreemptedTbsOfTheOlder) {
  PolicyConfig policy = PolicyOf(DispatchMode::kLeftover);
  policy.leftover_strict = true;
  policy.preempt = PreemptMode::kFlush;
  policy.kernels_per_sm = 1;
  Bench bench(policy, 2);
  bench.Launch(0, kSmall, 256);
  bench.CyclesUntil(0, 256);
  bench.Launch(1, kSmall, 1000);
  for (unsigned cycle = 0; cycle < 200; ++cycle) bench.Step();
  FlushAll(&bench);
  for (unsigned cycle = 0; cycle < 300; ++cycle) bench.Step();
  ASSERT_EQ(bench.fresh(0), 256u);
  ASSERT_EQ(bench.driver().preempted_queue().count(0), 128u);
  EXPECT_EQ(bench.Resident(1), 0u);
  for (unsigned n = 0, sm = 0; n < 128; ++n) {
    while (bench.sm(sm).tbs.empty()) sm = (sm + 1) % 16;
    EXPECT_EQ(bench.Resident(1), 0u);
    bench.Finish(sm, 0);
    sm = (sm + 1) % 16;
    for (unsigned cycle = 0; cycle < 20; ++cycle) bench.Step();
  }
  EXPECT_EQ(bench.driver().preempted_queue().count(0), 0u);
  EXPECT_NE(bench.CyclesUntil(1, 100), ~0u);
}

// One SM and two kernels of which it may host one: who has no SM keeps nobody waiting.
TEST(TbStreamTest, AnOlderKernelWithoutAnSmHoldsNobody) {
  PolicyConfig policy = PolicyOf(DispatchMode::kLeftover);
  policy.leftover_strict = true;
  policy.kernels_per_sm = 1;
  ControlConfig config;
  config.num_sms = 1;
  DriverBench bench(config, policy);
  bench.Launch(1, kSmall, 1000);
  bench.Launch(0, kSmall, 1000);
  for (unsigned cycle = 0; cycle < 200; ++cycle) bench.Cycle();
  while (!bench.sm(0).tbs.empty()) {
    bench.Finish(0, 0);
    for (unsigned cycle = 0; cycle < 20; ++cycle) bench.Cycle();
    if (bench.CanSettle(0)) bench.Settle(0);
    if (bench.Resident(0, 0) != 0) break;
  }
  EXPECT_NE(bench.Resident(0, 0), 0u);
}

TEST(TbStreamTest, ASlowDriverSendsOneTbInAsManyCycles) {
  PolicyConfig policy = PolicyOf(DispatchMode::kLeftover);
  policy.latency_scale = 5;
  Bench bench(policy);
  bench.Launch(0, kSmall, 100);
  const unsigned cycles = bench.CyclesUntil(0, 100);
  EXPECT_GE(cycles, 5u * 99);
  EXPECT_LE(cycles, 5u * 100 + 50);
}

TEST(TbStreamTest, OnDemandDoesNotStream) {
  Bench bench(PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, kSmall, 100);
  EXPECT_GE(bench.CyclesUntil(0, 100), 6u * 100);
}

}  // namespace
}  // namespace smk
