// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/oracle.h"
#include "control/driver/partition_planner.h"

namespace smk {
namespace {

constexpr ResourceVector kLimits{256, 384, 64, 32};

// The inputs, of these kernels.
PartitionPlanner::Inputs With(const KernelTable::State& kernels, PartitionPlanner::Inputs in = {}) {
  in.kernel_table = &kernels;
  return in;
}

PartitionPlanner::Inputs StartOf(KernelMask kernels, unsigned sm = 0) {
  PartitionPlanner::Inputs in;
  in.start = true;
  in.kernels = kernels;
  in.sm = static_cast<SmId>(sm);
  return in;
}

// Plans to the end; returns the cycles from the start to done.
unsigned PlanAll(PartitionPlanner* planner, PartitionPlanner::Inputs in,
                 const KernelTable::State& kernels) {
  planner->Tick(With(kernels, in));
  in.start = false;
  unsigned cycles = 1;
  for (; !planner->state().done; ++cycles) planner->Tick(With(kernels, in));
  return cycles;
}

std::array<unsigned, kNumKernels> Tbs(const PartitionPlanner& planner) {
  std::array<unsigned, kNumKernels> tbs{};
  for (unsigned k = 0; k < kNumKernels; ++k) tbs[k] = planner.state().part[k].tbs;
  return tbs;
}

TEST(PartitionPlannerTest, DoneTwoCyclesAfterTheTbsPlanned) {
  const KernelTable::State kernels = oracle::Table({{64, 0, 4, 1}, {32, 0, 4, 1}}, kLimits);
  PartitionPlanner planner({kLimits});
  const unsigned cycles = PlanAll(&planner, StartOf(0b0011), kernels);
  EXPECT_EQ(Tbs(planner), (std::array<unsigned, 4>{2, 4, 0, 0}));
  EXPECT_EQ(cycles, 2u + 4u + 2u);
  planner.Tick(With(kernels));
  EXPECT_FALSE(planner.state().done) << "a pulse";
}

TEST(PartitionPlannerTest, AddsOneTbPerCycleForTheKernelWithTheLowestShare) {
  const KernelTable::State kernels = oracle::Table({{80, 0, 4, 1}, {32, 0, 4, 1}}, kLimits);
  PartitionPlanner planner({kLimits});
  planner.Tick(With(kernels, StartOf(0b0011)));
  const std::array<unsigned, 2> want[] = {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 3}};
  for (const auto& tbs : want) {
    planner.Tick(With(kernels));
    EXPECT_EQ(Tbs(planner)[0], tbs[0]);
    EXPECT_EQ(Tbs(planner)[1], tbs[1]);
  }
}

TEST(PartitionPlannerTest, PlanAndRangesHoldUntilTheNextStart) {
  const KernelTable::State kernels = oracle::Table({{64, 0, 4, 1}, {32, 0, 4, 1}}, kLimits);
  PartitionPlanner planner({kLimits});
  PlanAll(&planner, StartOf(0b0011), kernels);
  for (int i = 0; i < 10; ++i) planner.Tick(With(kernels));
  EXPECT_EQ(planner.state().range[1].registers_base, 128);
  EXPECT_EQ(planner.state().range[1].registers_limit, 256);
  PlanAll(&planner, StartOf(0b0010), kernels);
  EXPECT_EQ(Tbs(planner), (std::array<unsigned, 4>{0, 8, 0, 0}));
}

TEST(PartitionPlannerTest, OneKernelGetsAllThatFits) {
  const ResourceVector needs[] = {{32, 0, 8, 1}, {0, 96, 1, 1}, {0, 0, 5, 1}, {1, 1, 1, 1}};
  const unsigned most[] = {8, 4, 12, 32};
  for (unsigned i = 0; i < 4; ++i) {
    PartitionPlanner planner({kLimits});
    PlanAll(&planner, StartOf(0b0001), oracle::Table({needs[i]}, kLimits));
    EXPECT_EQ(Tbs(planner)[0], most[i]);
  }
}

TEST(PartitionPlannerTest, ContinuesWithOthersWhenTheLowestNoLongerFits) {
  // The second kernel's TB is half an SM: after one of it only the first kernel fits.
  const KernelTable::State kernels = oracle::Table({{16, 0, 1, 1}, {160, 0, 1, 1}}, kLimits);
  PartitionPlanner planner({kLimits});
  PlanAll(&planner, StartOf(0b0011), kernels);
  EXPECT_EQ(Tbs(planner), (std::array<unsigned, 4>{6, 1, 0, 0}));
}

TEST(PartitionPlannerTest, TieGoesToTheKernelWithMoreTbs) {
  // Shares 1/4 and 1/8; at 1/4 each, kernel 1 has two TBs and goes on.
  const KernelTable::State kernels = oracle::Table({{64, 0, 4, 1}, {32, 0, 4, 1}}, kLimits);
  PartitionPlanner planner({kLimits});
  planner.Tick(With(kernels, StartOf(0b0011)));
  for (int i = 0; i < 4; ++i) planner.Tick(With(kernels));
  EXPECT_EQ(Tbs(planner), (std::array<unsigned, 4>{1, 3, 0, 0}));
}

TEST(PartitionPlannerTest, TieOfEqualKernelsGoesToTheLowestId) {
  const KernelTable::State kernels =
      oracle::Table({{64, 0, 4, 1}, {64, 0, 4, 1}, {64, 0, 4, 1}, {64, 0, 4, 1}}, kLimits);
  PartitionPlanner planner({kLimits});
  planner.Tick(With(kernels, StartOf(0b1010, 1)));
  planner.Tick(With(kernels));
  EXPECT_EQ(Tbs(planner), (std::array<unsigned, 4>{0, 1, 0, 0}));
}

// [D4]: three kernels of which only two fit; each is left out on a third of the SMs.
TEST(PartitionPlannerTest, KernelsThatDoNotFitTogetherTakeTurns) {
  const ResourceVector half{128, 0, 4, 1};
  for (KernelMask mask : {KernelMask{0b0011}, KernelMask{0b0111}, KernelMask{0b1101}}) {
    const auto n = static_cast<unsigned>(__builtin_popcount(mask));
    const ResourceVector need = n == 2 ? ResourceVector{160, 0, 4, 1} : half;
    const KernelTable::State kernels = oracle::Table({need, need, need, need}, kLimits);
    std::array<unsigned, kNumKernels> sum{};
    for (unsigned sm = 0; sm < 12; ++sm) {
      PartitionPlanner planner({kLimits});
      PlanAll(&planner, StartOf(mask, sm), kernels);
      for (unsigned k = 0; k < kNumKernels; ++k) sum[k] += Tbs(planner)[k];
    }
    for (unsigned k = 0; k < kNumKernels; ++k) {
      EXPECT_EQ(sum[k], (mask >> k & 1) == 0 ? 0u : n == 2 ? 6u : 8u) << "mask " << +mask;
    }
  }
}

TEST(PartitionPlannerTest, RangesFollowTheOrderOfArrival) {
  KernelTable::State kernels = oracle::Table({{32, 0, 4, 1}, {32, 48, 4, 1}}, kLimits);
  kernels.slot[0].order = 1;
  kernels.slot[1].order = 0;
  PartitionPlanner planner({kLimits});
  PlanAll(&planner, StartOf(0b0011), kernels);
  EXPECT_EQ(planner.state().range[1].registers_base, 0);
  EXPECT_EQ(planner.state().range[1].tb_base, 0);
  EXPECT_EQ(planner.state().range[0].registers_base, planner.state().range[1].registers_limit);
  EXPECT_EQ(planner.state().range[0].threads_base, planner.state().range[1].threads_limit);
  EXPECT_EQ(planner.state().range[0].tb_base, planner.state().range[1].tb_count);
}

TEST(PartitionPlannerTest, TheYoungestMayEndWithTheSm) {
  KernelTable::State kernels =
      oracle::Table({{32, 0, 4, 1}, {32, 48, 4, 1}, {8, 0, 2, 1}}, kLimits);
  kernels.slot[0].order = 1;
  kernels.slot[1].order = 0;
  kernels.slot[2].order = 2;
  PartitionPlanner planner({kLimits});
  PartitionPlanner::Inputs in = StartOf(0b0011);
  in.mode = DispatchMode::kTable;
  in.table = {2, 1, 9};
  in.last_at_end = true;
  PlanAll(&planner, in, kernels);
  const PartitionRange& r = planner.state().range[0];
  EXPECT_EQ(r.registers_base, kLimits.registers - 64);
  EXPECT_EQ(r.registers_limit, kLimits.registers);
  EXPECT_EQ(r.shared_memory_base, kLimits.shared_memory);
  EXPECT_EQ(r.shared_memory_limit, kLimits.shared_memory);
  EXPECT_EQ(r.threads_base, kLimits.threads - 8);
  EXPECT_EQ(r.threads_limit, kLimits.threads);
  EXPECT_EQ(r.tb_base, kLimits.tbs - 2);
  EXPECT_EQ(r.tb_count, 2);
  EXPECT_EQ(planner.state().range[1].registers_base, 0);
  EXPECT_EQ(planner.state().range[1].registers_limit, 32);
}

TEST(PartitionPlannerTest, EvenSplitGivesEachAtMostItsFraction) {
  const KernelTable::State kernels = oracle::Table({{16, 0, 2, 1}, {48, 0, 2, 1}}, kLimits);
  PartitionPlanner planner({kLimits});
  PartitionPlanner::Inputs in = StartOf(0b0011);
  in.mode = DispatchMode::kEven;
  PlanAll(&planner, in, kernels);
  EXPECT_EQ(Tbs(planner), (std::array<unsigned, 4>{8, 2, 0, 0}));
}

// [D4]: otherwise kernels with large TBs would wait for each other for ever.
TEST(PartitionPlannerTest, EvenSplitGivesOneTbThatIsLargerThanAFraction) {
  const KernelTable::State kernels = oracle::Table({{160, 0, 2, 1}, {16, 0, 2, 1}}, kLimits);
  PartitionPlanner planner({kLimits});
  PartitionPlanner::Inputs in = StartOf(0b0011);
  in.mode = DispatchMode::kEven;
  PlanAll(&planner, in, kernels);
  EXPECT_EQ(Tbs(planner), (std::array<unsigned, 4>{1, 6, 0, 0}));
}

TEST(PartitionPlannerTest, TableGivesTheCountsSet) {
  const KernelTable::State kernels = oracle::Table({{16, 0, 2, 1}, {48, 0, 2, 1}}, kLimits);
  PartitionPlanner planner({kLimits});
  PartitionPlanner::Inputs in = StartOf(0b0011);
  in.mode = DispatchMode::kTable;
  in.table = {3, 1, 9, 9};
  PlanAll(&planner, in, kernels);
  EXPECT_EQ(Tbs(planner), (std::array<unsigned, 4>{3, 1, 0, 0}));
}

// Every resource's ranges: in the limits, disjoint, exactly as wide as the TBs planned.
void CheckRanges(const PartitionPlanner::State& state, const KernelTable::State& kernels) {
  std::array<std::vector<int>, 4> owner;
  const unsigned limits[] = {kLimits.registers, kLimits.shared_memory, kLimits.threads,
                             kLimits.tbs};
  for (unsigned i = 0; i < 4; ++i) owner[i].assign(limits[i], -1);
  for (unsigned k = 0; k < kNumKernels; ++k) {
    if ((state.kernels >> k & 1) == 0) continue;
    const PartitionRange& r = state.range[k];
    const unsigned base[] = {r.registers_base, r.shared_memory_base, r.threads_base, r.tb_base};
    const unsigned end[] = {r.registers_limit, r.shared_memory_limit, r.threads_limit,
                            r.tb_base + 0u + r.tb_count};
    const ResourceVector want = oracle::Times(kernels.slot[k].need, state.part[k].tbs);
    const unsigned width[] = {want.registers, want.shared_memory, want.threads, want.tbs};
    for (unsigned i = 0; i < 4; ++i) {
      ASSERT_LE(base[i], end[i]);
      ASSERT_LE(end[i], limits[i]);
      ASSERT_EQ(end[i] - base[i], width[i]);
      for (unsigned unit = base[i]; unit < end[i]; ++unit) {
        ASSERT_EQ(owner[i][unit], -1) << "unit " << unit << " has two owners";
        owner[i][unit] = static_cast<int>(k);
      }
    }
  }
}

TEST(PartitionPlannerTest, EqualsFigure6AndRangesAreDisjointForRandomKernels) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  PartitionPlanner planner({kLimits});
  for (int round = 0; round < 3000; ++round) {
    std::vector<ResourceVector> needs;
    for (unsigned k = 0; k < kNumKernels; ++k)
      needs.push_back(oracle::RandomNeed(&random, kLimits));
    if (oracle::Pick(&random, 3) == 0) needs[0] = needs[2];
    KernelTable::State kernels = oracle::Table(needs, kLimits);
    for (auto& slot : kernels.slot) slot.order = static_cast<std::uint8_t>(3 - slot.order);
    const DispatchMode modes[] = {DispatchMode::kPartitioned, DispatchMode::kEven,
                                  DispatchMode::kTable};
    PolicyConfig policy;
    policy.dispatch = modes[oracle::Pick(&random, 3)];
    for (auto& count : policy.table) count = static_cast<std::uint8_t>(oracle::Pick(&random, 9));
    const auto mask = static_cast<KernelMask>(1 + oracle::Pick(&random, 15));
    PartitionPlanner::Inputs in = StartOf(mask, oracle::Pick(&random, 16));
    in.mode = policy.dispatch;
    in.table = policy.table;
    in.apart = static_cast<std::uint8_t>(1 + oracle::Pick(&random, kNumKernels));
    const unsigned cycles = PlanAll(&planner, in, kernels);

    std::vector<oracle::Planned> want;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (in.kernels >> k & 1) want.push_back({k, needs[k], 0});
    }
    oracle::PlanFor(policy, &want, kLimits, Index(in.sm) / in.apart);
    std::array<unsigned, kNumKernels> tbs{};
    unsigned sum = 0;
    for (const oracle::Planned& p : want) sum += tbs[p.kernel] = p.tbs;
    ASSERT_EQ(Tbs(planner), tbs) << "round " << round;
    ASSERT_EQ(cycles, sum + 2);
    CheckRanges(planner.state(), kernels);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace smk
