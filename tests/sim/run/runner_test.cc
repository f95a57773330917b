// SPDX-License-Identifier: Apache-2.0
#include "run/runner.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "experiment/knobs.h"
#include "sim/fake.h"
#include "sim/other_value.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

class RunnerTest : public ScratchTest {
 protected:
  Experiment Make(const std::string& kernels) {
    Options options;
    options.kernels = kernels;
    options.cycles = "16000";
    return Resolve(options, backend);
  }
  RunnerOptions Cached() const { return {2, true, Path("cache")}; }
  std::size_t Entries() const { return Names("cache").size(); }

  Backend backend = FakeBackend();
};

TEST_F(RunnerTest, NormalizesToIsolatedRuns) {
  const Experiment experiment = Make("a+b");
  Runner runner(backend, experiment, {2, true, ""});
  const Results results = runner.Run(FindPolicy("smk", 2), {});
  ASSERT_EQ(results.metrics.normalized.size(), 2u);
  EXPECT_DOUBLE_EQ(*results.metrics.normalized[0], 0.5);
  EXPECT_DOUBLE_EQ(*results.metrics.stp, 1.0);
  EXPECT_DOUBLE_EQ(*results.metrics.antt, 2.0);
  EXPECT_DOUBLE_EQ(*results.metrics.fairness, 1.0);
}

TEST_F(RunnerTest, BaselineHasStpOneByDefinition) {
  const Experiment experiment = Make("a+b+a");
  Runner runner(backend, experiment, {2, true, ""});
  const Results results = runner.Run(FindPolicy("isolated", 3), {});
  EXPECT_EQ(results.result.kernels.size(), 3u);
  EXPECT_EQ(results.result.kernels[2].name, "a");
  EXPECT_DOUBLE_EQ(*results.metrics.stp, 1.0);
  EXPECT_DOUBLE_EQ(*results.metrics.antt, 1.0);
  EXPECT_EQ(results.result.sms[0].warp_instructions[1], results.result.sms[0].warp_instructions[0]);
}

TEST_F(RunnerTest, IsolatedRunsAreKept) {
  const Experiment experiment = Make("a+b+a");
  const Results first = Runner(backend, experiment, Cached()).Run(FindPolicy("smk", 3), {});
  EXPECT_EQ(first.isolated_from_cache, (std::vector<bool>{false, false, false}));
  EXPECT_EQ(Entries(), 2u);
  const Results second = Runner(backend, experiment, Cached()).Run(FindPolicy("smk", 3), {});
  EXPECT_EQ(second.isolated_from_cache, (std::vector<bool>{true, true, true}));
  EXPECT_EQ(first.metrics.ipc, second.metrics.ipc);
  EXPECT_EQ(*first.metrics.stp, *second.metrics.stp);
}

TEST_F(RunnerTest, WhatDecidesAResultIsInTheKey) {
  Experiment experiment = Make("a");
  const auto run = [&] { Runner(backend, experiment, Cached()).Run(FindPolicy("smk", 1), {}); };
  run();
  EXPECT_EQ(Entries(), 1u);
  experiment.cycles = 32000;
  run();
  experiment.seed = 2;
  run();
  experiment.machine_toml = "# other\n" + experiment.machine_toml;
  run();
  experiment.repeat = false;
  run();
  EXPECT_EQ(Entries(), 5u);
  // Of the knobs, those that matter to an isolated run, in their place in Knobs().
  std::size_t entries = 5;
  for (const Knob* knob : SettableKnobs()) {
    experiment.settings = {{knob, OtherValue(*knob)}};
    run();
    if (knob->alone) ++entries;
    EXPECT_EQ(Entries(), entries) << knob->path;
  }
}

// What copies take decides runs with copies alone.
TEST_F(RunnerTest, CopiesAndTheirKeysAreInTheKeyOfThoseThatHaveSome) {
  Experiment experiment = Make("a");
  const auto run = [&] { Runner(backend, experiment, Cached()).Run(FindPolicy("smk", 1), {}); };
  run();
  const std::string machine = experiment.machine_toml;
  experiment.machine_toml += "# at the end of [host]";
  run();
  EXPECT_EQ(Entries(), 1u);
  experiment.copies = {{4096, 0}};
  experiment.repeat = false;
  run();
  EXPECT_EQ(Entries(), 2u);
  experiment.machine_toml = machine;
  run();
  EXPECT_EQ(Entries(), 3u);
  experiment.copies = {{4096, 1}};
  run();
  EXPECT_EQ(Entries(), 4u);
}

TEST_F(RunnerTest, DamagedEntriesAreMadeAgainWithOneWarning) {
  const Experiment experiment = Make("a+b");
  const Policy policy = FindPolicy("smk", 2);
  Runner(backend, experiment, Cached()).Run(policy, {});
  for (const std::string& name : Names("cache")) Write("cache/" + name, "{\"result\":");
  testing::internal::CaptureStderr();
  const Results results = Runner(backend, experiment, Cached()).Run(policy, {});
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1) << warnings;
  EXPECT_EQ(results.isolated_from_cache, (std::vector<bool>{false, false}));
  const Results again = Runner(backend, experiment, Cached()).Run(policy, {});
  EXPECT_EQ(again.isolated_from_cache, (std::vector<bool>{true, true}));
}

TEST_F(RunnerTest, UnusableCacheIsOneWarning) {
  Write("cache", "a file, not a folder");
  const Experiment experiment = Make("a+b");
  testing::internal::CaptureStderr();
  Runner(backend, experiment, Cached()).Run(FindPolicy("smk", 2), {});
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1) << warnings;
  EXPECT_EQ(warnings.rfind("smk: warning: ", 0), 0u) << warnings;
}

TEST_F(RunnerTest, LateArrivalCountsFromItsArrival) {
  Experiment experiment = Make("a+b");
  experiment.arrivals[1] = 8000;
  Runner runner(backend, experiment, {2, true, ""});
  const Results results = runner.Run(FindPolicy("smk", 2), {});
  EXPECT_DOUBLE_EQ(*results.metrics.normalized[1], 1.0);
}

TEST_F(RunnerTest, CompareGivesWhatRunGives) {
  const Experiment experiment = Make("a+b");
  const std::vector<Policy> policies = {FindPolicy("smk", 2), FindPolicy("isolated", 2),
                                        FindPolicy("even", 2)};
  const auto runs = Runner(backend, experiment, {3, true, ""}).Compare(policies, {});
  ASSERT_EQ(runs.size(), 3u);
  for (std::size_t i = 0; i < policies.size(); ++i) {
    auto alone = StatsJson(Runner(backend, experiment, {1, true, ""}).Run(policies[i], {}));
    auto together = StatsJson(runs[i]);
    alone.erase("wall");
    together.erase("wall");
    EXPECT_EQ(alone, together) << policies[i].name;
  }
}

TEST_F(RunnerTest, StatisticsThatDoNotAddUpAreAFailure) {
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    RunResult result = FakeResult(request);
    ++result.sms[3].scheduler_cycles[1];
    return result;
  };
  const Experiment experiment = Make("a");
  Runner runner(backend, experiment, {1, true, ""});
  try {
    runner.Run(FindPolicy("isolated", 1), {});
    FAIL();
  } catch (const CheckFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("SM 3"), std::string::npos) << failure.what();
  }
}

}  // namespace
}  // namespace smk::sim
