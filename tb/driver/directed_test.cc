// SPDX-License-Identifier: Apache-2.0
// The wiring of the driver: kernels run to their end among SMs that act at any time, and a cycle in
// which the driver says it is asleep can be left out.
#include <gtest/gtest.h>

#include <algorithm>

#include "control/driver/driver.h"
#include "driver/traffic.h"

namespace smk {
namespace {

struct Case {
  const char* name;
  DispatchMode dispatch;
  std::uint8_t kernels_per_sm = kNumKernels;
  bool quota = false;
  std::uint8_t latency_scale = 1;
  bool strict = false;
};

// Four small SMs.
class Traffic : public DriverTraffic<Driver> {
 public:
  Traffic(const Case& c, unsigned seed, bool lazy)
      : DriverTraffic<Driver>(Config(), Policy(c), {}, seed) {
    bench().lazy = lazy;
  }

  static ControlConfig Config() {
    ControlConfig config;
    config.num_sms = 4;
    config.limits = {64, 96, 16, 8};
    config.preempted_depth = 20;
    return config;
  }
  static PolicyConfig Policy(const Case& c) {
    PolicyConfig policy;
    policy.dispatch = c.dispatch;
    policy.kernels_per_sm = c.kernels_per_sm;
    policy.quota_enable = c.quota;
    policy.latency_scale = c.latency_scale;
    policy.leftover_strict = c.strict;
    policy.table = {1, 2, 1, 3};
    policy.epoch_length = 1000;
    return policy;
  }
};

class DriverTest : public testing::TestWithParam<Case> {};

TEST_P(DriverTest, EveryKernelEndsAndNoTbIsLost) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (unsigned run = 0; run < 10; ++run) {
    Traffic traffic(GetParam(), seed + run, false);
    unsigned cycles = 0;
    while (traffic.Cycle()) {
      ASSERT_LT(++cycles, 200000u) << "run " << run << ": kernels wait for ever";
    }
    for (unsigned k = 0; k < kNumKernels; ++k) {
      EXPECT_EQ(traffic.bench().done(k), traffic.launches(k));
      EXPECT_EQ(traffic.bench().driver().preempted_queue().buffers_free(k),
                Traffic::Config().preempted_depth);
      EXPECT_EQ(traffic.bench().driver().drf_tracker().state().share[k], 0);
    }
    if (HasFailure()) FAIL() << "run " << run;
  }
}

// The idle property: leaving out the cycles in which the driver sleeps changes no decision.
TEST_P(DriverTest, SkippedIdleCyclesChangeNothing) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Traffic all(GetParam(), seed, false), awake(GetParam(), seed, true);
  for (unsigned cycle = 0; cycle < 20000; ++cycle) {
    const bool more = all.Cycle();
    ASSERT_EQ(awake.Cycle(), more) << "cycle " << cycle;
    ASSERT_EQ(all.bench().driver().awake(), awake.bench().driver().awake()) << "cycle " << cycle;
    ASSERT_EQ(all.bench().log().size(), awake.bench().log().size()) << "cycle " << cycle;
    if (!more) break;
  }
  for (std::size_t i = 0; i < all.bench().log().size(); ++i) {
    const Decision &a = all.bench().log()[i], &b = awake.bench().log()[i];
    ASSERT_EQ(a.cycle, b.cycle);
    ASSERT_EQ(a.reason, b.reason);
    ASSERT_EQ(a.kernel, b.kernel);
    ASSERT_EQ(a.sm, b.sm);
    ASSERT_EQ(a.share, b.share);
  }
}

TEST_P(DriverTest, QuotasOfAnSmAreAtMostTheEpoch) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Traffic traffic(GetParam(), seed, false);
  unsigned sent = 0;
  for (unsigned cycle = 0; cycle < 20000 && traffic.Cycle(); ++cycle) {
    const auto& quotas = traffic.bench().driver().quota_calculator().state();
    if (quotas.step != QuotaCalculator::Step::kSend) continue;
    unsigned sum = 0;
    for (unsigned k = 0; k < kNumKernels; ++k) sum += quotas.quota[k];
    ASSERT_LE(sum, Traffic::Policy(GetParam()).epoch_length);
    ++sent;
  }
  if (!GetParam().quota) {
    EXPECT_EQ(sent, 0u);
  }
}

// A kernel's place expires, and its SMs go to others, while nobody has a TB to dispatch: nothing
// else keeps the driver awake in the cycle in which a walk over the SMs says what has changed.
TEST(DriverAwake, WhileSmsAreGivenToOthers) {
  ControlConfig config = Traffic::Config();
  config.num_sms = 2;
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kOnDemand;
  policy.epoch_length = 1000;
  unsigned after_a_walk = 0;
  for (unsigned scenario = 0; scenario < 2 * 4 * 24; ++scenario) {
    policy.kernels_per_sm = static_cast<std::uint8_t>(1 + scenario % 2);
    const unsigned ends = scenario / 2 % 4;
    std::array<unsigned, 4> order = {0, 1, 2, 3};
    for (unsigned i = 0; i < scenario / 8; ++i) std::next_permutation(order.begin(), order.end());
    DriverBenchOf<Driver> bench(config, policy);
    const auto cycle = [&](bool tick) {
      HostInputs host;
      host.tick = tick;
      bench.Cycle(host);
      for (unsigned sm = 0; sm < config.num_sms; ++sm) {
        if (bench.CanSettle(sm)) bench.Settle(sm);
      }
      const SmAssign::State& assign = bench.driver().sm_assign().state();
      if (!assign.changed.Any()) return;
      after_a_walk += assign.busy ? 0 : 1;
      EXPECT_TRUE(bench.driver().awake()) << "scenario " << scenario;
    };
    for (const unsigned kernel : order) {
      bench.Launch(kernel, {2, 2, 2, 1}, 1);
      for (int i = 0; i < 60; ++i) cycle(false);
    }
    for (unsigned sm = 0; sm < config.num_sms; ++sm) {
      if (bench.Resident(ends, sm) == 0) continue;
      unsigned index = 0;
      while (bench.sm(sm).tbs[index].kernel != ends) ++index;
      bench.Finish(sm, index);
    }
    for (int i = 0; i < 300; ++i) cycle(i % 40 == 39);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(after_a_walk, 100u);
}

// One SM of 8 TBs; those that a plan makes leave are gone at once.
struct TableBench : DriverBenchOf<Driver> {
  explicit TableBench(const PolicyConfig& policy) : DriverBenchOf<Driver>(OneSm(), policy) {}
  static ControlConfig OneSm() {
    ControlConfig config = Traffic::Config();
    config.num_sms = 1;
    return config;
  }
  void LeaveOne() {
    const auto& tbs = sm(0).tbs;
    const auto leaver =
        std::find_if(tbs.begin(), tbs.end(), [](const BenchTb& tb) { return tb.leaving; });
    if (leaver == tbs.end()) return CanSettle(0) ? Settle(0) : void();
    const auto index = static_cast<unsigned>(leaver - tbs.begin());
    const auto buffer = AskForBuffer(0, leaver->kernel);
    ASSERT_TRUE(buffer.has_value());
    Leave(0, index, *buffer, true);
  }
  void Run(int ticks) {
    for (int i = 0; i < ticks * 100 + 300; ++i) {
      HostInputs host;
      host.tick = i < ticks * 100 && i % 100 == 99;
      Cycle(host);
      LeaveOne();
    }
  }
  void FinishAll(unsigned kernel) {
    for (unsigned i = 0; Resident(kernel, 0) != 0;) {
      if (sm(0).tbs[i].kernel == kernel) {
        Finish(0, i);
      } else {
        ++i;
      }
    }
  }
};

TEST(DriverTable, WhoIsLeftOfATableHasTheWholeSm) {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kTable;
  policy.table = {2, 3, 2, 0};
  TableBench bench(policy);
  bench.Launch(0, {4, 4, 1, 1}, 10'000);
  bench.Run(8);
  EXPECT_EQ(bench.Resident(0, 0), 2u) << "alone from the start, it is held to its entry";
  bench.Launch(1, {4, 4, 1, 1}, 3);
  bench.Launch(2, {4, 4, 1, 1}, 4);
  bench.Run(0);
  EXPECT_EQ(bench.Resident(0, 0), 2u);
  EXPECT_EQ(bench.Resident(1, 0), 3u);
  EXPECT_EQ(bench.Resident(2, 0), 2u);
  bench.FinishAll(1);
  bench.Run(1);
  EXPECT_EQ(bench.Resident(0, 0), 2u) << "the place of the other is kept for some ticks";
  bench.Run(4);
  EXPECT_EQ(bench.Resident(0, 0), 4u) << "half of it";
  EXPECT_EQ(bench.Resident(2, 0), 4u);
  bench.FinishAll(2);
  bench.Run(4);
  EXPECT_EQ(bench.Resident(0, 0), 8u) << "all of it";
}

INSTANTIATE_TEST_SUITE_P(
    Modes, DriverTest,
    testing::Values(Case{"OnDemand", DispatchMode::kOnDemand},
                    Case{"OnDemandSlow", DispatchMode::kOnDemand, 4, false, 3},
                    Case{"OnDemandTwoPerSm", DispatchMode::kOnDemand, 2},
                    Case{"Partitioned", DispatchMode::kPartitioned},
                    Case{"PartitionedQuota", DispatchMode::kPartitioned, 4, true},
                    Case{"TwoPerSmQuotaSlow", DispatchMode::kPartitioned, 2, true, 4},
                    Case{"LeftOver", DispatchMode::kLeftover},
                    Case{"LeftOverStrict", DispatchMode::kLeftover, 4, false, 1, true},
                    Case{"LeftOverStrictTwoPerSm", DispatchMode::kLeftover, 2, false, 3, true},
                    Case{"Even", DispatchMode::kEven}, Case{"Table", DispatchMode::kTable},
                    Case{"Spatial", DispatchMode::kSpatial}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace smk
