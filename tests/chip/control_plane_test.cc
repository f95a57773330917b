// SPDX-License-Identifier: Apache-2.0
// The whole control plane against a small fake GPU: random kernels, policies and delays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "chip/plane_rig.h"
#include "control/reference_control.h"

namespace smk::plane {
namespace {

// Runs one scenario; the text of the failure, empty when all checks held.
std::string RunScenario(const Scenario& scenario, RunSummary* summary) {
  const auto eager = MakeReferenceControl(scenario.config, scenario.policy);
  const auto lazy = MakeReferenceControl(scenario.config, scenario.policy);
  Rig rig(scenario, eager.get(), lazy.get());
  try {
    *summary = rig.Run();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

class ControlPlane : public testing::TestWithParam<DispatchMode> {};

TEST_P(ControlPlane, HoldsAllChecksInRandomScenarios) {
  // SMK_SEED=n runs only that scenario; with SMK_SCENARIOS=m, so many from there on.
  const std::uint64_t seed_set = FromEnvironment("SMK_SEED", 0);
  const std::uint64_t base = seed_set != 0 ? seed_set : 1;
  const std::uint64_t count = FromEnvironment("SMK_SCENARIOS", seed_set != 0 ? 1 : 50);
  RunSummary all;
  Cycle longest = 0;
  unsigned failures = 0;
  for (std::uint64_t seed = base; seed < base + count && failures < 5; ++seed) {
    const Scenario scenario = RandomScenario(seed, GetParam());
    RunSummary summary;
    const std::string failure = RunScenario(scenario, &summary);
    EXPECT_EQ(failure, "") << Describe(scenario);
    failures += failure.empty() ? 0 : 1;
    longest = std::max(longest, summary.cycles);
    all.cycles += summary.cycles;
    all.grants += summary.grants;
    all.skipped += summary.skipped;
    all.reloads += summary.reloads;
    all.counts.preemptions += summary.counts.preemptions;
    all.counts.completed += summary.counts.completed;
    all.counts.saved += summary.counts.saved;
    all.counts.flushed += summary.counts.flushed;
    all.counts.restored += summary.counts.restored;
  }
  std::cout << Name(GetParam()) << ": seeds " << base << " to " << base + count - 1 << ", "
            << all.cycles << " cycles (longest " << longest << "), " << all.grants << " grants, "
            << all.reloads << " quota reloads, " << all.counts.preemptions << " preemptions, "
            << all.counts.completed << " TBs completed, " << all.counts.saved << " saved, "
            << all.counts.restored << " restored, " << all.counts.flushed << " flushed, "
            << all.skipped << " SM steps skipped\n";
}

INSTANTIATE_TEST_SUITE_P(Modes, ControlPlane,
                         testing::Values(DispatchMode::kLeftover, DispatchMode::kEven,
                                         DispatchMode::kSpatial, DispatchMode::kOnDemand,
                                         DispatchMode::kPartitioned, DispatchMode::kTable,
                                         DispatchMode::kSlicer, DispatchMode::kToken),
                         [](const auto& info) { return Name(info.param); });

}  // namespace
}  // namespace smk::plane
