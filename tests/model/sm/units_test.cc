// SPDX-License-Identifier: Apache-2.0
// How long the execution units are taken: an instruction takes its pipe for its initiation
// interval.
#include <gtest/gtest.h>

#include "model/micro.h"

namespace smk {
namespace {

class SmUnitTime : public testing::Test {
 protected:
  SmUnitTime() {
    run.repeat = false;
    run.sm().alu.initiation = 2;
    run.sm().imul.initiation = 3;
    run.sm().sfu.initiation = 8;
    run.sm().dp.initiation = 16;
    for (unsigned i = 0; i < 5; ++i) kernel.Op(OpClass::kAlu, 0);
    for (unsigned i = 0; i < 4; ++i) kernel.Op(OpClass::kImul, 1);
    for (unsigned i = 0; i < 2; ++i) kernel.Op(OpClass::kSfu, 2);
    kernel.Op(OpClass::kDp, 3);
    for (unsigned i = 0; i < 3; ++i) kernel.Op(OpClass::kLoadShared, 4, {}, 4);
    kernel.threads = 64;
    kernel.tbs = 3;
  }
  static constexpr std::uint64_t kWarps = 6;
  MicroRun run;
  MicroKernel kernel;
};

TEST_F(SmUnitTime, AreTakenForTheInitiationOfEachInstruction) {
  run.sm().shared.initiation = 2;
  for (const unsigned pipes : {4u, 1u}) {
    run.sm().units.sp = run.sm().units.sfu = run.sm().units.dp = pipes;
    const KernelStats stats = run.Run({kernel}).kernels.at(0);
    ASSERT_EQ(stats.tbs_completed, 3u);
    EXPECT_EQ(stats.warp_instructions, kWarps * (5 + 4 + 2 + 1 + 3 + 1));
    EXPECT_EQ(stats.alu_busy, kWarps * 5 * 2);
    EXPECT_EQ(stats.sfu_busy, kWarps * (4 * 3 + 2 * 8));
    EXPECT_EQ(stats.dp_busy, kWarps * 16);
    EXPECT_EQ(stats.lsu_busy, kWarps * 3 * 4 * 2);
  }
}

TEST_F(SmUnitTime, BelongToTheKernelOfTheInstruction) {
  const KernelStats alone = run.Run({kernel}).kernels.at(0);
  MicroKernel other;
  for (unsigned i = 0; i < 7; ++i) other.Op(OpClass::kAlu, 0);
  const RunResult both = run.Run({kernel, other});
  EXPECT_EQ(both.kernels.at(0).alu_busy, alone.alu_busy);
  EXPECT_EQ(both.kernels.at(0).lsu_busy, alone.lsu_busy);
  EXPECT_EQ(both.kernels.at(1).alu_busy, 7u * 2);
  EXPECT_EQ(both.kernels.at(1).lsu_busy, 0u);
}

// An LSU is never taken for longer than there are cycles, whatever it waits for.
TEST_F(SmUnitTime, LsuIsTakenForAtMostAllCycles) {
  run.repeat = true;
  run.sm().l1.mshrs = 2;
  MicroKernel loads;
  loads.threads = 256;
  loads.Loop(100);
  loads.Load(0, {}, MicroKernel::kNewLine);
  loads.Load(1, {}, MicroKernel::kNewLine);
  loads.Op(OpClass::kLoadShared, 2, {}, 8);
  loads.End();
  const KernelStats stats = run.Run({loads}).kernels.at(0);
  EXPECT_LE(stats.lsu_busy, run.request.cycles);
  EXPECT_GE(stats.lsu_busy, run.request.cycles * 9 / 10) << "it waits for MSHRs";
}

}  // namespace
}  // namespace smk
