// SPDX-License-Identifier: Apache-2.0
// What invalidates the L1 of an SM: sm.l1_flush.
#include <gtest/gtest.h>

#include "model/micro.h"

namespace smk {
namespace {

// An SM that holds one TB, or two; kernels whose TBs load one line.
class L1Flush : public testing::Test {
 protected:
  static MicroKernel OneLine(unsigned tbs, const char* name = "micro") {
    MicroKernel kernel;
    kernel.name = name;
    kernel.tbs = tbs;
    kernel.Load(0, {}, MicroKernel::kSameLine);
    kernel.Op(OpClass::kAlu, 1, {0});
    return kernel;
  }
  KernelStats First(const std::vector<MicroKernel>& kernels) { return run.Run(kernels).kernels[0]; }
  MicroRun run;
};

TEST_F(L1Flush, LinesOutliveAKernel) {
  const KernelStats stats = First({OneLine(4)});
  EXPECT_GT(stats.launches_completed, 5u);
  EXPECT_EQ(stats.l1_accesses - stats.l1_hits, 1u) << "the first of all";
}

TEST_F(L1Flush, TheEndOfAKernelInvalidatesThem) {
  run.sm().l1_flush = "kernel";
  run.sm().limits.tbs = 1;
  const KernelStats stats = First({OneLine(4)});
  EXPECT_GT(stats.launches_completed, 5u);
  const std::uint64_t misses = stats.l1_accesses - stats.l1_hits;
  EXPECT_GE(misses, stats.launches_completed) << "once per launch, and not once per TB";
  EXPECT_LE(misses, stats.launches_completed + 1);
}

// Kernels begin and end beside one that stays.
TEST_F(L1Flush, AnSmThatIsNeverEmptyKeepsThem) {
  run.sm().l1_flush = "kernel";
  MicroKernel stays;
  stays.name = "stays";
  for (unsigned i = 0; i < 4000; ++i) stays.Op(OpClass::kDp, 0, {0});
  const KernelStats stats = First({OneLine(1, "comes"), stays});
  EXPECT_GT(stats.launches_completed, 5u);
  EXPECT_LE(stats.l1_accesses - stats.l1_hits, 2u);
}

}  // namespace
}  // namespace smk
