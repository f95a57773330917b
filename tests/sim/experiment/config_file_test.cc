// SPDX-License-Identifier: Apache-2.0
// config.toml: it gives the same run again, with what the command line says instead.
#include "experiment/config_file.h"

#include <gmock/gmock.h>

#include "experiment/requests.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Configs : public ScratchTest {
 protected:
  Configs() {
    options.kernels = "a+b";
    options.cycles = "1600";
  }
  // The options that the file of the present run gives to these.
  Options From(Options given, bool compare = false) const {
    MergeConfig(Path("config.toml"), compare, &given);
    return given;
  }
  // The experiment of the options, with its file.
  Experiment WriteConfig(const std::string& policy) const {
    Experiment experiment = Resolve(options, backend);
    Write("config.toml",
          ConfigToml(experiment, ResolvePolicy(policy, options.preempt, experiment)));
    return experiment;
  }

  Backend backend = FakeBackend();
  Options options;
};

TEST_F(Configs, TheFileOfARunGivesTheSameRunAgain) {
  options.kernels = "a+b+a";
  options.arrivals = {"b@100", "a#2@7"};
  options.seed = "18446744073709551615";
  options.no_repeat = true;
  options.sets = {"policy.epoch_length=600", "run.ideal_preemption=true", "policy.linger_ticks=5"};
  const Experiment experiment = WriteConfig("smk-pw");
  const Options again = From({});
  const Experiment other = Resolve(again, backend);
  EXPECT_EQ(other.labels, experiment.labels);
  EXPECT_EQ(other.arrivals, experiment.arrivals);
  EXPECT_EQ(other.seed, experiment.seed);
  EXPECT_EQ(other.cycles, experiment.cycles);
  EXPECT_FALSE(other.repeat);
  EXPECT_EQ(other.machine_toml, experiment.machine_toml);
  EXPECT_EQ(*again.policy, "smk-pw");
  EXPECT_EQ(ConfigToml(other, ResolvePolicy(*again.policy, again.preempt, other)),
            Read("config.toml"))
      << "to the letter";
}

TEST_F(Configs, HowARunEndsIsKept) {
  options.until = "done";
  WriteConfig("smk");
  const Experiment again = Resolve(From({}), backend);
  EXPECT_EQ(again.run_config.until, RunUntil::kDone);
  EXPECT_FALSE(SharedRequest(again, FindPolicy("smk", 2), {}).jobs[0].repeat) << "each once";
  Options given;
  given.until = "cycles";
  EXPECT_EQ(Resolve(From(given), backend).run_config.until, RunUntil::kCycles);
}

TEST_F(Configs, WhatTheCommandLineSaysGoesBeforeTheFile) {
  WriteConfig("smk");
  Options given;
  given.cycles = "99";
  given.seed = "5";
  given.policy = "even";
  given.sets = {"policy.epoch_length=700"};
  const Options merged = From(given);
  EXPECT_EQ(*merged.cycles, "99");
  EXPECT_EQ(*merged.seed, "5");
  EXPECT_EQ(*merged.policy, "even");
  EXPECT_EQ(*merged.kernels, "a+b");
  EXPECT_THAT(merged.sets, testing::Contains("policy.epoch_length=700"));
  EXPECT_EQ(
      std::count_if(merged.sets.begin(), merged.sets.end(),
                    [](const std::string& set) { return set.rfind("policy.epoch_l", 0) == 0; }),
      1);
}

TEST_F(Configs, WhatBelongsToTheFilesPolicyIsNotForOthers) {
  options.preempt = "drain";
  WriteConfig("spatial");
  EXPECT_EQ(*From({}).preempt, "drain");
  Options other;
  other.policy = "smk";
  EXPECT_FALSE(From(other).preempt.has_value());
  Options many;
  many.policies = "smk,even";
  EXPECT_FALSE(From(many, true).preempt.has_value());
}

TEST_F(Configs, ArrivalsAreNotForOtherKernels) {
  options.arrivals = {"b@100"};
  WriteConfig("smk");
  EXPECT_THAT(From({}).arrivals, ElementsAre("b@100"));
  Options other;
  other.kernels = "b+a";
  EXPECT_TRUE(From(other).arrivals.empty());
}

TEST_F(Configs, MistakesAreToldByFileAndLine) {
  const auto said = [&](const std::string& text) {
    const std::string path = Write("c.toml", text);
    Options any;
    const std::string refusal = Refusal([&] { MergeConfig(path, false, &any); });
    EXPECT_THAT(refusal, StartsWith(path)) << text;
    return refusal.substr(std::min(path.size(), refusal.size()));
  };
  EXPECT_EQ(said("x = 1\n"), ":1: x: expected the tables run, policy, control, machine");
  EXPECT_EQ(said("run = 1\n"), ":1: run: expected the tables run, policy, control, machine");
  EXPECT_EQ(said("\n[other]\n"), ":2: other: expected the tables run, policy, control, machine");
  EXPECT_THAT(said("[run]\n\ncycels = 5\n"), StartsWith(":3: "));
  EXPECT_THAT(said("[run]\n\ncycels = 5\n"), HasSubstr("cycels"));
  for (const char* line :
       {"kernels = 5", "kernels = [5]", "repeat = 5", "repeat = 'yes'", "ideal_preemption = [true]",
        "grid_divisor = [1]", "arrive = 7", "policy = [1]"}) {
    EXPECT_THAT(said("[run]\n" + std::string(line) + "\n"), StartsWith(":2: ")) << line;
  }
  EXPECT_THAT(said("[run\n"), StartsWith(":1: expected TOML: "));
}

TEST_F(Configs, DamageIsAnInputErrorNeverAnotherOne) {
  WriteConfig("smk");
  const std::string good = Read("config.toml");
  Chance chance;
  for (int round = 0; round < 200; ++round) {
    std::string text = good;
    for (std::uint64_t edits = 1 + chance.Below(3); edits > 0; --edits) {
      text[chance.Below(text.size())] = "[]='\"\n.,#0x"[chance.Below(11)];
    }
    const std::string path = Write("c.toml", text);
    Options any;
    const std::string said = Refusal([&] { MergeConfig(path, false, &any); });
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace smk::sim
