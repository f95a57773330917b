// SPDX-License-Identifier: Apache-2.0
// The RTL beside the reference on a small fake GPU: random kernels that come and go, policies and
// delays; the same scenarios and checks as the reference alone (tests/chip/control_plane_test.cc).
#include "cosim/lockstep_control.h"

#include "control/reference_control.h"
#include "cosim/rtl_control.h"
#include "cosim/scenarios.h"

namespace smk::plane {
namespace {

std::unique_ptr<smk::ControlPlane> Both(const ControlConfig& config, const PolicyConfig& policy,
                                        LockstepCounts* counts) {
  return MakeLockstepControl(config, MakeReferenceControl(config, policy),
                             MakeRtlControl(config, policy), counts);
}

// Every part of the RTL in every cycle, beside the RTL that leaves out what cannot change.
std::unique_ptr<smk::ControlPlane> AllAndSkipping(const ControlConfig& config,
                                                  const PolicyConfig& policy,
                                                  LockstepCounts* counts) {
  RtlOptions all;
  all.evaluate_all = true;
  return MakeLockstepControl(config, MakeRtlControl(config, policy, all),
                             MakeRtlControl(config, policy), counts);
}

class LockstepControl : public testing::TestWithParam<DispatchMode> {};

TEST_P(LockstepControl, EqualsTheReferenceOnGtx980) { RunScenarios(GetParam(), {}, 4, 6, Both); }
TEST_P(LockstepControl, EqualsTheReferenceOnFermi) {
  RunScenarios(GetParam(), Fermi(), 4, 3, Both);
}
TEST_P(LockstepControl, EqualsTheReferenceOnV100) { RunScenarios(GetParam(), V100(), 4, 1, Both); }
TEST_P(LockstepControl, EqualsTheReferenceOnSmall) {
  RunScenarios(GetParam(), Small(), 2, 10, Both);
}
// SMs that are 0 to 8 cycles away from the driver, each as far as it is, in every run others.
TEST_P(LockstepControl, EqualsTheReferenceWithLongLinks) {
  const auto stretch = [](Scenario* s) {
    s->config.link_spread = 4;
    s->config.link_stages = static_cast<std::uint8_t>(s->seed % 5);
    s->config.link_seed = static_cast<std::uint32_t>(s->seed);
  };
  RunScenarios(GetParam(), {}, 4, 3, Both, stretch);
  RunScenarios(GetParam(), Small(), 2, 8, Both, stretch);
}
TEST_P(LockstepControl, SkippingWhatCannotChangeChangesNothing) {
  RunScenarios(GetParam(), Small(), 2, 5, AllAndSkipping);
}

INSTANTIATE_TEST_SUITE_P(Modes, LockstepControl, testing::ValuesIn(kAllModes),
                         [](const auto& info) { return Name(info.param); });

}  // namespace
}  // namespace smk::plane
