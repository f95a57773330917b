// SPDX-License-Identifier: Apache-2.0
// Which two kernels Kernelet executes together, and in which sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "host/kernelet/co_schedule.h"
#include "model/refuses.h"
#include "test_options.h"

namespace smk {
namespace {

// An SM of 16 warps and 8 TBs with one scheduler.
KerneletMachine ScheduleMachine() {
  KerneletMachine machine;
  machine.sms = 14;
  machine.limits = {128, 192, 16, 8};
  machine.memory.coalesced = {2, 100};
  machine.memory.uncoalesced = LineOfSeveral(machine.memory.coalesced, 32);
  return machine;
}

KerneletKernel Kernel(const std::string& name, double memory_ratio, double pur, double mur,
                      unsigned warps = 2, double instructions = 1000) {
  KerneletKernel kernel;
  kernel.name = name;
  kernel.need = {4, 0, static_cast<std::uint16_t>(warps), 1};
  kernel.memory_ratio = memory_ratio;
  kernel.pur = pur;
  kernel.mur = mur;
  kernel.instructions = instructions;
  return kernel;
}

TEST(KerneletProfit, ByHand) {
  EXPECT_DOUBLE_EQ(CoSchedulingProfit({0.5, 0.3}, {1, 0.6}), 0) << "each at half speed";
  EXPECT_DOUBLE_EQ(CoSchedulingProfit({0.8, 0.2}, {0.8, 0.2}), 0.5) << "each at full speed";
  EXPECT_DOUBLE_EQ(CoSchedulingProfit({0.9, 0.2}, {1.2, 0.4}), 0.2) << "3/4 and 1/2";
  EXPECT_DOUBLE_EQ(CoSchedulingProfit({0.1, 0.1}, {0.4, 0.4}), -1) << "twice as long";
  EXPECT_DOUBLE_EQ(CoSchedulingProfit({1, 1, 1}, {1, 1, 1}), 2.0 / 3);
}

TEST(KerneletBalance, DifferenceByHand) {
  EXPECT_DOUBLE_EQ(TimeDifference(1000, 3, 0.5, 400, 4, 0.25), std::fabs(6000.0 - 6400.0));
  EXPECT_EQ(TimeDifference(777, 5, 0.3, 777, 5, 0.3), 0) << "equal kernels, equal sizes";
}

TEST(KerneletBalance, EqualKernelsGetEqualSizes) {
  const std::vector<KerneletKernel> equal{Kernel("a", 0.1, 0, 0), Kernel("b", 0.1, 0, 0)};
  CoScheduleFinder filling(ScheduleMachine(), equal);
  const std::optional<SlicePair> pair = filling.Balanced(0, 1);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->tbs[0], 4u);
  EXPECT_EQ(pair->tbs[1], 4u);
  EXPECT_NEAR(pair->difference, 0, 1e-6);
  // Together they are what one of them is alone.
  EXPECT_NEAR(pair->ipc[0] + pair->ipc[1], filling.Alone(0), 1e-9);
  EXPECT_NEAR(pair->profit, 0, 1e-9);
  // Of all sizes that are balanced, those with the largest profit.
  CoScheduleParams params;
  params.sizes = SliceSizes::kAll;
  CoScheduleFinder all(ScheduleMachine(), equal, params);
  EXPECT_EQ(all.Balanced(0, 1)->tbs[0], 4u);
  EXPECT_EQ(all.Balanced(0, 1)->tbs[1], 4u);
}

TEST(KerneletBalance, OrderOfAPairDoesNotMatter) {
  const std::vector<KerneletKernel> kernels{Kernel("a", 0.1, 0, 0, 2, 2000),
                                            Kernel("b", 0.3, 0, 0)};
  CoScheduleFinder finder(ScheduleMachine(), kernels),
      other(ScheduleMachine(), {kernels[1], kernels[0]});
  const std::optional<SlicePair> pair = finder.Balanced(0, 1);
  ASSERT_TRUE(pair);
  for (const auto& swapped : {finder.Balanced(1, 0), other.Balanced(0, 1)}) {
    for (int i : {0, 1}) {
      EXPECT_EQ(pair->tbs[i], swapped->tbs[1 - i]);
      EXPECT_NEAR(pair->ipc[i], swapped->ipc[1 - i], 1e-12);
    }
    EXPECT_NEAR(pair->profit, swapped->profit, 1e-12);
  }
}

TEST(KerneletBalance, SmallestSlicesAreKept) {
  KerneletKernel a = Kernel("a", 0.1, 0, 0), b = Kernel("b", 0.3, 0, 0);
  a.least_tbs = 6;
  CoScheduleFinder finder(ScheduleMachine(), {a, b});
  const std::optional<SlicePair> pair = finder.Balanced(0, 1);
  ASSERT_TRUE(pair);
  EXPECT_GE(pair->tbs[0], 6u);
  b.least_tbs = 3;
  CoScheduleFinder too_large(ScheduleMachine(), {a, b});
  EXPECT_FALSE(too_large.Balanced(0, 1)) << "8 TBs per SM";
  const CoSchedule alone = too_large.Find({1, 0});
  EXPECT_FALSE(alone.second);
  EXPECT_EQ(alone.first, 0u);
  EXPECT_EQ(alone.size[0], 8u * 14);
}

TEST(KerneletModel, SchedulersShareWarpsAndMemory) {
  KerneletMachine one = ScheduleMachine(), two = ScheduleMachine();
  two.schedulers = 2;
  // With two schedulers the SM is twice one that has half the warps, and half the memory.
  one.memory.coalesced.a0 *= 2;
  one.memory.uncoalesced.a0 *= 2;
  const KerneletKernel kernel = Kernel("a", 0.2, 0, 0);
  EXPECT_NEAR(KerneletModel(two).Alone(kernel, 8), 2 * KerneletModel(one).Alone(kernel, 4), 1e-12);
  // At half the rate of issue, latencies have half as many places for instructions.
  KerneletMachine slow = ScheduleMachine();
  slow.issue_rate = 0.5;
  KerneletMachine near = ScheduleMachine();
  near.memory.coalesced = {1, 50};
  near.memory.uncoalesced.a0 /= 2;
  near.memory.uncoalesced.b0 /= 2;
  EXPECT_NEAR(KerneletModel(slow).Alone(kernel, 8), KerneletModel(near).Alone(kernel, 8) / 2,
              1e-12);
}

TEST(KerneletFind, PairsThatAreAlikeAreLeftOut) {
  const std::vector<KerneletKernel> kernels{Kernel("compute", 0.01, 0.9, 0.02),
                                            Kernel("compute too", 0.02, 0.85, 0.03),
                                            Kernel("memory", 0.4, 0.2, 0.14)};
  CoScheduleFinder finder(ScheduleMachine(), kernels);
  const CoSchedule found = finder.Find({0, 1, 2});
  EXPECT_EQ(found.candidates, 3u);
  EXPECT_EQ(found.predicted, 2u);
  ASSERT_TRUE(found.second);
  EXPECT_EQ(*found.second, 2u);
  EXPECT_EQ(found.pur_difference, 0.4);
  EXPECT_EQ(found.size[0], found.pair.tbs[0] * 14);
  // Only the two that are alike: the differences are relaxed until they may.
  const CoSchedule alike = finder.Find({1, 0, 1});
  EXPECT_EQ(alike.candidates, 2u) << "one of them twice";
  EXPECT_EQ(alike.predicted, 1u);
  EXPECT_LE(alike.pur_difference, 0.05);
  EXPECT_EQ(alike.first, 0u);
  EXPECT_EQ(alike.second, 1u);
  // With itself, when there is nothing else.
  const CoSchedule same = finder.Find({2, 2, 2});
  EXPECT_EQ(same.candidates, 1u);
  EXPECT_EQ(same.pur_difference, 0);
  EXPECT_EQ(same.second, 1u);
  EXPECT_FALSE(finder.Find({1}).second);
}

TEST(KerneletFind, WithoutEnoughProfitAKernelIsAlone) {
  CoScheduleParams params;
  params.least_profit = 0.9;
  CoScheduleFinder finder(ScheduleMachine(),
                          {Kernel("a", 0.01, 0.9, 0), Kernel("b", 0.4, 0.2, 0.1)}, params);
  const CoSchedule found = finder.Find({1, 0});
  EXPECT_FALSE(found.second);
  EXPECT_EQ(found.candidates, 1u);
  EXPECT_EQ(found.first, 0u);
}

// Every pair, every size, without what the finder keeps.
TEST(KerneletFind, FindsWhatAnExhaustiveSearchFinds) {
  const std::uint64_t seed = GetTestOptions().seed;
  SCOPED_TRACE("--seed=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto draw = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  for (unsigned n = 0; n < 8; ++n) {
    std::vector<KerneletKernel> kernels;
    for (unsigned k = 0; k < 5; ++k) {
      kernels.push_back(Kernel(std::string(1, static_cast<char>('a' + k)), draw(0, 0.5), draw(0, 1),
                               draw(0, 0.14), static_cast<unsigned>(draw(1, 5)), draw(100, 5000)));
    }
    CoScheduleParams params;
    params.sizes = n % 2 == 0 ? SliceSizes::kAll : SliceSizes::kFilling;
    params.pur_difference = draw(0, 1);
    params.mur_difference = draw(0, 0.14);
    const CoSchedule found =
        CoScheduleFinder(ScheduleMachine(), kernels, params).Find({0, 1, 2, 3, 4});
    const KerneletModel model(ScheduleMachine());
    double best = -INFINITY;
    std::pair<std::size_t, std::size_t> pair;
    unsigned sizes[2] = {0, 0};
    for (std::size_t a = 0; a < 5; ++a) {
      for (std::size_t b = a + 1; b < 5; ++b) {
        const KerneletKernel &ka = kernels[a], &kb = kernels[b];
        if (std::fabs(ka.pur - kb.pur) < found.pur_difference &&
            std::fabs(ka.mur - kb.mur) < found.mur_difference) {
          continue;
        }
        double least = INFINITY, profit = 0;
        unsigned of_a = 0, of_b = 0;
        for (unsigned i = 1; i <= 8; ++i) {
          for (unsigned j = 1; i + j <= 8; ++j) {
            const auto fit = [&](unsigned x, unsigned y) {
              return x + y <= 8 && x * ka.need.threads + y * kb.need.threads <= 16;
            };
            if (!fit(i, j)) continue;
            if (n % 2 != 0 && (fit(i + 1, j) || fit(i, j + 1))) continue;
            const auto ipc = model.Together(ka, i, kb, j);
            const double off =
                std::fabs(ka.instructions * i / ipc[0] - kb.instructions * j / ipc[1]);
            if (off >= least) continue;
            least = off;
            of_a = i;
            of_b = j;
            const double alone_a = model.Alone(ka, std::min(8u, 16u / ka.need.threads));
            const double alone_b = model.Alone(kb, std::min(8u, 16u / kb.need.threads));
            profit = 1 - 1 / (ipc[0] / alone_a + ipc[1] / alone_b);
          }
        }
        if (profit <= best) continue;
        best = profit;
        pair = {a, b};
        sizes[0] = of_a;
        sizes[1] = of_b;
      }
    }
    ASSERT_TRUE(found.second);
    EXPECT_EQ(found.first, pair.first);
    EXPECT_EQ(*found.second, pair.second);
    EXPECT_NEAR(found.pair.profit, best, 1e-12);
    for (int i : {0, 1}) EXPECT_EQ(found.pair.tbs[i], sizes[i]);
  }
}

TEST(KerneletFind, RefusesKernelsThatCannotBe) {
  const auto with = [](const auto& change) {
    return [change] {
      KerneletKernel kernel = Kernel("k", 0.1, 0.5, 0.1);
      change(&kernel);
      CoScheduleFinder(ScheduleMachine(), {kernel});
    };
  };
  ExpectRefused(with([](KerneletKernel* k) { k->need.threads = 17; }),
                "kernel k: need: a TB does not fit an SM");
  ExpectRefused(with([](KerneletKernel* k) { k->need = {}; }),
                "kernel k: need: expected at least one warp and one TB");
  ExpectRefused(with([](KerneletKernel* k) { k->instructions = 0; }),
                "kernel k: instructions: expected more than 0");
  ExpectRefused(with([](KerneletKernel* k) { k->memory_ratio = 1; }),
                "kernel k: memory_ratio: expected at least 0 and below 1");
  ExpectRefused(with([](KerneletKernel* k) { k->uncoalesced = -1; }),
                "kernel k: uncoalesced: expected 0 to 1");
  ExpectRefused(with([](KerneletKernel* k) { k->pur = 2; }), "kernel k: pur: expected 0 to 1");
  ExpectRefused(with([](KerneletKernel* k) { k->mur = std::nan(""); }),
                "kernel k: mur: expected 0 to 1");
  ExpectRefused(with([](KerneletKernel* k) { k->least_tbs = 0; }),
                "kernel k: least_tbs: expected at least 1");
}

TEST(KerneletFind, RefusesMachinesAndParametersThatCannotBe) {
  const auto machine = [](const auto& change) {
    return [change] {
      KerneletMachine m = ScheduleMachine();
      change(&m);
      KerneletModel model(m);
    };
  };
  ExpectRefused(machine([](KerneletMachine* m) { m->sms = 0; }),
                "kernelet machine: sms: expected at least 1");
  ExpectRefused(machine([](KerneletMachine* m) { m->schedulers = 0; }),
                "kernelet machine: schedulers: expected at least 1");
  ExpectRefused(machine([](KerneletMachine* m) { m->issue_rate = 0; }),
                "kernelet machine: issue_rate: expected more than 0");
  ExpectRefused(machine([](KerneletMachine* m) { m->memory.coalesced.a0 = -1; }),
                "latency of the chain: a0 and b0: expected at least 0");
  const auto params = [](const auto& change) {
    return [change] {
      CoScheduleParams p;
      change(&p);
      CoScheduleFinder(ScheduleMachine(), {}, p);
    };
  };
  ExpectRefused(params([](CoScheduleParams* p) { p->pur_difference = -1; }),
                "pruning: pur_difference and mur_difference: expected 0 to 1");
  ExpectRefused(params([](CoScheduleParams* p) { p->relax = 1; }),
                "pruning: relax: expected at least 0 and below 1");
  ExpectRefused(params([](CoScheduleParams* p) { p->least_profit = INFINITY; }),
                "least_profit: expected a number");
  CoScheduleFinder finder(ScheduleMachine(), {Kernel("k", 0.1, 0.5, 0.1)});
  ExpectRefused([&] { finder.Find({}); }, "pending: expected at least one kernel");
  ExpectRefused([&] { finder.Find({0, 1}); }, "pending: expected kernels that are known");
  ExpectRefused(
      [] {
        CoSchedulingProfit({1}, {1, 1});
      },
      "profit: expected an IPC together and one alone of every kernel");
  ExpectRefused([] { CoSchedulingProfit({1, 0}, {1, 1}); }, "profit: expected IPCs above 0");
}

}  // namespace
}  // namespace smk
