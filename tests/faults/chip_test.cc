// SPDX-License-Identifier: Apache-2.0
// The whole small chip under a planted fault: smk_top as one model, with links of 5 and 2 stages,
// beside the reference; and alone, under its assertions and the laws of the machine.
#include "control/reference_control.h"
#include "cosim/chip/top_control.h"
#include "cosim/lockstep_control.h"
#include "cosim/scenarios.h"

namespace smk::plane {
namespace {

// The links of MakeLinkedTopControl.
ControlConfig Linked() {
  ControlConfig config = Small();
  config.link_spread = 8;
  config.link_seed = 12;
  return config;
}

std::unique_ptr<smk::ControlPlane> Both(const ControlConfig& config, const PolicyConfig& policy,
                                        LockstepCounts* counts) {
  return MakeLockstepControl(config, MakeReferenceControl(config, policy),
                             MakeLinkedTopControl(policy), counts);
}
// Nothing is compared; the machine of the scenarios checks what it sees.
std::unique_ptr<smk::ControlPlane> TopOnly(const ControlConfig&, const PolicyConfig& policy,
                                           LockstepCounts* counts) {
  counts->events += 10001;
  return MakeLinkedTopControl(policy);
}

class FaultyChip : public testing::TestWithParam<DispatchMode> {};

TEST_P(FaultyChip, EqualsTheReference) { RunScenarios(GetParam(), Linked(), 2, 8, Both); }
TEST_P(FaultyChip, HoldsItsLawsAlone) { RunScenarios(GetParam(), Linked(), 2, 8, TopOnly); }

INSTANTIATE_TEST_SUITE_P(Modes, FaultyChip, testing::ValuesIn(kAllModes),
                         [](const auto& info) { return Name(info.param); });

}  // namespace
}  // namespace smk::plane
