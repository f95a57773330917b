// SPDX-License-Identifier: Apache-2.0
// A specification as its file says it: defaults, lists, lines, and every mistake in full.
#include <gmock/gmock.h>

#include "sim/refusal.h"
#include "sim/scratch.h"
#include "sweep/spec.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

std::vector<std::string> Texts(const std::vector<SpecText>& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const SpecText& item : list) texts.push_back(item.text);
  return texts;
}

class SpecFiles : public ScratchTest {
 protected:
  SweepSpec Load(const std::string& text) const { return LoadSweepSpec(Write("my.toml", text)); }
  // What is refused, without the file's name.
  std::string Said(const std::string& text) const {
    std::string said = Refusal([&] { Load(text); });
    if (said == "accepted") return said;
    EXPECT_THAT(said, StartsWith(Path("my.toml") + ":"));
    return said.substr(Path("my.toml").size() + 1);
  }
};

TEST_F(SpecFiles, WhatIsNotSaidIsUsual) {
  const SweepSpec spec = Load("workloads = 'a+b'\n");
  EXPECT_EQ(spec.name, "my") << "the file's";
  EXPECT_EQ(spec.path, Path("my.toml"));
  EXPECT_EQ(spec.text, "workloads = 'a+b'\n");
  ASSERT_EQ(spec.experiments.size(), 1u);
  const SpecExperiment& e = spec.experiments[0];
  EXPECT_EQ(e.name, "my");
  EXPECT_EQ(e.prefix, "");
  EXPECT_THAT(Texts(e.workloads), ElementsAre("a+b"));
  EXPECT_THAT(Texts(e.policies), ElementsAre("smk-pw"));
  EXPECT_THAT(Texts(e.preempt), ElementsAre());
  EXPECT_THAT(Texts(e.machines), ElementsAre("gtx980"));
  EXPECT_THAT(Texts(e.control), ElementsAre("reference"));
  EXPECT_THAT(Texts(e.cycles), ElementsAre("2000000"));
  EXPECT_THAT(Texts(e.seeds), ElementsAre("1"));
  EXPECT_TRUE(e.kernels.empty() && e.groups.empty() && e.arrive.empty() && e.set.empty());
  EXPECT_EQ(e.count_line, 0u);
  EXPECT_EQ(e.mix_seed, 1u);
  EXPECT_TRUE(e.repeat);
}

TEST_F(SpecFiles, EveryKeyIsTaken) {
  const SpecExperiment e = Load(R"(
name = "x"
description = "why"
workloads = ["random-pairs", "a+b"]
kernels = ["a", "b"]
groups = "C+M"
policies = ["even", "smk"]
preempt = ["drain"]
machines = ["m1", "m2"]
control = "rtl"
cycles = [1000, "2k", 1.5e3]
seeds = [1, 2, 3]
arrive = ["b@100"]
count = 7
mix_seed = 0
repeat = false
[set]
sm.l1.bytes = [16384, 32768]
"policy.epoch_length" = 500
run.ideal_preemption = true
)")
                               .experiments[0];
  EXPECT_EQ(e.name, "x");
  EXPECT_THAT(Texts(e.workloads), ElementsAre("random-pairs", "a+b"));
  EXPECT_THAT(Texts(e.kernels), ElementsAre("a", "b"));
  EXPECT_THAT(Texts(e.groups), ElementsAre("C+M"));
  EXPECT_THAT(Texts(e.policies), ElementsAre("even", "smk"));
  EXPECT_THAT(Texts(e.preempt), ElementsAre("drain"));
  EXPECT_THAT(Texts(e.machines), ElementsAre("m1", "m2"));
  EXPECT_THAT(Texts(e.control), ElementsAre("rtl"));
  EXPECT_THAT(Texts(e.cycles), ElementsAre("1000", "2k", "1500.0"));
  EXPECT_THAT(Texts(e.seeds), ElementsAre("1", "2", "3"));
  EXPECT_THAT(Texts(e.arrive), ElementsAre("b@100"));
  EXPECT_EQ(e.count, 7u);
  EXPECT_EQ(e.count_line, 14u);
  EXPECT_EQ(e.mix_seed, 0u);
  EXPECT_FALSE(e.repeat);
  ASSERT_EQ(e.set.size(), 3u);
  std::map<std::string, std::vector<std::string>> sets;
  for (const SpecAxis& axis : e.set) sets[axis.key] = Texts(axis.values);
  EXPECT_THAT(sets["sm.l1.bytes"], ElementsAre("16384", "32768"));
  EXPECT_THAT(sets["policy.epoch_length"], ElementsAre("500"));
  EXPECT_THAT(sets["run.ideal_preemption"], ElementsAre("true"));
}

TEST_F(SpecFiles, ValuesKnowTheirLines) {
  const SpecExperiment e =
      Load("workloads = [\n'a+b',\n'a+c',\n]\n\npolicies = 'smk'\n[set]\nx = [1,\n2]\n")
          .experiments[0];
  EXPECT_EQ(e.workloads[0].line, 2u);
  EXPECT_EQ(e.workloads[1].line, 3u);
  EXPECT_EQ(e.policies[0].line, 6u);
  EXPECT_EQ(e.set[0].values[1].line, 9u);
}

TEST_F(SpecFiles, ExperimentsBeginWithWhatStandsAboveThem) {
  const SweepSpec spec = Load(R"(
name = "both"
workloads = "a+b"
policies = ["even"]
[set]
x = 1
y = 2
[[experiment]]
name = "first"
[[experiment]]
name = "second"
policies = ["smk", "smk-p"]
[experiment.set]
x = [3, 4]
z = 5
)");
  EXPECT_EQ(spec.name, "both");
  ASSERT_EQ(spec.experiments.size(), 2u);
  const SpecExperiment &first = spec.experiments[0], &second = spec.experiments[1];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.prefix, "experiment.");
  EXPECT_EQ(first.line, 8u);
  EXPECT_THAT(Texts(first.policies), ElementsAre("even"));
  EXPECT_EQ(first.set.size(), 2u);
  EXPECT_THAT(Texts(second.policies), ElementsAre("smk", "smk-p"));
  EXPECT_THAT(Texts(second.workloads), ElementsAre("a+b"));
  std::map<std::string, std::vector<std::string>> sets;
  for (const SpecAxis& axis : second.set) sets[axis.key] = Texts(axis.values);
  EXPECT_THAT(sets["x"], ElementsAre("3", "4")) << "in the place of the other";
  EXPECT_THAT(sets["y"], ElementsAre("2"));
  EXPECT_THAT(sets["z"], ElementsAre("5"));
}

TEST_F(SpecFiles, UnknownKeysAreTold) {
  EXPECT_EQ(Said("workload = 'a'\n"), "1: workload: unknown key; expected one like 'workloads'");
  EXPECT_EQ(Said("workloads = 'a'\n[[experiment]]\nname = 'x'\npolicy = 'smk'\n"),
            "4: experiment.policy: unknown key; expected one like 'policies'");
  EXPECT_EQ(Said("workloads = 'a'\nexperiments = 1\n"),
            "2: experiments: unknown key; expected one like 'experiment'");
}

TEST_F(SpecFiles, ValuesOfAnotherKindAreTold) {
  const std::string with = "workloads = 'a'\n";
  EXPECT_EQ(Said("workloads = []\n"), "1: workloads: expected at least one value");
  EXPECT_EQ(Said("workloads = ''\n"), "1: workloads: expected a value or a list of values");
  EXPECT_EQ(Said("workloads = ['a', ['b']]\n"),
            "1: workloads: expected a value or a list of values");
  EXPECT_EQ(Said("workloads = { a = 1 }\n"), "1: workloads: expected a value or a list of values");
  EXPECT_EQ(Said("seeds = 1979-05-27\n"), "1: seeds: expected a value or a list of values");
  EXPECT_EQ(Said(with + "count = 0\n"), "2: count: expected a whole number from 1 on");
  EXPECT_EQ(Said(with + "count = 'x'\n"), "2: count: expected a whole number from 1 on");
  EXPECT_EQ(Said(with + "mix_seed = -1\n"), "2: mix_seed: expected a whole number");
  EXPECT_EQ(Said(with + "mix_seed = 1.5\n"), "2: mix_seed: expected a whole number");
  EXPECT_EQ(Said(with + "repeat = 'no'\n"), "2: repeat: expected true or false");
  EXPECT_EQ(Said(with + "set = 5\n"),
            "2: set: expected a table of key = value or key = [value, ...]");
  EXPECT_EQ(Said(with + "[set]\nx = []\n"), "3: set.x: expected at least one value");
  EXPECT_EQ(Said(with + "[set]\na.b = [[1]]\n"),
            "3: set.a.b: expected a value or a list of values");
  EXPECT_EQ(Said(with + "name = 5\n"), "2: name: expected a text");
  EXPECT_EQ(Said(with + "name = ''\n"), "2: name: expected a text");
  EXPECT_EQ(Said(with + "description = [1]\n"), "2: description: expected a text");
}

TEST_F(SpecFiles, ExperimentsHaveNamesOfTheirOwn) {
  const std::string with = "workloads = 'a'\n";
  EXPECT_EQ(Said(with + "[[experiment]]\n"),
            "2: experiment.name: expected a name that no other has");
  EXPECT_EQ(Said(with + "[[experiment]]\nname = 'x'\n[[experiment]]\nname = 'x'\n"),
            "4: experiment.name: expected a name that no other has");
  EXPECT_EQ(Said(with + "experiment = 5\n"), "2: experiment: expected tables [[experiment]]");
  EXPECT_EQ(Said(with + "experiment = []\n"), "2: experiment: expected tables [[experiment]]");
  EXPECT_EQ(Said(with + "experiment = [5]\n"), "2: experiment: expected tables [[experiment]]");
  EXPECT_EQ(Said(with + "[experiment]\nname = 'x'\n"),
            "2: experiment: expected tables [[experiment]]");
}

TEST_F(SpecFiles, EachExperimentNeedsWorkloads) {
  EXPECT_EQ(
      Said("name = 'x'\n"),
      "1: workloads: expected a list of workloads or all-pairs, random-triples and the like, or "
      "streams");
  EXPECT_EQ(Said("[[experiment]]\nname = 'x'\nworkloads = 'a'\n[[experiment]]\nname = 'y'\n"),
            "4: experiment.workloads: expected a list of workloads or all-pairs, random-triples "
            "and the like, or streams");
  EXPECT_EQ(Said("").substr(0, 13), "1: workloads:");
}

TEST_F(SpecFiles, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(Refusal([&] { LoadSweepSpec(Path("no.toml")); }), Path("no.toml") + ": cannot be read");
}

TEST_F(SpecFiles, DamageIsAnInputErrorNeverAnotherOne) {
  Chance chance;
  const std::string good =
      "name = 'x'\nworkloads = ['a+b', 'all-pairs']\ncount = 3\n[set]\na.b = [1, 2]\n"
      "[[experiment]]\nname = 'y'\nseeds = [1, 2]\nrepeat = true\n";
  for (int round = 0; round < 500; ++round) {
    std::string text = good;
    for (std::uint64_t edits = 1 + chance.Below(4); edits > 0; --edits) {
      text[chance.Below(text.size())] = "[]='\n.,#0{}"[chance.Below(11)];
    }
    const std::string said = Said(text);
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace smk::sim
