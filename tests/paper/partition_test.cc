// SPDX-License-Identifier: Apache-2.0
// SMK Fig. 8, iteration by iteration. One TB of K1 takes 10 % of the registers and 6.66 % of the
// threads, one of K2 3 % of the registers, 6 % of the shared memory and 5 % of the threads: with
// 100 units of registers and shared memory and 60 of threads, all of these are whole units.
#include <gtest/gtest.h>

#include "control/driver/partition_planner.h"

namespace smk {
namespace {

constexpr ResourceVector kPartitionLimits{100, 100, 60, 32};

class Figure8 : public testing::Test {
 protected:
  Figure8() {
    const ResourceVector needs[] = {{10, 0, 4, 1}, {3, 6, 3, 1}};
    for (unsigned k = 0; k < 2; ++k) {
      kernels.slot[k].need = needs[k];
      kernels.slot[k].share = weights.Dominant(needs[k]);
      kernels.slot[k].order = static_cast<std::uint8_t>(k);
    }
    PartitionPlanner::Inputs in;
    in.start = true;
    in.kernels = 0b0011;
    in.kernel_table = &kernels;
    planner.Tick(in);
  }
  // The next cycle.
  void Tick() {
    PartitionPlanner::Inputs in;
    in.kernel_table = &kernels;
    planner.Tick(in);
  }
  unsigned Tbs(unsigned kernel) const { return planner.state().part[kernel].tbs; }
  // Shares in percent, of K1 and K2 and of the SM.
  double Percent(std::uint32_t share) const { return 100.0 * share / weights.whole; }
  double Rk(unsigned kernel) const { return Percent(planner.state().share[kernel]); }
  double Rsm() const { return Percent(weights.Dominant(planner.state().taken)); }

  ShareWeights weights = ShareWeights::Of(kPartitionLimits);
  KernelTable::State kernels;
  PartitionPlanner planner{{kPartitionLimits}};
};

TEST_F(Figure8, IterationsAreThoseOfTheFigure) {
  struct Row {
    unsigned tbs[2];
    double rk[2];
    double rsm;
  };
  const Row rows[] = {
      {{1, 0}, {10, 0}, 10},        // iteration 1: K1; registers
      {{1, 1}, {10, 6}, 13},        // iteration 2: K2; registers are dominant
      {{1, 2}, {10, 12}, 16.6666},  // iteration 3: K2; threads are dominant
      {{2, 2}, {20, 12}, 26},       // iteration 4: K1
  };
  EXPECT_EQ(Rsm(), 0) << "iteration 0: the SM is empty";
  for (const Row& row : rows) {
    Tick();
    for (unsigned k = 0; k < 2; ++k) {
      EXPECT_EQ(Tbs(k), row.tbs[k]);
      EXPECT_DOUBLE_EQ(Rk(k), row.rk[k]);
    }
    EXPECT_NEAR(Rsm(), row.rsm, 1e-4);
  }
}

TEST_F(Figure8, EndsWithSixAndTwelveTbsAndNoThreadLeft) {
  unsigned iterations = 0;
  for (; !planner.state().done; ++iterations) Tick();
  EXPECT_EQ(Tbs(0), 6u);
  EXPECT_EQ(Tbs(1), 12u);
  EXPECT_DOUBLE_EQ(Rsm(), 100);
  EXPECT_EQ(planner.state().taken.threads, kPartitionLimits.threads);
  EXPECT_EQ(iterations, 18u + 1u) << "one TB per cycle, and one cycle to see that none fits";
}

// Every iteration serves the kernel with the lowest share among those that fit.
TEST_F(Figure8, EveryIterationServesTheLowestShareThatFits) {
  while (!planner.state().done) {
    const PartitionPlanner::State before = planner.state();
    Tick();
    const unsigned served = planner.state().part[0].tbs != before.part[0].tbs ? 0 : 1;
    const unsigned other = 1 - served;
    const bool other_fits = FitsIn(before.taken + kernels.slot[other].need, kPartitionLimits);
    if (other_fits) {
      EXPECT_LE(before.share[served], before.share[other]);
    }
  }
}

TEST_F(Figure8, RangesHoldSixAndTwelveTbsSideBySide) {
  while (!planner.state().done) Tick();
  const auto& range = planner.state().range;
  EXPECT_EQ(range[0].registers_limit - range[0].registers_base, 60);
  EXPECT_EQ(range[1].registers_base, range[0].registers_limit);
  EXPECT_EQ(range[1].registers_limit - range[1].registers_base, 36);
  EXPECT_EQ(range[1].shared_memory_limit - range[1].shared_memory_base, 72);
  EXPECT_EQ(range[0].threads_limit - range[0].threads_base, 24);
  EXPECT_EQ(range[1].threads_limit, 60);
  EXPECT_EQ(range[0].tb_count + range[1].tb_count, 18);
}

}  // namespace
}  // namespace smk
