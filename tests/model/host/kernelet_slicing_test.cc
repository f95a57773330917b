// SPDX-License-Identifier: Apache-2.0
// Kernelet's slices: which TBs, and how many.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "host/kernelet/slicing.h"
#include "model/refuses.h"
#include "test_options.h"

namespace smk {
namespace {

TEST(KerneletSlicing, EveryTbIsInOneSlice) {
  const std::uint64_t seed = GetTestOptions().seed;
  SCOPED_TRACE("--seed=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (unsigned n = 0; n < 500; ++n) {
    const auto tbs = static_cast<std::uint32_t>(1 + random() % 2000);
    const auto size = static_cast<std::uint32_t>(1 + random() % (n % 2 == 0 ? 50 : 3000));
    const std::vector<Slice> plan = SlicePlan(tbs, size);
    std::uint32_t next = 0;
    for (const Slice& slice : plan) {
      ASSERT_EQ(slice.first_tb, next);
      ASSERT_GE(slice.tb_count, 1u);
      next += slice.tb_count;
      ASSERT_TRUE(slice.tb_count == size || next == tbs) << "only the last is smaller";
    }
    ASSERT_EQ(next, tbs);
    ASSERT_EQ(plan.size(), (tbs + size - 1) / size);
  }
}

TEST(KerneletSlicing, LastTbsOfAllAreThere) {
  const std::vector<Slice> plan = SlicePlan(~0u, 1u << 31);
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[1].tb_count, (1u << 31) - 1);
}

// A launch costs 100 cycles, a TB 10.
double Cycles(std::uint32_t tbs, std::uint32_t size) {
  return 100.0 * static_cast<double>(SlicePlan(tbs, size).size()) + 10.0 * tbs;
}

TEST(KerneletSlicing, SmallestSliceIsTheFirstThatCostsNoMore) {
  std::vector<std::uint32_t> asked;
  const auto measure = [&](std::uint32_t size) {
    asked.push_back(size);
    return Cycles(1600, size);
  };
  // 16,100 cycles in one piece; 2 % are 322: four slices, 400 TBs.
  EXPECT_EQ(SmallestSlice(1600, 16, measure), 400u);
  ASSERT_EQ(asked.size(), 26u) << "the whole, and each size once up to the one";
  EXPECT_EQ(asked.front(), 1600u);
  for (std::size_t i = 1; i < asked.size(); ++i) EXPECT_EQ(asked[i], 16 * i);
  // Exactly p % is enough: 805 cycles are eight further launches and a bit; 16 x 12 = 192, nine
  // slices.
  EXPECT_EQ(SmallestSlice(1600, 16, measure, 0.05), 192u);
  EXPECT_EQ(SmallestSlice(1600, 16, [](std::uint32_t size) { return size < 1600 ? 102.0 : 100.0; }),
            16u)
      << "just 2 %";
}

TEST(KerneletSlicing, WholeKernelWhenNoSliceWillDo) {
  const auto measure = [](std::uint32_t size) { return Cycles(100, size); };
  EXPECT_EQ(SmallestSlice(100, 16, measure, 0), 100u);
  EXPECT_EQ(SmallestSlice(100, 200, measure), 100u) << "fewer TBs than SMs";
}

TEST(KerneletSlicing, RefusesWhatCannotBe) {
  const auto measure = [](std::uint32_t) { return 1.0; };
  ExpectRefused([] { SlicePlan(0, 1); }, "slices: expected a kernel of at least one TB");
  ExpectRefused([] { SlicePlan(1, 0); }, "slices: expected at least one TB in each");
  ExpectRefused([&] { SmallestSlice(0, 1, measure); },
                "slices: expected a kernel of at least one TB");
  ExpectRefused([&] { SmallestSlice(1, 0, measure); }, "slices: expected at least one SM");
  ExpectRefused([&] { SmallestSlice(9, 1, measure, -1); }, "slices: overhead: expected at least 0");
  ExpectRefused([&] { SmallestSlice(9, 1, [](std::uint32_t) { return 0.0; }); },
                "slices of 9 TBs: expected more than 0 cycles");
}

}  // namespace
}  // namespace smk
