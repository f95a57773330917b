// SPDX-License-Identifier: Apache-2.0
// A sweep without a file: the same runs as of a specification, and messages about options.
#include "sweep/words.h"

#include <gmock/gmock.h>

#include "sim/fake.h"
#include "sim/refusal.h"
#include "sweep/plan.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;

class Words : public testing::Test {
 protected:
  SweepPlan Plan() const { return ExpandSweep(SpecOfWords(words), FakeBackend()); }
  std::string Refused() const {
    return Refusal([&] { Plan(); });
  }

  SweepWords words{"a+b", {"policy.epoch_length=1000,4000"}, {}, {}, {}, {}, "5k", {}, {}};
};

std::vector<std::string> SettingsOfShared(const SweepPlan& plan) {
  std::vector<std::string> settings;
  for (const SweepRun& run : plan.runs) {
    if (!run.is_isolated()) settings.push_back(run.policy + " " + run.settings.front());
  }
  return settings;
}

TEST_F(Words, AreTheProductOfTheirLists) {
  words.policies = "smk,smk-pw";
  const SweepPlan plan = Plan();
  EXPECT_THAT(SettingsOfShared(plan),
              ElementsAre("smk policy.epoch_length=1000", "smk-pw policy.epoch_length=1000",
                          "smk policy.epoch_length=4000", "smk-pw policy.epoch_length=4000"));
  EXPECT_EQ(*plan.runs.front().options.cycles, "5k");
}

TEST_F(Words, AreTheRunsOfTheSpecificationThatSaysTheSame) {
  SweepSpec spec;
  SpecExperiment experiment;
  experiment.workloads = {{"a+b", 1}};
  experiment.cycles = {{"5k", 1}};
  experiment.set = {{"policy.epoch_length", {{"1000", 1}, {"4000", 1}}}};
  spec.experiments = {experiment};
  const SweepPlan by_file = ExpandSweep(spec, FakeBackend()), by_words = Plan();
  ASSERT_EQ(by_file.runs.size(), by_words.runs.size());
  for (std::size_t i = 0; i < by_file.runs.size(); ++i) {
    EXPECT_EQ(by_file.runs[i].id, by_words.runs[i].id);
  }
}

TEST_F(Words, NameTheSweepByKernelsAndSweptKeys) {
  EXPECT_EQ(Plan().name, "a+b-policy.epoch_length");
  words.sets = {"policy.epoch_length=1000"};
  EXPECT_EQ(Plan().name, "a+b") << "one value is no sweep";
  words.workloads = "a+b,a";
  EXPECT_EQ(Plan().name, "a+b,a");
  words.workloads = "in/x/k.toml+b";
  EXPECT_EQ(SpecOfWords(words).name, "k+b") << "no folders";
  words.workloads = "a,b,a+b,b+a";
  EXPECT_EQ(SpecOfWords(words).name, "4-workloads");
}

TEST_F(Words, OfATableOfCountsAreOnePolicy) {
  words.policies = "smk,table:1,2";
  EXPECT_EQ(SpecOfWords(words).experiments[0].policies[1].text, "table:1,2");
}

TEST_F(Words, ThatMeanNothingAreRefusedByTheirOption) {
  words.sets = {"policy.epoch_length"};
  EXPECT_EQ(Refused(), "--set: expected KEY=VALUE,VALUE,..., got 'policy.epoch_length'");
  words.sets = {"policy.epoch_length=1000,,2000"};
  EXPECT_EQ(Refused(),
            "--set policy.epoch_length: expected values by commas, each once; got '1000,,2000'");
  words.sets = {"policy.epoch_length=1000,1000"};
  EXPECT_THAT(Refused(), testing::HasSubstr("each once"));
  words.sets = {"policy.epoch_length=1000", "policy.epoch_length=2000"};
  EXPECT_EQ(Refused(), "--set policy.epoch_length: is given twice; write its values with commas");
  words.sets = {"policy.epoch_length=1"};
  EXPECT_EQ(Refused().rfind("--set policy.epoch_length: ", 0), 0u) << Refused();
  words.sets = {};
  words.policies = "smc";
  EXPECT_EQ(Refused().rfind("--policies: ", 0), 0u) << Refused();
  words.policies = "smk";
  words.preempt = "drain";
  EXPECT_EQ(Refused(),
            "--preempt: only the policies spatial, warped-slicer, warped-slicer+w, tokens use it; "
            "expected one "
            "of them");
  words.preempt = "";
  words.workloads = "";
  EXPECT_EQ(Refused().rfind("sweep: no kernels given", 0), 0u) << Refused();
}

TEST(SweepWordsGiven, IsWhetherThereIsMoreThanKernels) {
  SweepWords words;
  words.workloads = "a+b";
  EXPECT_FALSE(words.Given());
  words.seeds = "1,2";
  EXPECT_TRUE(words.Given());
}

}  // namespace
}  // namespace smk::sim
