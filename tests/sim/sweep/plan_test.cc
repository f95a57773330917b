// SPDX-License-Identifier: Apache-2.0
// The plan of a sweep against a stand-in: products, names, isolated runs, and the command that is
// the same run.
#include "sweep/plan.h"

#include <gmock/gmock.h>

#include "run/oracle.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A stand-in with the machines of the project and kernels a, b (compute) and m (memory).
Backend PlanBackend() {
  const Backend real = MakeBackend();
  Backend backend = FakeBackend();
  backend.find_machine = real.find_machine;
  backend.load_machine = real.load_machine;
  backend.list_workloads = [] {
    return std::vector<std::string>{"parboil/a", "parboil/b", "parboil/m", "other/x"};
  };
  backend.find_workload = [](const std::string& name) {
    if (name == "gone") throw InputError("no workload 'gone'");
    auto workload = std::make_shared<Workload>(*FakeWorkload(name));
    workload->type = name == "m" ? "memory" : "compute";
    return workload;
  };
  return RememberingBackend(backend);
}

class Plans : public ScratchTest {
 protected:
  SweepPlan Plan(const std::string& spec) const {
    return ExpandSweep(LoadSweepSpec(Write("s.toml", "cycles = '5k'\n" + spec)), backend);
  }
  // What is said of line `line` of the specification, behind its place.
  std::string Said(const std::string& spec) const {
    const std::string said = Refusal([&] { Plan(spec); });
    EXPECT_THAT(said, StartsWith(Path("s.toml") + ":"));
    return said.substr(std::min(said.size(), Path("s.toml").size() + 1));
  }
  static std::vector<std::string> Workloads(const SweepPlan& plan) {
    std::vector<std::string> names;
    for (const SweepRun& run : plan.runs) {
      if (!run.is_isolated()) names.push_back(run.workload);
    }
    return names;
  }
  static const SweepRun& Last(const SweepPlan& plan) { return plan.runs.back(); }

  Backend backend = PlanBackend();
};

TEST_F(Plans, IsolatedRunsComeFirstAndAreShared) {
  const SweepPlan plan = Plan("workloads = ['a+b', 'b+a', 'a+a']\npolicies = ['even', 'smk']\n");
  std::vector<std::string> names;
  for (const SweepRun& run : plan.runs) names.push_back(run.workload + " " + run.policy);
  EXPECT_THAT(names, ElementsAre("a isolated", "b isolated", "a+b even", "a+b smk", "b+a even",
                                 "b+a smk", "a+a even", "a+a smk"));
  const std::string &a = plan.runs[0].id, &b = plan.runs[1].id;
  EXPECT_THAT(plan.runs[0].isolated, ElementsAre(a)) << "it names itself";
  EXPECT_THAT(plan.runs[2].isolated, ElementsAre(a, b));
  EXPECT_THAT(plan.runs[4].isolated, ElementsAre(b, a)) << "by slot";
  EXPECT_THAT(plan.runs[6].isolated, ElementsAre(a, a));
}

TEST_F(Plans, TheBaselineIsTheIsolatedRunsThemselves) {
  const SweepPlan plan = Plan("workloads = 'a+b'\npolicies = ['isolated', 'smk']\n");
  EXPECT_EQ(plan.runs.size(), 3u);
  EXPECT_THAT(Workloads(Plan("workloads = 'a+b'\npolicies = 'isolated'\n")), ElementsAre());
}

TEST_F(Plans, AnIsolatedRunDependsOnWhatMattersAloneOnly) {
  // The policy's knobs do not matter alone, the machine does.
  const auto isolated = [&](const std::string& set) {
    const SweepPlan plan = Plan("workloads = 'a+b'\n[set]\n" + set + "\n");
    return std::count_if(plan.runs.begin(), plan.runs.end(),
                         [](const SweepRun& run) { return run.is_isolated(); });
  };
  EXPECT_EQ(isolated("policy.epoch_length = [500, 1000, 2000]"), 2);
  EXPECT_EQ(isolated("'sm.l1.bytes' = [16384, 32768, 49152]"), 6);
  for (const Knob* knob : SettableKnobs()) {
    const std::string usual = knob->print(Configuration{});
    const std::string other = knob->expected.substr(0, knob->expected.find_first_of(", "));
    if (usual == other || knob->is_word || knob->expected.find(" to ") == std::string::npos) {
      continue;
    }
    EXPECT_EQ(isolated(knob->path + " = [" + usual + ", " + other + "]"), knob->alone ? 4 : 2)
        << knob->path;
  }
}

TEST_F(Plans, WhatAPolicyDoesNotUseMakesNoMoreRuns) {
  const SweepPlan plan = Plan(
      "workloads = 'a+b'\npolicies = ['spatial', 'smk']\npreempt = ['switch', 'drain', 'flush']\n");
  std::vector<std::string> runs;
  for (const SweepRun& run : plan.runs) {
    if (!run.is_isolated()) runs.push_back(run.policy + " " + run.preempt);
  }
  EXPECT_THAT(runs, ElementsAre("spatial switch", "spatial drain", "spatial flush", "smk "));
}

// [Warped-Slicer] Sec. V-A: the best of all fixed ones, which are runs like all others.
TEST_F(Plans, TheOracleIsAllRunsOfWhichItIsTheBest) {
  const SweepPlan plan = Plan("workloads = 'a+b'\npolicies = ['even', 'oracle', 'smk']\n");
  std::vector<std::string> runs, expected = {"even"};
  for (const SweepRun& run : plan.runs) {
    if (!run.is_isolated()) runs.push_back(run.policy);
  }
  Options options;
  options.kernels = "a+b";
  for (const Policy& policy : OracleCandidates(Resolve(options, backend))) {
    if (policy.name != "even") expected.push_back(policy.name);
  }
  expected.emplace_back("smk");
  EXPECT_GT(runs.size(), 5u);
  EXPECT_EQ(runs, expected);
  EXPECT_EQ(Said("workloads = 'a+b'\npolicies = 'oracle:1'\n").substr(0, 12), "3: policies:");
}

TEST_F(Plans, TbsLeaveAsIsUsualForThePolicyUnlessPreemptIsGiven) {
  const auto runs = [&](const std::string& preempt) {
    std::vector<std::string> texts;
    for (const SweepRun& run :
         Plan("workloads = 'a+b'\npolicies = ['spatial', 'warped-slicer', 'even']\n" + preempt)
             .runs) {
      if (!run.is_isolated()) texts.push_back(run.policy + " " + run.preempt);
    }
    return texts;
  };
  EXPECT_THAT(runs(""), ElementsAre("spatial switch", "warped-slicer drain", "even "));
  EXPECT_THAT(runs("preempt = ['drain', 'switch']\n"),
              ElementsAre("spatial drain", "spatial switch", "warped-slicer drain",
                          "warped-slicer switch", "even "));
  EXPECT_EQ(Said("workloads = 'a+b'\npolicies = 'warped-slicer+w'\npreempt = 'flush'\n"),
            "4: preempt: warped-slicer+w takes switch, drain or chimera, not flush");
}

TEST_F(Plans, GroupsAreThoseOfTheTypes) {
  const SweepPlan plan = Plan("workloads = ['a+b', 'm+a', 'm', 'm+a+m']\npolicies = 'smk'\n");
  std::vector<std::string> groups;
  for (const SweepRun& run : plan.runs) {
    if (!run.is_isolated()) groups.push_back(run.group);
  }
  EXPECT_THAT(groups, ElementsAre("C+C", "C+M", "M", "C+M+M"));
  const std::string all = "workloads = 'all-pairs'\n";
  EXPECT_THAT(Workloads(Plan(all)), ElementsAre("a+b", "a+m", "b+m")) << "of parboil alone";
  EXPECT_THAT(Workloads(Plan(all + "groups = 'C+M'\n")), ElementsAre("a+m", "b+m"));
  EXPECT_THAT(Workloads(Plan(all + "groups = ['M+C', 'CC']\n")), ElementsAre("a+b", "a+m", "b+m"));
  EXPECT_EQ(Said(all + "groups = 'M+M'\n"),
            "3: groups: expected a group that some workload belongs to; nothing is left to run");
}

TEST_F(Plans, SettingsTellWhatIsNotUsual) {
  const std::string head = "workloads = 'a+b'\npolicies = 'smk-pw2'\n";
  EXPECT_THAT(Last(Plan(head)).settings, ElementsAre()) << "kernels_per_sm is the policy's own";
  EXPECT_THAT(Last(Plan(head + "[set]\npolicy.kernels_per_sm = 3\nsms = 8\n")).settings,
              ElementsAre("sms=8", "policy.kernels_per_sm=3"));
  EXPECT_THAT(Last(Plan(head + "[set]\npolicy.kernels_per_sm = 2\nsms = 16\n")).settings,
              ElementsAre())
      << "set to what they are";
}

TEST_F(Plans, MembersAreOfEveryExperimentThatAsks) {
  const SweepPlan plan = Plan(
      "workloads = 'a+b'\n[[experiment]]\nname = 'x'\npolicies = ['even', 'smk']\n"
      "[[experiment]]\nname = 'y'\npolicies = ['smk', 'smk-p']\n");
  EXPECT_EQ(plan.runs.size(), 2 + 3u);
  std::map<std::string, std::vector<std::string>> members;
  for (const SweepMember& member : plan.members) {
    members[member.experiment].push_back(plan.runs[member.run].policy);
  }
  EXPECT_THAT(members["x"], ElementsAre("isolated", "isolated", "even", "smk"));
  EXPECT_THAT(members["y"], ElementsAre("isolated", "isolated", "smk", "smk-p"));
}

TEST_F(Plans, MistakesAreToldWhereTheyStand) {
  EXPECT_EQ(Said("workloads = ['a+b', 'a+gone']\n"), "2: workloads: no workload 'gone'");
  EXPECT_THAT(Said("workloads = 'a'\nmachines = ['gtx980',\n'gtx']\n"),
              StartsWith("4: machines: "));
  EXPECT_THAT(Said("workloads = 'a'\ncontrol = 'fpga'\n"), StartsWith("3: control: "));
  EXPECT_THAT(Said("workloads = 'a'\npreempt = 'kill'\n"), StartsWith("3: preempt: "));
  EXPECT_THAT(Said("workloads = 'a'\npolicies = ['smk',\n'smkpw']\n"), StartsWith("4: policies: "));
  EXPECT_EQ(Said("workloads = 'a'\nseeds = -1\n"),
            "3: seeds: expected a whole number from 0 to 18446744073709551615, got '-1'");
  EXPECT_EQ(Said("workloads = 'a'\narrive = 'a@5k'\n"),
            "3: arrive: expected a whole number from 0 to 4999, got '5k'");
  EXPECT_THAT(Said("workloads = 'a'\n[set]\nsms = 4\npolicy.epoch_length = 1\n"),
              StartsWith("5: set.policy.epoch_length: "));
  EXPECT_THAT(Said("workloads = 'a'\n[set]\nsm.l1.byte = 4\n"), StartsWith("4: set.sm.l1.byte: "));
  EXPECT_EQ(Said("kernels = ['a', 'b']\nworkloads = 'all-triples'\n"),
            "3: kernels: expected more kernels to choose from");
  EXPECT_EQ(Said("workloads = 'random-pairs'\n"),
            "2: count: expected a number of workloads for random-pairs");
  EXPECT_EQ(Said("workloads = 'random-pairs'\ncount = 4\n"),
            "3: count: expected at most 3, there are no more");
  EXPECT_EQ(Said("workloads = 'a'\n[[experiment]]\nname = 'x'\ncycles = 3_000_000_000\n"),
            "5: experiment.cycles: expected a whole number from 1 to 2000000000, got '3000000000'");
  EXPECT_EQ(Said("[[experiment]]\nname = 'x'\nworkloads = 'gone'\n"),
            "4: experiment.workloads: no workload 'gone'");
}

TEST_F(Plans, FilesAreThoseBesideTheSpecification) {
  std::vector<std::string> asked;
  backend.find_workload = [&](const std::string& name) {
    asked.push_back(name);
    return FakeWorkload(name);
  };
  Write("sub/x", "");
  SweepSpec spec = LoadSweepSpec(Write("sub/s.toml", "workloads = ['../k.toml+a', '/k.toml']\n"));
  const SweepPlan plan = ExpandSweep(spec, backend);
  EXPECT_EQ(asked[0], Path("k.toml"));
  EXPECT_EQ(asked[1], "a") << "a name, no file";
  EXPECT_EQ(*plan.runs[2].options.kernels, Path("k.toml") + "+a");
  EXPECT_EQ(*plan.runs[3].options.kernels, "/k.toml");
}

TEST_F(Plans, ACommandNamesWhatTheRunNeeds) {
  const SweepPlan plan = Plan(
      "workloads = 'a+b'\npolicies = 'spatial'\npreempt = 'flush'\narrive = 'b@100'\n"
      "repeat = false\n[set]\nsms = 8\n");
  EXPECT_EQ(RunCommandLine(Last(plan)),
            "smk run a+b --policy spatial --preempt flush --machine gtx980 --control reference "
            "--cycles 5k --seed 1 --arrive b@100 --set sms=8 --no-repeat");
  EXPECT_EQ(RunCommandLine(plan.runs[0]),
            "smk run a --policy isolated --machine gtx980 --control reference --cycles 5k --seed 1 "
            "--set sms=8 --no-repeat");
}

TEST_F(Plans, AValueWithABlankStaysOneWord) {
  const SweepPlan plan = Plan("workloads = 'a'\n[set]\nname = 'my machine'\nsms = 8\n");
  EXPECT_THAT(RunCommandLine(Last(plan)), HasSubstr("--set 'name=my machine' --set sms=8"));
}

TEST(RememberingBackends, AskOnceForEachNameAndMachine) {
  Backend backend = FakeBackend();
  unsigned workloads = 0, machines = 0;
  backend.find_workload = [&](const std::string& name) {
    ++workloads;
    return FakeWorkload(name);
  };
  backend.load_machine = [&](const std::string& path, const std::vector<std::string>& sets) {
    ++machines;
    MachineConfig machine;
    machine.name = path + std::to_string(sets.size());
    return machine;
  };
  const Backend remembering = RememberingBackend(backend);
  EXPECT_EQ(remembering.find_workload("a"), remembering.find_workload("a"));
  remembering.find_workload("b");
  EXPECT_EQ(workloads, 2u);
  EXPECT_EQ(remembering.load_machine("m", {}).name, "m0");
  EXPECT_EQ(remembering.load_machine("m", {"sms=4"}).name, "m1");
  EXPECT_EQ(remembering.load_machine("m", {}).name, "m0");
  EXPECT_EQ(remembering.load_machine("n", {}).name, "n0");
  EXPECT_EQ(machines, 3u);
}

}  // namespace
}  // namespace smk::sim
