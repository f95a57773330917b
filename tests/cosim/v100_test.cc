// SPDX-License-Identifier: Apache-2.0
// Whole runs on 80 SMs, the RTL beside the reference: the machine v100, programs of Parboil, one of
// which arrives when the other is on all SMs.
#include <gtest/gtest.h>

#include <set>

#include "config/machine_config.h"
#include "control/reference_control.h"
#include "cosim/lockstep_control.h"
#include "cosim/rtl_control.h"
#include "host/simulation.h"
#include "machine/control_config.h"
#include "workload/workload_file.h"

namespace smk {
namespace {

struct PolicyCase {
  const char* name;
  const char* first;  // program on all SMs
  DispatchMode dispatch;
  PreemptMode preempt = PreemptMode::kSwitch;
  bool quota = false;
  unsigned preempted_sms = 0;  // SMs on which TBs are saved or flushed, at least
  unsigned shared_sms = 80;    // SMs on which TBs of the program that arrives start, at least
  Cycle cycles = 12'000;
};

class V100InLockstep : public testing::TestWithParam<PolicyCase> {};

TEST_P(V100InLockstep, EqualsTheReference) {
  RunRequest request;
  request.machine = MachineConfig::Load(FindMachine("v100", SMK_SOURCE_DIR));
  ASSERT_EQ(request.machine.sms, 80u);
  request.policy.dispatch = GetParam().dispatch;
  request.policy.preempt = GetParam().preempt;
  request.policy.quota_enable = GetParam().quota;
  request.jobs = {{FindWorkload(GetParam().first, SMK_SOURCE_DIR), 0, true},
                  {FindWorkload("sgemm", SMK_SOURCE_DIR), 3000, true}};
  request.cycles = GetParam().cycles;
  request.record_tbs = true;
  const ControlConfig config = ControlConfigOf(request.machine);
  LockstepCounts counts;
  const RunResult result = RunSimulation(
      request, MakeLockstepControl(config, MakeReferenceControl(config, request.policy),
                                   MakeRtlControl(config, request.policy), &counts));
  EXPECT_EQ(counts.mismatches, 0u);
  std::set<unsigned> preempted, shared;
  for (const TbRecord& tb : result.tbs) {
    if (tb.outcome == 'S' || tb.outcome == 'F') preempted.insert(Index(tb.sm));
    if (Index(tb.job) == 1) shared.insert(Index(tb.sm));
  }
  std::cout << GetParam().name << ": " << counts.cycles << " cycles, " << counts.events
            << " outputs compared, TBs preempted on " << preempted.size()
            << " SMs, both kernels on " << shared.size() << "\n";
  EXPECT_GT(counts.events, 1'000'000u);
  EXPECT_GE(preempted.size(), GetParam().preempted_sms);
  EXPECT_GE(shared.size(), GetParam().shared_sms);
}

constexpr PreemptMode kSwitch = PreemptMode::kSwitch, kDrain = PreemptMode::kDrain,
                      kFlush = PreemptMode::kFlush;

INSTANTIATE_TEST_SUITE_P(
    Policies, V100InLockstep,
    testing::Values(
        PolicyCase{"leftover", "histo", DispatchMode::kLeftover},
        PolicyCase{"even", "histo", DispatchMode::kEven, kSwitch, false, 50},
        PolicyCase{"spatial", "histo", DispatchMode::kSpatial, kSwitch, false, 20, 40},
        PolicyCase{"spatial_drain", "histo", DispatchMode::kSpatial, kDrain, false, 0, 40},
        PolicyCase{"spatial_flush", "lbm", DispatchMode::kSpatial, kFlush, false, 20, 40, 14'000},
        PolicyCase{"smk", "mri-q", DispatchMode::kOnDemand, kSwitch, false, 40, 80, 20'000},
        PolicyCase{"smk_p", "histo", DispatchMode::kPartitioned, kSwitch, false, 50, 70},
        PolicyCase{"smk_pw", "histo", DispatchMode::kPartitioned, kSwitch, true, 30, 70}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace smk
