// SPDX-License-Identifier: Apache-2.0
// What Kernelet is compared with: pairs that were measured (OPT), and pairs that are drawn (MC).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "host/kernelet/co_schedule.h"
#include "workload/random.h"

namespace smk {
namespace {

using testing::HasSubstr;

constexpr unsigned kBaselineSms = 14;

// An SM of 8 TBs; a TB of `warps` of its 16 warps.
KerneletMachine BaselineMachine() {
  KerneletMachine machine;
  machine.sms = kBaselineSms;
  machine.limits = {128, 192, 16, 8};
  machine.memory.coalesced = {2, 100};
  machine.memory.uncoalesced = LineOfSeveral(machine.memory.coalesced, 32);
  return machine;
}

std::vector<KerneletKernel> Kernels() {
  std::vector<KerneletKernel> kernels;
  for (const unsigned warps : {2u, 4u, 3u}) {
    KerneletKernel kernel;
    kernel.name = std::to_string(warps);
    kernel.need = {4, 0, static_cast<std::uint16_t>(warps), 1};
    kernel.memory_ratio = 0.1 * warps;
    kernel.instructions = 1000;
    kernels.push_back(kernel);
  }
  return kernels;
}

TEST(KerneletKnown, PairsAreChosenByWhatWasMeasured) {
  CoScheduleParams params;
  params.pur_difference = params.mur_difference = 0;
  CoScheduleFinder finder(BaselineMachine(), Kernels(), params);
  SlicePair pair;
  pair.tbs[0] = 1;
  pair.tbs[1] = 2;
  pair.profit = 0.4;
  finder.Set(1, 2, pair);
  pair.tbs[1] = 1;
  pair.profit = 0.3;
  finder.Set(0, 1, pair);
  pair.profit = -0.1;
  finder.Set(0, 2, pair);
  const CoSchedule best = finder.Find({0, 1, 2});
  EXPECT_EQ(best.first, 1u);
  EXPECT_EQ(best.second, 2u);
  EXPECT_EQ(best.size[0], 1 * kBaselineSms);
  EXPECT_EQ(best.size[1], 2 * kBaselineSms);
  EXPECT_EQ(best.pair.profit, 0.4);
  // Whichever is pending first.
  const CoSchedule turned = finder.Find({2, 1});
  EXPECT_EQ(turned.first, 0u);
  EXPECT_EQ(turned.size[0], 2 * kBaselineSms);
  EXPECT_EQ(turned.size[1], 1 * kBaselineSms);
  EXPECT_EQ(finder.Find({0, 2}).pair.profit, -0.1) << "the only pair, though a loss";
}

TEST(KerneletKnown, RefusesWhatCannotBe) {
  CoScheduleFinder finder(BaselineMachine(), Kernels());
  SlicePair pair;
  pair.tbs[0] = pair.tbs[1] = 1;
  EXPECT_THROW(finder.Set(1, 0, pair), InputError);
  EXPECT_THROW(finder.Set(0, 3, pair), InputError);
  pair.tbs[1] = 4;
  try {
    finder.Set(0, 1, pair);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected sizes that fit"));
  }
}

// Every pair is as likely as every other, and so are the sizes of one.
TEST(KerneletDraw, DrawsEveryPairInEverySize) {
  CoScheduleFinder finder(BaselineMachine(), Kernels());
  const std::vector<std::size_t> pending = {2, 0, 1, 0};
  constexpr unsigned kDraws = 20'000;
  std::map<std::pair<std::size_t, std::size_t>, unsigned> pairs;
  std::map<std::pair<std::size_t, std::size_t>, std::map<unsigned, unsigned>> sizes;
  for (unsigned i = 0; i < kDraws; ++i) {
    const CoSchedule drawn = finder.Draw(pending, ScrambleBits(i));
    ASSERT_TRUE(drawn.second);
    ASSERT_LT(drawn.first, *drawn.second);
    const std::pair<std::size_t, std::size_t> kernels = {pending[drawn.first],
                                                         pending[*drawn.second]};
    ++pairs[kernels];
    ++sizes[kernels][drawn.size[0] / kBaselineSms];
    const auto all = finder.Sizes(kernels.first, kernels.second);
    EXPECT_THAT(all, testing::Contains(std::make_pair(drawn.pair.tbs[0], drawn.pair.tbs[1])));
    for (int k : {0, 1}) EXPECT_EQ(drawn.size[k], drawn.pair.tbs[k] * kBaselineSms);
  }
  // 2+0, 2+1, 0+1 and 0+0, of which there are two: five standard errors.
  ASSERT_EQ(pairs.size(), 4u);
  for (const auto& [kernels, count] : pairs) {
    EXPECT_NEAR(count, kDraws / 4.0, 5 * std::sqrt(kDraws * 0.25 * 0.75));
    const double sizes_of = static_cast<double>(finder.Sizes(kernels.first, kernels.second).size());
    ASSERT_EQ(static_cast<double>(sizes[kernels].size()), sizes_of);
    for (const auto& size : sizes[kernels]) {
      EXPECT_NEAR(size.second, count / sizes_of, 5 * std::sqrt(count / sizes_of));
    }
  }
}

TEST(KerneletDraw, KernelWithoutAPartnerIsAlone) {
  CoScheduleFinder finder(BaselineMachine(), Kernels());
  const CoSchedule alone = finder.Draw({1}, 5);
  EXPECT_FALSE(alone.second);
  EXPECT_EQ(alone.size[0], 4 * kBaselineSms) << "as many as fit";
  EXPECT_THROW(finder.Draw({}, 5), InputError);
}

}  // namespace
}  // namespace smk
