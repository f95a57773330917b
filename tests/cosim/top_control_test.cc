// SPDX-License-Identifier: Apache-2.0
// smk_top as one design beside its parts, wired in C++: the same outputs, registers and decisions
// in every cycle. In configuration gtx980: top_gtx980.cc.
#include "cosim/chip/top_control.h"

#include "cosim/rtl_control.h"
#include "cosim/scenarios.h"

namespace smk::plane {
namespace {

std::unique_ptr<smk::ControlPlane> PartsAndTop(const ControlConfig& config,
                                               const PolicyConfig& policy, LockstepCounts* counts) {
  return MakeLockstepControl(config, MakeRtlControl(config, policy), MakeSmallTopControl(policy),
                             counts);
}

// The links of MakeLinkedTopControl.
ControlConfig Linked() {
  ControlConfig config = Small();
  config.link_spread = 8;
  config.link_seed = 12;
  return config;
}
std::unique_ptr<smk::ControlPlane> PartsAndLinkedTop(const ControlConfig& config,
                                                     const PolicyConfig& policy,
                                                     LockstepCounts* counts) {
  EXPECT_EQ(config.LinkStages(0), 5u);
  EXPECT_EQ(config.LinkStages(1), 2u);
  return MakeLockstepControl(config, MakeRtlControl(config, policy), MakeLinkedTopControl(policy),
                             counts);
}

class TopControl : public testing::TestWithParam<DispatchMode> {};

TEST_P(TopControl, EqualsItsPartsOnSmall) { RunScenarios(GetParam(), Small(), 2, 8, PartsAndTop); }
TEST_P(TopControl, EqualsItsPartsWithLongLinks) {
  RunScenarios(GetParam(), Linked(), 2, 8, PartsAndLinkedTop);
}

INSTANTIATE_TEST_SUITE_P(Modes, TopControl, testing::ValuesIn(kAllModes),
                         [](const auto& info) { return Name(info.param); });

}  // namespace
}  // namespace smk::plane
