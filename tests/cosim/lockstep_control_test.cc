// SPDX-License-Identifier: Apache-2.0
// The RTL beside the reference on a small fake GPU: random kernels that come and go, policies and
// delays; the same scenarios and checks as the reference alone (tests/unit/control_plane_test.cc).
#include "cosim/lockstep_control.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "base/error.h"
#include "control/reference_control.h"
#include "cosim/rtl_control.h"
#include "unit/plane_rig.h"

namespace smk::plane {
namespace {

std::unique_ptr<smk::ControlPlane> Both(const Scenario& scenario, LockstepCounts* counts) {
  return MakeLockstepControl(scenario.config,
                             MakeReferenceControl(scenario.config, scenario.policy),
                             MakeRtlControl(scenario.config, scenario.policy), counts);
}

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// Runs random scenarios on one GPU. SMK_SEED=n runs only that one; with SMK_SCENARIOS=m, so many
// from there on.
void RunScenarios(DispatchMode mode, const ControlConfig& config, unsigned max_programs,
                  unsigned scenarios) {
  const std::uint64_t seed_set = FromEnvironment("SMK_SEED", 0);
  const std::uint64_t base = seed_set != 0 ? seed_set : 1;
  const std::uint64_t count = FromEnvironment("SMK_SCENARIOS", seed_set != 0 ? 1 : scenarios);
  LockstepCounts counts;
  for (std::uint64_t seed = base; seed < base + count; ++seed) {
    Scenario scenario = RandomScenario(seed, mode, &config, max_programs);
    // As many kernels per SM as there can be is no restriction, whatever the number.
    if (scenario.policy.kernels_per_sm >= max_programs) scenario.policy.kernels_per_sm = 4;
    const auto both = Both(scenario, &counts);
    Rig rig(scenario, both.get(), nullptr);
    try {
      rig.Run();
    } catch (const std::exception& failure) {
      FAIL() << failure.what() << "\n" << Describe(scenario);
    }
  }
  std::cout << Name(mode) << ": seeds " << base << " to " << base + count - 1 << ", "
            << counts.cycles << " cycles, " << counts.events << " outputs compared\n";
  EXPECT_GT(counts.events, 10000u);
}

ControlConfig Fermi() {
  ControlConfig config;
  config.warps_per_scheduler = 12;
  config.limits = {128, 192, 48, 8};
  return config;
}

ControlConfig Small() {
  ControlConfig config;
  config.num_sms = 2;
  config.num_schedulers = 2;
  config.warps_per_scheduler = 4;
  config.limits = {32, 24, 8, 4};
  config.preempted_depth = 8;
  return config;
}

class LockstepControl : public testing::TestWithParam<DispatchMode> {};

TEST_P(LockstepControl, EqualsTheReferenceOnGtx980) { RunScenarios(GetParam(), {}, 4, 6); }
TEST_P(LockstepControl, EqualsTheReferenceOnFermi) { RunScenarios(GetParam(), Fermi(), 4, 3); }
TEST_P(LockstepControl, EqualsTheReferenceOnSmall) { RunScenarios(GetParam(), Small(), 2, 10); }

INSTANTIATE_TEST_SUITE_P(Modes, LockstepControl,
                         testing::Values(DispatchMode::kLeftover, DispatchMode::kEven,
                                         DispatchMode::kSpatial, DispatchMode::kOnDemand,
                                         DispatchMode::kPartitioned, DispatchMode::kTable),
                         [](const auto& info) { return Name(info.param); });

}  // namespace
}  // namespace smk::plane
