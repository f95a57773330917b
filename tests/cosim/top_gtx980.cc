// SPDX-License-Identifier: Apache-2.0
// smk_top in configuration gtx980 beside its parts, on short scenarios: see top_control_test.cc.
//   ninja -C build/release top_gtx980 && build/release/bin/top_gtx980
#include <algorithm>

#include "cosim/chip/top_control.h"
#include "cosim/rtl_control.h"
#include "cosim/scenarios.h"

namespace smk::plane {
namespace {

std::unique_ptr<smk::ControlPlane> PartsAndTop(const ControlConfig& config,
                                               const PolicyConfig& policy, LockstepCounts* counts) {
  return MakeLockstepControl(config, MakeRtlControl(config, policy), MakeGtx980TopControl(policy),
                             counts);
}

// One launch of few short TBs per program.
void Shorten(Scenario* scenario) {
  for (auto& launches : scenario->programs) {
    launches.resize(1);
    Launch& launch = launches.front();
    launch.descriptor.tb_count = std::min(launch.descriptor.tb_count, 24u);
    launch.instructions = std::min(launch.instructions, 20u);
    launch.gap = std::min<Cycle>(launch.gap, 100);
  }
  scenario->tick_period = 150;
}

class TopGtx980 : public testing::TestWithParam<DispatchMode> {};

TEST_P(TopGtx980, EqualsItsParts) { RunScenarios(GetParam(), {}, 4, 1, PartsAndTop, Shorten); }

INSTANTIATE_TEST_SUITE_P(Modes, TopGtx980, testing::ValuesIn(kAllModes),
                         [](const auto& info) { return Name(info.param); });

}  // namespace
}  // namespace smk::plane
