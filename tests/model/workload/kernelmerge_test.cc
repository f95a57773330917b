// SPDX-License-Identifier: Apache-2.0
// The benchmarks of KernelMerge execute what their algorithms do, with groups of 256.
#include <string>

#include "host/kernel_merge/merge.h"
#include "model/workload/rig.h"
#include "workload/program_summary.h"

namespace smk {
namespace {

const char* const kNames[] = {"bitonic_sort", "kmeans_c",   "kmeans_swap",
                              "matrix_mul",   "merge_sort", "vector_add"};

std::shared_ptr<const Workload> MergedFile(const std::string& name) {
  return FindWorkload("kernelmerge/" + name, SMK_SOURCE_DIR);
}

ProgramSummary MergedSummary(const std::string& name) {
  return Summarise(MergedFile(name)->kernels.at(0));
}

TEST(WorkloadKernelMerge, VectorAddMovesThreeLines) {
  const ProgramSummary summary = MergedSummary("vector_add");
  EXPECT_EQ(summary.OfClass(OpClass::kLoadGlobal), 2);
  EXPECT_EQ(summary.OfClass(OpClass::kStoreGlobal), 1);
  for (const AccessSummary& access : summary.accesses) EXPECT_EQ(access.lines, 1);
  EXPECT_EQ(MergedFile("vector_add")->kernels[0].tb_count(), (11444777 + 255) / 256);
}

TEST(WorkloadKernelMerge, BitonicSortExchangesAPairInEachPass) {
  const ProgramSummary summary = MergedSummary("bitonic_sort");
  EXPECT_EQ(summary.OfClass(OpClass::kLoadGlobal), 2);
  EXPECT_EQ(summary.OfClass(OpClass::kStoreGlobal), 2);
  EXPECT_EQ(summary.OfClass(OpClass::kBarrier), 0);
  EXPECT_EQ(MergedFile("bitonic_sort")->kernels[0].tb_count() * 512, 1u << 20);
  EXPECT_EQ(MergedFile("bitonic_sort")->launches.size(), 20u * 21 / 2);
}

// Runs of 1, 2, 4 ... 256: two searches of 1, 2, 3 ... 9 steps.
TEST(WorkloadKernelMerge, MergeSortSearchesInEveryRun) {
  const ProgramSummary summary = MergedSummary("merge_sort");
  const double steps = 2 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9);
  EXPECT_EQ(summary.OfClass(OpClass::kLoadShared), steps + 9 * 4 + 4);
  EXPECT_EQ(summary.OfClass(OpClass::kStoreShared), 4 + 9 * 4);
  EXPECT_EQ(summary.OfClass(OpClass::kBarrier), 2 * 9 + 1);
}

TEST(WorkloadKernelMerge, KmeansComparesFiveCentresIn34Features) {
  const ProgramSummary centre = MergedSummary("kmeans_c"), swap = MergedSummary("kmeans_swap");
  EXPECT_EQ(centre.OfClass(OpClass::kLoadGlobal), 2 * 5 * 34);
  EXPECT_EQ(centre.OfClass(OpClass::kStoreGlobal), 1);
  EXPECT_EQ(swap.OfClass(OpClass::kLoadGlobal), 34);
  EXPECT_EQ(swap.OfClass(OpClass::kStoreGlobal), 34);
  for (const AccessSummary& access : swap.accesses) {
    const bool load = access.op == OpClass::kLoadGlobal;
    EXPECT_NEAR(access.lines, load ? 32 : 1, load ? 1 : 0);
  }
}

TEST(WorkloadKernelMerge, MatrixMulMultipliesTilesOf16) {
  const ProgramSummary summary = MergedSummary("matrix_mul");
  EXPECT_EQ(summary.OfClass(OpClass::kLoadGlobal), 2 * 50);
  EXPECT_EQ(summary.OfClass(OpClass::kLoadShared), 2 * 16 * 50);
  EXPECT_EQ(summary.OfClass(OpClass::kBarrier), 2 * 50);
}

// "the device (an NVIDIA GTX 460) was able to run 28 workgroups": for every pair.
TEST(WorkloadKernelMerge, EveryPairHas28Groups) {
  const auto machine = MachineConfig::Load(FindMachine("gtx460", SMK_SOURCE_DIR));
  for (const char* a : kNames) {
    for (const char* b : kNames) {
      const auto first = MergedFile(a), second = MergedFile(b);
      const KernelSpec merged = MergedKernel(first->kernels[0], &second->kernels[0], machine);
      EXPECT_EQ(merged.threads, 256u);
      EXPECT_EQ(merged.tb_count(), 28u) << a << ' ' << b;
    }
  }
}

}  // namespace
}  // namespace smk
