// SPDX-License-Identifier: Apache-2.0
// The RTL with compiled gates beside the reference, in the scenarios of lockstep_control_test.cc;
// and gates with a fault, which the same comparison finds.
#include <gmock/gmock.h>

#include "base/error.h"
#include "control/reference_control.h"
#include "cosim/lanes/lane_issue.h"
#include "cosim/no_waves.h"
#include "cosim/rtl_control.h"
#include "cosim/rtl_control_of.h"
#include "cosim/scenarios.h"
#include "cosim/seeded_lanes.h"

namespace smk::plane {
namespace {

std::unique_ptr<smk::ControlPlane> Both(const ControlConfig& config, const PolicyConfig& policy,
                                        LockstepCounts* counts) {
  return MakeLockstepControl(config, MakeReferenceControl(config, policy),
                             MakeCompiledControl(config, policy), counts);
}

class LockstepCompiled : public testing::TestWithParam<DispatchMode> {};

TEST_P(LockstepCompiled, EqualsTheReferenceOnGtx980) { RunScenarios(GetParam(), {}, 4, 2, Both); }
TEST_P(LockstepCompiled, EqualsTheReferenceOnFermi) {
  RunScenarios(GetParam(), Fermi(), 4, 1, Both);
}
TEST_P(LockstepCompiled, EqualsTheReferenceOnSmall) {
  RunScenarios(GetParam(), Small(), 2, 6, Both);
}
TEST_P(LockstepCompiled, EqualsTheReferenceWithLongLinks) {
  const auto stretch = [](Scenario* s) {
    s->config.link_spread = 4;
    s->config.link_stages = static_cast<std::uint8_t>(s->seed % 5);
    s->config.link_seed = static_cast<std::uint32_t>(s->seed);
  };
  RunScenarios(GetParam(), {}, 4, 1, Both, stretch);
  RunScenarios(GetParam(), Small(), 2, 4, Both, stretch);
}

// 80 SMs are five words: two to a net, so three groups.
TEST_P(LockstepCompiled, EqualsTheReferenceOnV100) { RunScenarios(GetParam(), V100(), 2, 1, Both); }

INSTANTIATE_TEST_SUITE_P(Modes, LockstepCompiled, testing::ValuesIn(kAllModes),
                         [](const auto& info) { return Name(info.param); });

// What the lockstep says of gates with these faults in the first scenarios in which it says
// anything; "" if it never does.
std::string SaidOf(unsigned scheduler_fault, unsigned profile_fault, std::uint64_t scenarios) {
  FaultyScheduler::chosen = scheduler_fault;
  FaultyProfile::chosen = profile_fault;
  for (std::uint64_t seed = 1; seed <= scenarios; ++seed) {
    for (const DispatchMode mode : {DispatchMode::kPartitioned, DispatchMode::kLeftover}) {
      ControlConfig config = Small();
      config.num_sms = LanesSeeded::Package::NumSms;
      const Scenario scenario = RandomScenario(seed, mode, &config, 2);
      PolicyConfig policy = scenario.policy;
      policy.kernels_per_sm = kMaxKernels;
      const auto plane = MakeLockstepControl(
          config, MakeReferenceControl(config, policy),
          std::make_unique<RtlControl<LanesSeeded, NoWaves, LaneIssue<LanesSeeded>>>(config, policy,
                                                                                     RtlOptions{}),
          nullptr);
      try {
        Rig(scenario, plane.get(), nullptr).Run();
      } catch (const std::exception& failure) {
        return failure.what();
      }
    }
  }
  return "";
}

TEST(LockstepCompiledWithAFault, IsStopped) {
  EXPECT_EQ(SaidOf(0, 0, 3), "") << "without a fault";
  for (const LaneFault& fault : kLaneFaults) {
    const bool scheduler = fault.block == "quota_scheduler";
    EXPECT_NE(SaidOf(scheduler ? fault.number : 0, scheduler ? 0 : fault.number, 60), "")
        << fault.name;
  }
}

TEST(CompiledControl, AnSmThatWasNotPreparedIsNotStepped) {
  PolicyConfig policy;
  policy.kernels_per_sm = 2;
  const auto plane = MakeCompiledControl(Small(), policy);
  EXPECT_TRUE(plane->prepares());
  SmInputs in;
  SmOutputs out;
  HostOutputs host;
  plane->BeginCycle(0, {}, &host);
  plane->PrepareSms(0, SmMask::Of(1), {});
  plane->StepSm(SmId{1}, in, &out);
  EXPECT_THROW(plane->StepSm(SmId{0}, in, &out), CheckFailure);
  EXPECT_THROW(plane->StepSm(SmId{1}, in, &out), CheckFailure) << "a second time";
}

TEST(CompiledControl, OtherMachinesAreRefused) {
  ControlConfig config = Small();
  config.num_sms = 3;
  EXPECT_THROW(MakeCompiledControl(config, {}), InputError);
}

}  // namespace
}  // namespace smk::plane
