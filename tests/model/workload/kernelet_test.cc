// SPDX-License-Identifier: Apache-2.0
// The programs that Kernelet adds to Parboil's execute what their sources do, within 10 %.
//
// Instructions of blackscholes are static counts of the PTX of the sample (CUDA 11.8); those of tea
// follow from the algorithm; those of pointer_chase are its definition.
#include <string>

#include "model/workload/rig.h"
#include "workload/program_summary.h"

namespace smk {
namespace {

std::shared_ptr<const Workload> File(const std::string& name) {
  return FindWorkload("kernelet/" + name, SMK_SOURCE_DIR);
}

ProgramSummary SummaryOf(const std::string& name) { return Summarise(File(name)->kernels.at(0)); }

void ExpectNear(double value, double expected) { EXPECT_NEAR(value, expected, 0.1 * expected); }

TEST(WorkloadKernelet, BlackScholesHasTheInstructionsOfItsPtx) {
  const ProgramSummary summary = SummaryOf("blackscholes");
  const double options = 65, fixed = 105;
  ExpectNear(summary.warp_instructions, options * 68 + fixed);
  ExpectNear(summary.OfClass(OpClass::kAlu), options * (22 + 21 + 9) + fixed);
  ExpectNear(summary.OfClass(OpClass::kSfu), options * 10);
  EXPECT_EQ(summary.OfClass(OpClass::kLoadGlobal), options * 3);
  EXPECT_EQ(summary.OfClass(OpClass::kStoreGlobal), options * 2);
  EXPECT_NEAR(summary.load_use_distance, 1.3, 0.05);
}

TEST(WorkloadKernelet, TeaHas32CyclesOfTwoHalfRounds) {
  const ProgramSummary summary = SummaryOf("tea");
  // Two shifts, four additions, two exclusive ors; the sum, a compare and a branch.
  ExpectNear(summary.OfClass(OpClass::kAlu), 32 * (2 * 8 + 2));
  EXPECT_EQ(summary.OfClass(OpClass::kBranch), 32);
  EXPECT_EQ(summary.OfClass(OpClass::kLoadGlobal), 1);
  EXPECT_EQ(summary.OfClass(OpClass::kStoreGlobal), 1);
  EXPECT_EQ(File("tea")->kernels[0].tb_count() * 256u * 8, 16u << 20);
}

TEST(WorkloadKernelet, PointerChaseWaitsForEveryStep) {
  const ProgramSummary summary = SummaryOf("pointer_chase");
  EXPECT_EQ(summary.OfClass(OpClass::kLoadGlobal), 1 + 16);
  for (const AccessSummary& access : summary.accesses) {
    if (access.array == "list") {
      EXPECT_EQ(access.lines, 32);
    }
  }
  EXPECT_NEAR(summary.load_use_distance, 2, 0.1) << "at once, and behind compare and branch";
}

TEST(WorkloadKernelet, ClassesAreThoseOfTheGroups) {
  EXPECT_EQ(File("blackscholes")->type, "compute");
  EXPECT_EQ(File("tea")->type, "compute");
  EXPECT_EQ(File("pointer_chase")->type, "memory");
}

}  // namespace
}  // namespace smk
