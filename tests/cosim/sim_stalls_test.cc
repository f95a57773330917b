// SPDX-License-Identifier: Apache-2.0
// Stalls as the papers' simulator counts them need to know who has quota left: the RTL says the
// same as the reference.
#include <gtest/gtest.h>

#include "control/reference_control.h"
#include "cosim/lockstep_control.h"
#include "cosim/rtl_control.h"
#include "model/micro.h"

namespace smk {
namespace {

MicroKernel Computes() {
  MicroKernel kernel;
  kernel.name = "computes";
  kernel.threads = 256;
  kernel.registers = 24;
  kernel.tbs = 4000;
  kernel.Loop(40);
  for (int i = 0; i < 6; ++i) kernel.Op(OpClass::kAlu, i % 3, {i % 2});
  kernel.End();
  return kernel;
}

MicroKernel Loads() {
  MicroKernel kernel;
  kernel.name = "loads";
  kernel.threads = 128;
  kernel.registers = 32;
  kernel.tbs = 4000;
  kernel.Loop(20);
  kernel.Load(1, {}, MicroKernel::kNewLine);
  kernel.Op(OpClass::kAlu, 2, {1});
  kernel.Op(OpClass::kBarrier);
  kernel.End();
  return kernel;
}

// A pair under SMK-(P+W).
template <typename Make>
RunResult RunPair(Make make) {
  MicroRun run;
  run.request.machine.sms = 16;
  run.request.cycles = 20000;
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kPartitioned;
  policy.quota_enable = true;
  policy.epoch_length = 1000;
  run.request.policy = policy;
  const auto control = make(run.Control(), policy);
  return run.Run({Computes(), Loads()}, control.get());
}

TEST(SimStalls, AreTheSameWithTheRtl) {
  const RunResult reference = RunPair([](const ControlConfig& config, const PolicyConfig& policy) {
    return MakeReferenceControl(config, policy);
  });
  const RunResult rtl = RunPair([](const ControlConfig& config, const PolicyConfig& policy) {
    return MakeRtlControl(config, policy);
  });
  std::uint64_t quota = 0, pipeline = 0, sim_pipeline = 0;
  for (std::size_t i = 0; i < reference.sms.size(); ++i) {
    EXPECT_EQ(rtl.sms[i].scheduler_cycles, reference.sms[i].scheduler_cycles) << "SM " << i;
    EXPECT_EQ(rtl.sms[i].sim_stalls, reference.sms[i].sim_stalls) << "SM " << i;
    quota += rtl.sms[i].scheduler_cycles[static_cast<unsigned>(Stall::kQuota)];
    pipeline += rtl.sms[i].scheduler_cycles[static_cast<unsigned>(Stall::kPipeline)];
    sim_pipeline += rtl.sms[i].sim_stalls[static_cast<unsigned>(SimStall::kPipeline)];
  }
  EXPECT_GT(quota, 1000u) << "quotas were spent";
  EXPECT_LE(sim_pipeline, pipeline + quota / 10)
      << "a warp that is ready but has no quota is not looked at";
}

// In every cycle, and not only in sum.
TEST(SimStalls, NeedMasksThatAreComparedInLockstep) {
  LockstepCounts counts;
  RunPair([&](const ControlConfig& config, const PolicyConfig& policy) {
    return MakeLockstepControl(config, MakeReferenceControl(config, policy),
                               MakeRtlControl(config, policy), &counts);
  });
  EXPECT_GT(counts.events, 100'000u);
  EXPECT_EQ(counts.mismatches, 0u);
}

}  // namespace
}  // namespace smk
