// SPDX-License-Identifier: Apache-2.0
// The example of SMK Sec. 5.2, with limits in which its percentages are whole units.
#include <gtest/gtest.h>

#include "control/driver/drf_tracker.h"

namespace smk {
namespace {

constexpr ResourceVector kLimits{100, 100, 100, 100};
constexpr ResourceVector kTbOfA{10, 20, 30, 3};

TEST(DrfExample, OneTbOfKernelAHasADominantShareOfThirtyPercent) {
  const ShareWeights weights = ShareWeights::Of(kLimits);
  EXPECT_EQ(weights.Dominant(kTbOfA) * 100, weights.whole * 30);
}

// Every time A has a TB dispatched, its share of the SM grows by 30 %.
TEST(DrfExample, EachDispatchAddsThirtyPercentOfOneSm) {
  const ShareWeights weights = ShareWeights::Of(kLimits);
  KernelTable::State kernels;
  kernels.slot[0].need = {10, 20, 30, 1};
  kernels.slot[0].share = weights.Dominant(kTbOfA);
  DrfTracker drf({1, kLimits, weights});
  for (unsigned n = 1; n <= 3; ++n) {
    DrfTracker::Inputs in;
    in.dispatch_valid = true;
    in.kernel_table = &kernels;
    drf.Tick(in);
    EXPECT_EQ(drf.KernelShare(0) * 100, weights.whole * 30 * n);
    EXPECT_EQ(drf.SmShare(0, std::nullopt, kernels) * 100, weights.whole * 30 * n);
  }
}

// 30 % of the registers, 15 % of the shared memory, 20 % of the threads and 10 % of the TBs.
TEST(DrfExample, SmWithThirtyPercentOfItsRegistersTakenHasAShareOfThirtyPercent) {
  const ShareWeights weights = ShareWeights::Of(kLimits);
  EXPECT_EQ(weights.Dominant({30, 15, 20, 10}) * 100, weights.whole * 30);
}

}  // namespace
}  // namespace smk
