// SPDX-License-Identifier: Apache-2.0
// Every law has a checker that finds its violation: bugs are put into a copy of the RTL, one at a
// time, and the assertion named in its tb/<block>/block.toml must be among the first that fail. The
// same stimulus without the bug fails none.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <string>

#include "chip/plane_rig.h"
#include "cosim/configurations.h"
#include "cosim/seeded_plane.h"

namespace {
int chosen_bug = 0;
}  // namespace

// Called by the RTL's copy when a model is built; 0 is the RTL as it is. Named as there.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int smk_seeded_bug() { return chosen_bug; }

namespace smk::plane {
namespace {

struct SeededBug {
  int number;
  const char* name;
  const char* finds;
  DispatchMode mode;
};

constexpr SeededBug kBugs[] = {
#include <bugs.inc>
};

// What a run ended with: assertions that failed in the same cycle, by name.
struct Outcome {
  Cycle cycle = 0;
  std::set<std::string> failed;
};

std::set<std::string> NamesIn(const std::string& log) {
  const std::string before = "Assertion failed in ";
  std::set<std::string> names;
  for (std::size_t at = log.find(before); at != std::string::npos; at = log.find(before, at + 1)) {
    const std::size_t from = at + before.size();
    const std::string path = log.substr(from, log.find(": ", from) - from);
    names.insert(path.substr(path.rfind('.') + 1));
  }
  return names;
}

Scenario SmallScenario(std::uint64_t seed, DispatchMode mode) {
  ControlConfig config = Small();
  config.num_sms = 4;
  Scenario scenario = RandomScenario(seed, mode, &config, 2);
  scenario.policy.kernels_per_sm = 2;
  return scenario;
}

Outcome RunWith(int bug, const Scenario& scenario, Cycle until) {
  chosen_bug = bug;
  SeededPlane plane(scenario.policy, until);
  Outcome outcome;
  testing::internal::CaptureStdout();
  try {
    try {
      Rig(scenario, &plane, nullptr).Run();
    } catch (const Failure&) {
      // The machine sees it within the cycle; the assertions follow at its end or soon after.
      plane.FinishCycle();
      for (int i = 0; i < 3; ++i) plane.QuietCycle();
    }
  } catch (const AssertionFired& fired) {
    outcome.cycle = fired.cycle;
  }
  outcome.failed = NamesIn(testing::internal::GetCapturedStdout());
  return outcome;
}

class SeededBugs : public testing::TestWithParam<SeededBug> {};

TEST_P(SeededBugs, IsFound) {
  const SeededBug& bug = GetParam();
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const Scenario scenario = SmallScenario(seed, bug.mode);
    const Outcome wrong = RunWith(bug.number, scenario, 100000);
    if (wrong.failed.empty()) continue;
    EXPECT_EQ(wrong.failed.count(bug.finds), 1u)
        << "first in seed " << seed << ", cycle " << wrong.cycle << ": " << *wrong.failed.begin();
    EXPECT_TRUE(RunWith(0, scenario, wrong.cycle).failed.empty())
        << "without the bug, seed " << seed;
    return;
  }
  FAIL() << "nothing fails";
}

INSTANTIATE_TEST_SUITE_P(Rtl, SeededBugs, testing::ValuesIn(kBugs),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace smk::plane
