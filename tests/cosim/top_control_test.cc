// SPDX-License-Identifier: Apache-2.0
// smk_top as one design beside its parts, wired in C++: the same outputs, registers and decisions
// in every cycle. In configuration gtx980: top_gtx980.cc.
#include "cosim/top_control.h"

#include "cosim/rtl_control.h"
#include "cosim/scenarios.h"

namespace smk::plane {
namespace {

std::unique_ptr<smk::ControlPlane> PartsAndTop(const ControlConfig& config,
                                               const PolicyConfig& policy, LockstepCounts* counts) {
  return MakeLockstepControl(config, MakeRtlControl(config, policy), MakeSmallTopControl(policy),
                             counts);
}

class TopControl : public testing::TestWithParam<DispatchMode> {};

TEST_P(TopControl, EqualsItsPartsOnSmall) { RunScenarios(GetParam(), Small(), 2, 8, PartsAndTop); }

INSTANTIATE_TEST_SUITE_P(Modes, TopControl, testing::ValuesIn(kAllModes),
                         [](const auto& info) { return Name(info.param); });

}  // namespace
}  // namespace smk::plane
