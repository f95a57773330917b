// SPDX-License-Identifier: Apache-2.0
// The rules of WaterfillPlanner, one test each, and its plans against Algorithm 1 and a search.
#include <gtest/gtest.h>

#include "control/driver/waterfill_planner.h"
#include "waterfill_planner/oracle.h"

namespace smk {
namespace {

using oracle::Curve;
using oracle::Curves;
using oracle::TbCounts;

constexpr ResourceVector kLimits{256, 384, 64, 32};
// A tenth of an SM in registers.
constexpr ResourceVector kTenth{25, 0, 1, 1};

// One planner with its kernels, in slots 0, 1, ...
class Planned {
 public:
  explicit Planned(const Curves& curves, const ResourceVector& limits = kLimits)
      : curves_(curves), planner_({limits}) {
    std::vector<ResourceVector> needs;
    for (const Curve& curve : curves) needs.push_back(curve.need);
    kernels = oracle::Table(needs, limits);
    for (unsigned k = 0; k < curves.size(); ++k) {
      const auto& performance = curves[k].performance;
      for (unsigned i = 0; i < performance.size(); ++i) Sample(k, i + 1, performance[i]);
    }
  }
  void Sample(unsigned kernel, unsigned tbs, unsigned performance) {
    WaterfillPlanner::Inputs in;
    in.sample_valid = true;
    in.sample_kernel = static_cast<std::uint8_t>(kernel);
    in.sample_tbs = static_cast<std::uint8_t>(tbs);
    in.sample_performance = static_cast<std::uint16_t>(performance);
    Tick(in);
  }
  void Tick(WaterfillPlanner::Inputs in) {
    in.kernel_table = &kernels;
    planner_.Tick(in);
  }
  // Plans to the end, for all of the kernels if not for those of `mask`; the cycles until done.
  unsigned Plan(KernelMask mask = 0, unsigned sm = 0) {
    WaterfillPlanner::Inputs in;
    in.loss_limit = loss_limit;
    in.start = true;
    in.kernels = mask != 0 ? mask : static_cast<KernelMask>((1u << curves_.size()) - 1);
    in.sm = static_cast<SmId>(sm);
    Tick(in);
    in.start = false;
    unsigned cycles = 1;
    for (; !state().done && cycles < 5000; ++cycles) Tick(in);
    return cycles;
  }
  TbCounts Tbs() const {
    TbCounts tbs;
    for (unsigned k = 0; k < curves_.size(); ++k) tbs.push_back(state().range[k].tb_count);
    return tbs;
  }
  const WaterfillPlanner::State& state() const { return planner_.state(); }

  KernelTable::State kernels;
  std::uint32_t loss_limit = WaterfillPlanner::kLossLimit;

 private:
  Curves curves_;
  WaterfillPlanner planner_;
};

// n samples that rise by `step`.
std::vector<unsigned> Rising(unsigned n, unsigned step) {
  std::vector<unsigned> performance;
  for (unsigned i = 1; i <= n; ++i) performance.push_back(step * i);
  return performance;
}

// IMG at 60 % and NN at 40 % of the resources each lose 10 %; an even split costs IMG 30 %.
TEST(WaterfillPlannerTest, Figure3bGivesSixtyAndFortyPercent) {
  const std::vector<unsigned> img{16, 30, 44, 57, 70, 90, 94, 97, 99, 100};
  const std::vector<unsigned> nn{30, 55, 75, 90, 100, 97, 93, 90, 86, 80};
  Planned plan({{kTenth, img}, {kTenth, nn}});
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{6, 4}));
  EXPECT_FALSE(plan.state().spatial());
  EXPECT_EQ(oracle::LowestLevel({{kTenth, img}, {kTenth, nn}}, {6, 4}, kLimits), 58982u) << "0.9";
  EXPECT_EQ(oracle::LowestLevel({{kTenth, img}, {kTenth, nn}}, {5, 5}, kLimits), 45875u) << "0.7";
}

// By hand: levels 1/4 and 1/2 first; kernel 0 rises to 1/2 and 3/4, kernel 1 to 1, and 0 to 1.
TEST(WaterfillPlannerTest, TheLowestLevelRisesFirst) {
  Planned plan({{kTenth, {10, 20, 30, 40}}, {kTenth, {7, 14}}});
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{4, 2}));
  // Where only four TBs fit, kernel 0 has risen twice: 1/4 to 1/2, and at the tie to 3/4.
  Planned tight({{{64, 0, 1, 1}, {10, 20, 30, 40}}, {{64, 0, 1, 1}, {7, 14}}});
  tight.Plan();
  EXPECT_EQ(tight.Tbs(), (TbCounts{3, 1}));
}

TEST(WaterfillPlannerTest, TiesGoToTheLowestId) {
  const std::vector<unsigned> performance = Rising(5, 100);
  const ResourceVector fifth{51, 0, 1, 1};
  Planned plan({{fifth, performance}, {fifth, performance}, {fifth, performance}});
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{2, 2, 1}));
  plan.Plan(0b110);
  EXPECT_EQ(plan.Tbs(), (TbCounts{0, 3, 2}));
  // 1/3 of 3 and of 30,000 are the same level.
  Planned scaled({{fifth, Rising(5, 9000)}, {fifth, Rising(5, 1)}});
  scaled.Plan();
  EXPECT_EQ(scaled.Tbs(), (TbCounts{3, 2}));
}

// Counts that make nothing better are stepped over in one: kernel 0 goes from 1 to 4.
TEST(WaterfillPlannerTest, StepsOverCountsThatAreNoBetter) {
  Planned plan({{kTenth, {40, 40, 35, 60, 100, 100, 90, 100, 20, 10}}, {kTenth, Rising(10, 10)}});
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{4, 6}));
  // The step from 1 to 4 is three TBs: where two are left it is none.
  Planned tight({{{64, 0, 1, 1}, {40, 40, 35, 60}}, {{32, 0, 1, 1}, {10, 20, 30, 31, 90, 91}}});
  tight.Plan();
  EXPECT_EQ(tight.Tbs(), (TbCounts{1, 6})) << "the other goes on";
}

TEST(WaterfillPlannerTest, AKernelAtItsBestGetsNoMore) {
  Planned plan({{kTenth, {70, 100, 90, 80}}, {kTenth, {9, 9, 9}}});
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{2, 1}));
  EXPECT_EQ(plan.state().level[0], WaterfillPlanner::kBest);
}

// Samples beyond what an SM holds count neither as the best nor as steps.
TEST(WaterfillPlannerTest, SamplesThatNoSmHoldsAreNotLookedAt) {
  Planned plan({{{100, 0, 1, 1}, {50, 60, 1000, 2000}}, {{1, 0, 1, 1}, {1}}});
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{2, 1}));
  EXPECT_EQ(plan.state().peak[0], 60);
}

TEST(WaterfillPlannerTest, EveryResourceLimits) {
  const std::vector<unsigned> performance = Rising(32, 100);
  const ResourceVector needs[] = {{64, 0, 1, 1}, {0, 96, 1, 1}, {0, 0, 16, 1}, {0, 0, 1, 1}};
  const unsigned most[] = {4, 4, 4, 32};
  for (unsigned i = 0; i < 4; ++i) {
    Planned alone({{needs[i], performance}});
    alone.Plan();
    EXPECT_EQ(alone.Tbs(), TbCounts{most[i]});
    Planned both({{needs[i], performance}, {needs[i], performance}});
    both.Plan();
    EXPECT_EQ(both.Tbs(), (TbCounts{most[i] / 2, most[i] / 2}));
  }
}

TEST(WaterfillPlannerTest, AKernelWhoseTbFitsNoSmGetsNone) {
  Planned plan({{kTenth, Rising(10, 10)}, {{300, 0, 1, 1}, {500, 600}}, {kTenth, Rising(10, 10)}});
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{5, 0, 5}));
  EXPECT_TRUE(plan.state().spatial()) << "it loses all";
  EXPECT_FALSE(plan.state().anywhere);
  plan.Plan(0b010);
  EXPECT_EQ(plan.Tbs(), (TbCounts{0, 0, 0}));
}

// [D4]: of three kernels of which two fit, each is left out on a third of the SMs.
TEST(WaterfillPlannerTest, KernelsThatDoNotFitTogetherTakeTurns) {
  const Curve half{{128, 0, 4, 1}, {5, 9}};
  Planned plan({half, half, half, half});
  TbCounts sum(4, 0);
  for (unsigned sm = 0; sm < 12; ++sm) {
    plan.Plan(0b1101, sm);
    EXPECT_FALSE(plan.state().anywhere);
    EXPECT_TRUE(plan.state().spatial());
    for (unsigned k = 0; k < 4; ++k) sum[k] += plan.Tbs()[k];
  }
  EXPECT_EQ(sum, (TbCounts{8, 0, 8, 8}));
  plan.Plan(0b0101, 1);
  EXPECT_TRUE(plan.state().anywhere);
}

TEST(WaterfillPlannerTest, AKernelWithoutASampleAboveZeroGetsOneTb) {
  Planned plan({{kTenth, {0, 0, 0, 0}}, {kTenth, {0, 0, 5, 9}}});
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{1, 4}));
  EXPECT_FALSE(plan.state().spatial());
}

// [D30]: 1 - 1.2 / K is 0.4, 0.6, 0.7. The second kernel keeps exactly this, or just less.
TEST(WaterfillPlannerTest, SpatialWhenAKernelLosesMoreThanTheLimit) {
  const unsigned keeps[] = {4, 6, 7};
  const ResourceVector most{100, 0, 1, 1};
  for (unsigned n = 2; n <= 4; ++n) {
    for (unsigned less = 0; less < 2; ++less) {
      Curves curves(n, {{1, 0, 1, 1}, {1}});
      curves[1] = {most, {keeps[n - 2] * 1000 - less, 10000}};
      // Leaves room for one TB of the second.
      curves[0] = {{100, 0, 1, 1}, {1}};
      Planned plan(curves);
      plan.Plan();
      EXPECT_EQ(plan.Tbs()[1], 1u);
      EXPECT_EQ(plan.state().spatial(), less == 1) << n << " kernels";
      plan.loss_limit = 4 * 65536;
      plan.Plan();
      EXPECT_FALSE(plan.state().spatial()) << "no limit";
    }
  }
}

TEST(WaterfillPlannerTest, OneKernelIsNeverSpatial) {
  Planned plan({{kTenth, {1, 2, 3, 400, 5, 6, 7, 8, 9, 10}}});
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), TbCounts{4});
  EXPECT_FALSE(plan.state().spatial());
}

TEST(WaterfillPlannerTest, RangesFollowTheOrderOfArrival) {
  Planned plan({{{32, 48, 4, 1}, Rising(2, 10)}, {{16, 24, 2, 1}, Rising(3, 10)}});
  plan.kernels.slot[0].order = 1;
  plan.kernels.slot[1].order = 0;
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{2, 3}));
  const PartitionRange& first = plan.state().range[1];
  const PartitionRange& second = plan.state().range[0];
  EXPECT_EQ(first.registers_base, 0);
  EXPECT_EQ(first.registers_limit, 48);
  EXPECT_EQ(second.registers_base, 48);
  EXPECT_EQ(second.registers_limit, 112);
  EXPECT_EQ(second.shared_memory_base, 72);
  EXPECT_EQ(second.shared_memory_limit, 168);
  EXPECT_EQ(second.threads_base, 6);
  EXPECT_EQ(second.threads_limit, 14);
  EXPECT_EQ(second.tb_base, 3);
}

TEST(WaterfillPlannerTest, PlanHoldsUntilTheNextStartAndStartBeginsAnew) {
  Planned plan({{kTenth, Rising(10, 10)}, {kTenth, Rising(10, 10)}});
  const unsigned cycles = plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{5, 5}));
  plan.Tick({});
  EXPECT_FALSE(plan.state().done) << "a pulse";
  for (int i = 0; i < 20; ++i) plan.Tick({});
  EXPECT_EQ(plan.Tbs(), (TbCounts{5, 5}));
  // In the middle of another one, at every cycle of it.
  for (unsigned after = 1; after < cycles; ++after) {
    WaterfillPlanner::Inputs in;
    in.start = true;
    in.kernels = 0b01;
    plan.Tick(in);
    EXPECT_EQ(plan.Tbs(), (TbCounts{0, 0}));
    for (unsigned i = 1; i < after; ++i) plan.Tick({});
    ASSERT_EQ(plan.Plan(), cycles);
    ASSERT_EQ(plan.Tbs(), (TbCounts{5, 5})) << after;
  }
}

TEST(WaterfillPlannerTest, ASampleIsWrittenAtAnyTime) {
  Planned plan({{kTenth, Rising(10, 10)}, {kTenth, Rising(10, 10)}});
  plan.Plan();
  plan.Sample(0, 3, 1000);
  EXPECT_EQ(plan.Tbs(), (TbCounts{5, 5}));
  plan.Plan();
  EXPECT_EQ(plan.Tbs(), (TbCounts{3, 7}));
}

Curve RandomCurve(std::mt19937* random, bool monotone, const ResourceVector& limits) {
  Curve curve{oracle::RandomNeed(random, limits), {}};
  const unsigned most = 1u << (4 + oracle::Pick(random, 13)), steps = 1 + oracle::Pick(random, 9);
  unsigned last = oracle::Pick(random, most);
  for (unsigned i = 0; i < limits.tbs; ++i) {
    if (!monotone) last = oracle::Pick(random, most);
    if (monotone && oracle::Pick(random, 10) < steps) last += oracle::Pick(random, most / 4);
    last = std::min(last, 65535u);
    curve.performance.push_back(last);
  }
  return curve;
}

// What random plans showed.
struct Found {
  unsigned plans = 0;
  unsigned below_best = 0;  // plans below the best of all tables
  unsigned largest_gap = 0;
  unsigned spatial = 0;
};

// `plans` random sets of two to four kernels of which one TB each fits: each plan against Algorithm
// 1 and against all tables.
Found RunRandom(bool monotone, unsigned plans) {
  std::mt19937 random(oracle::Seed());
  const ResourceVector limits[] = {kLimits, {128, 192, 48, 8}};
  Found found;
  while (found.plans < plans) {
    const ResourceVector& sm = limits[oracle::Pick(&random, 2)];
    Curves curves(2 + oracle::Pick(&random, 3));
    for (Curve& curve : curves) curve = RandomCurve(&random, monotone, sm);
    if (oracle::Pick(&random, 4) == 0) curves[0] = curves[1];
    if (!oracle::AllFit(curves, TbCounts(curves.size(), 1), sm)) continue;
    ++found.plans;
    Planned plan(curves, sm);
    plan.Plan();
    const TbCounts tbs = plan.Tbs();
    EXPECT_EQ(tbs, oracle::WaterFill(curves, sm, 0)) << "plan " << found.plans;
    EXPECT_TRUE(oracle::AllFit(curves, tbs, sm));
    const unsigned level = oracle::LowestLevel(curves, tbs, sm);
    EXPECT_EQ(plan.state().lowest, level);
    EXPECT_EQ(plan.state().spatial(),
              (65535 - level) * curves.size() > WaterfillPlanner::kLossLimit);
    found.spatial += plan.state().spatial() ? 1 : 0;
    const unsigned gap = oracle::BestOfAllTables(curves, sm) - level;
    found.below_best += gap != 0 ? 1 : 0;
    found.largest_gap = std::max(found.largest_gap, gap);
    if (testing::Test::HasFailure()) break;
  }
  return found;
}

void Print(const char* curves, const Found& found) {
  std::printf("%u plans, %s curves: %u below the best of all tables, by %.5f at most; %u spatial\n",
              found.plans, curves, found.below_best, found.largest_gap / 65536.0, found.spatial);
}

TEST(WaterfillPlannerTest, EqualsTheBestOfAllTablesOnMonotoneCurves) {
  SCOPED_TRACE(testing::Message() << "seed " << oracle::Seed());
  const Found found = RunRandom(true, 10'000);
  Print("monotone", found);
  EXPECT_EQ(found.plans, 10'000u);
  EXPECT_EQ(found.below_best, 0u);
}

// Q leaves out counts that are no better than a lower one, so that any curve is as good as
// monotone.
TEST(WaterfillPlannerTest, EqualsTheBestOfAllTablesOnAnyCurves) {
  SCOPED_TRACE(testing::Message() << "seed " << oracle::Seed());
  const Found found = RunRandom(false, 10'000);
  Print("other", found);
  EXPECT_EQ(found.plans, 10'000u);
  EXPECT_EQ(found.below_best, 0u);
}

// Kernels of which not one TB each fits: the first TBs go round from the SM's turn on [D4].
TEST(WaterfillPlannerTest, EqualsAlgorithm1WhenNotOneTbOfEachFits) {
  SCOPED_TRACE(testing::Message() << "seed " << oracle::Seed());
  std::mt19937 random(oracle::Seed());
  for (unsigned plans = 0; plans < 1000;) {
    Curves curves(2 + oracle::Pick(&random, 3));
    for (Curve& curve : curves) curve = RandomCurve(&random, true, kLimits);
    curves[0].need.registers = static_cast<std::uint16_t>(100 + oracle::Pick(&random, 200));
    if (oracle::AllFit(curves, TbCounts(curves.size(), 1), kLimits)) continue;
    ++plans;
    const unsigned sm = oracle::Pick(&random, 16);
    Planned plan(curves);
    plan.Plan(0, sm);
    ASSERT_EQ(plan.Tbs(), oracle::WaterFill(curves, kLimits, sm % curves.size())) << plans;
    ASSERT_FALSE(plan.state().anywhere);
    ASSERT_TRUE(plan.state().spatial());
  }
}

}  // namespace
}  // namespace smk
