// SPDX-License-Identifier: Apache-2.0
// Random scenarios on a control plane that compares two with each other.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>

#include "chip/plane_rig.h"
#include "cosim/configurations.h"
#include "cosim/lockstep_control.h"

namespace smk::plane {

// Makes the control plane that the scenarios run on.
using MakePlane = std::function<std::unique_ptr<smk::ControlPlane>(
    const ControlConfig&, const PolicyConfig&, LockstepCounts*)>;

inline std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

// Runs random scenarios on one GPU. SMK_SEED=n runs only that one; with SMK_SCENARIOS=m, so many
// from there on. `shorten` changes a scenario before it runs.
inline void RunScenarios(
    DispatchMode mode, const ControlConfig& config, unsigned max_programs, unsigned scenarios,
    const MakePlane& make, const std::function<void(Scenario*)>& shorten = [](Scenario*) {}) {
  const std::uint64_t seed_set = FromEnvironment("SMK_SEED", 0);
  const std::uint64_t base = seed_set != 0 ? seed_set : 1;
  const std::uint64_t count = FromEnvironment("SMK_SCENARIOS", seed_set != 0 ? 1 : scenarios);
  LockstepCounts counts;
  for (std::uint64_t seed = base; seed < base + count; ++seed) {
    Scenario scenario = RandomScenario(seed, mode, &config, max_programs);
    // As many kernels per SM as there can be is no restriction, whatever the number.
    if (scenario.policy.kernels_per_sm >= max_programs)
      scenario.policy.kernels_per_sm = kMaxKernels;
    shorten(&scenario);
    const auto plane = make(scenario.config, scenario.policy, &counts);
    Rig rig(scenario, plane.get(), nullptr);
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

constexpr DispatchMode kAllModes[] = {DispatchMode::kLeftover,    DispatchMode::kEven,
                                      DispatchMode::kSpatial,     DispatchMode::kOnDemand,
                                      DispatchMode::kPartitioned, DispatchMode::kTable,
                                      DispatchMode::kSlicer,      DispatchMode::kToken};

}  // namespace smk::plane
