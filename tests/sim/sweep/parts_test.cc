// SPDX-License-Identifier: Apache-2.0
// Mixes, and parts of a plan by experiment, list and shard.
#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "sim/refusal.h"
#include "sim/scratch.h"
#include "sweep/mixes.h"
#include "sweep/selection.h"
#include "sweep/slurm.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::StartsWith;
using Mix = std::vector<std::size_t>;

TEST(Mixes, NamesOfSets) {
  const std::vector<std::string> sizes = {"singles", "pairs", "triples", "quadruples"};
  for (unsigned i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(ParseMixName("all-" + sizes[i])->size, i + 1);
    EXPECT_FALSE(ParseMixName("all-" + sizes[i])->random);
    EXPECT_EQ(ParseMixName("random-" + sizes[i])->size, i + 1);
    EXPECT_TRUE(ParseMixName("random-" + sizes[i])->random);
  }
  for (const char* other : {"", "all", "all-", "pairs", "random-quintuples", "all-pair",
                            "All-pairs", "all-pairs ", "lbm+sgemm"}) {
    EXPECT_FALSE(ParseMixName(other).has_value()) << other;
  }
}

TEST(Mixes, AllAreEverySetOnceInOrder) {
  EXPECT_THAT(AllMixes(4, 2),
              ElementsAre(Mix{0, 1}, Mix{0, 2}, Mix{0, 3}, Mix{1, 2}, Mix{1, 3}, Mix{2, 3}));
  EXPECT_THAT(AllMixes(3, 3), ElementsAre(Mix{0, 1, 2}));
  EXPECT_THAT(AllMixes(2, 1), ElementsAre(Mix{0}, Mix{1}));
  EXPECT_TRUE(AllMixes(2, 3).empty()) << "there are not so many kernels";
  EXPECT_TRUE(AllMixes(0, 1).empty());
}

TEST(Mixes, ThereAreAsManyAsBinomialsSay) {
  for (std::size_t kernels = 1; kernels <= 12; ++kernels) {
    std::size_t expected = 1;
    for (unsigned size = 1; size <= std::min<std::size_t>(4, kernels); ++size) {
      expected = expected * (kernels - size + 1) / size;
      const std::vector<Mix> mixes = AllMixes(kernels, size);
      EXPECT_EQ(mixes.size(), expected) << kernels << " over " << size;
      EXPECT_EQ(std::set<Mix>(mixes.begin(), mixes.end()).size(), expected);
      EXPECT_TRUE(std::is_sorted(mixes.begin(), mixes.end()));
      for (const Mix& mix : mixes) {
        EXPECT_EQ(mix.size(), size);
        EXPECT_EQ(std::adjacent_find(mix.begin(), mix.end(), std::greater_equal<>()), mix.end());
        EXPECT_LT(mix.back(), kernels);
      }
    }
  }
}

TEST(Mixes, RandomOnesAreDifferentOnesOfThemInOrder) {
  Chance chance;
  for (int round = 0; round < 100; ++round) {
    std::vector<MixKernel> kernels;
    for (std::uint64_t n = 2 + chance.Below(9); n > 0; --n) {
      kernels.push_back({"k" + std::to_string(n), chance.Happens() ? 'C' : 'M'});
    }
    const unsigned size = 1 + static_cast<unsigned>(chance.Below(3));
    const std::vector<Mix> all = AllMixes(kernels.size(), size);
    const std::size_t count = 1 + chance.Below(all.size() + 3);
    const std::uint64_t seed = chance.Any();
    const std::vector<Mix> some = RandomMixes(kernels, size, count, seed);
    EXPECT_EQ(some.size(), std::min(count, all.size()));
    EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
    EXPECT_TRUE(std::includes(all.begin(), all.end(), some.begin(), some.end()));
    EXPECT_EQ(RandomMixes(kernels, size, count, seed), some);
    const auto groups = [&](const std::vector<Mix>& mixes) {
      std::set<std::string> seen;
      for (const Mix& mix : mixes) {
        std::string letters;
        for (const std::size_t k : mix) letters += kernels[k].letter;
        seen.insert(MixGroup(letters));
      }
      return seen;
    };
    EXPECT_EQ(groups(some).size(), std::min(count, groups(all).size())) << "each mix of types";
  }
}

TEST(Mixes, AnotherSeedChoosesOthers) {
  const std::vector<MixKernel> kernels(10, {"k", 'C'});
  std::set<std::vector<Mix>> chosen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) chosen.insert(RandomMixes(kernels, 3, 10, seed));
  EXPECT_GE(chosen.size(), 19u);
}

TEST(Mixes, GroupsAreInAlphabeticalOrder) {
  EXPECT_EQ(MixGroup("MC"), "C+M");
  EXPECT_EQ(MixGroup("CM"), "C+M");
  EXPECT_EQ(MixGroup("MCM"), "C+M+M");
  EXPECT_EQ(MixGroup("C"), "C");
  EXPECT_EQ(MixGroup(""), "");
}

// Runs r0 to r5; experiment a asks for the even ones, b for the first three.
SweepPlan Plan() {
  SweepPlan plan;
  plan.name = "x";
  for (unsigned i = 0; i < 6; ++i) {
    plan.runs.emplace_back();
    plan.runs.back().id = "r" + std::to_string(i);
  }
  for (const std::size_t i : {0u, 2u, 4u}) plan.members.push_back({"a", i});
  for (const std::size_t i : {0u, 1u, 2u}) plan.members.push_back({"b", i});
  for (const std::size_t i : {3u, 5u}) plan.members.push_back({"rest", i});
  return plan;
}

std::vector<std::string> Ids(const SweepPlan& plan) {
  std::vector<std::string> ids;
  for (const SweepRun& run : plan.runs) ids.push_back(run.id);
  return ids;
}

class Selections : public ScratchTest {
 protected:
  // The runs that are left, and that all members are still theirs.
  static std::vector<std::string> Left(const SweepPlan& plan) {
    for (const SweepMember& member : plan.members) EXPECT_LT(member.run, plan.runs.size());
    EXPECT_EQ(plan.name, "x");
    return Ids(plan);
  }
};

TEST_F(Selections, ByExperiment) {
  SweepPlan plan = Plan();
  KeepExperiments({"b"}, &plan);
  EXPECT_THAT(Left(plan), ElementsAre("r0", "r1", "r2"));
  EXPECT_EQ(plan.members.size(), 3u);
  plan = Plan();
  KeepExperiments({"b", "a"}, &plan);
  EXPECT_THAT(Left(plan), ElementsAre("r0", "r2", "r4", "r1")) << "each run once";
  EXPECT_EQ(plan.members.size(), 6u);
  EXPECT_EQ(plan.runs[plan.members[4].run].id, "r1");
  plan = Plan();
  KeepExperiments({}, &plan);
  EXPECT_EQ(plan.runs.size(), 6u) << "without names all of them";
}

TEST_F(Selections, UnknownExperimentsAreTold) {
  SweepPlan plan = Plan();
  EXPECT_EQ(Refusal([&] {
              KeepExperiments({"a", "res"}, &plan);
            }),
            "--experiment: no 'res' in the specification; did you mean 'rest'? (one of a, b, "
            "rest)");
}

TEST_F(Selections, ByAListOfIds) {
  SweepPlan plan = Plan();
  KeepListed(Write("ids", "r5\nr0\n"), &plan);
  EXPECT_THAT(Left(plan), ElementsAre("r0", "r5"));
  EXPECT_EQ(plan.members.size(), 3u) << "r0 is asked for twice";
  KeepListed(Write("ids", ""), &plan);
  EXPECT_TRUE(plan.runs.empty());
}

TEST_F(Selections, IdsThatAreNotInThePlanAreTold) {
  SweepPlan plan = Plan();
  const std::string path = Write("ids", "r5\n\nr1\n");
  EXPECT_EQ(Refusal([&] { KeepListed(path, &plan); }),
            path + ":2: expected the id of a run of the sweep, got ''");
  Write("ids", "r5\nr1 \n");
  EXPECT_EQ(Refusal([&] { KeepListed(path, &plan); }),
            path + ":2: expected the id of a run of the sweep, got 'r1 '");
  EXPECT_EQ(plan.runs.size(), 6u) << "the plan is as it was";
  EXPECT_EQ(Refusal([&] { KeepListed(Path("no"), &plan); }), Path("no") + ": cannot be read");
}

TEST_F(Selections, ShardsHaveEveryRunOnce) {
  const SweepPlan plan = Plan();
  EXPECT_THAT(ShardRuns(plan, ""), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(ShardRuns(plan, "2/4"), ElementsAre(1, 5));
  EXPECT_TRUE(ShardRuns(plan, "7/7").empty());
  for (unsigned parts = 1; parts <= 8; ++parts) {
    std::multiset<std::size_t> seen;
    for (unsigned part = 1; part <= parts; ++part) {
      const auto runs = ShardRuns(plan, std::to_string(part) + "/" + std::to_string(parts));
      seen.insert(runs.begin(), runs.end());
    }
    std::multiset<std::size_t> all = {0, 1, 2, 3, 4, 5};
    EXPECT_EQ(seen, all) << parts;
  }
}

TEST_F(Selections, MistakesInShardsAreTold) {
  const SweepPlan plan = Plan();
  for (const char* text : {"1", "1/2/3"}) {
    EXPECT_EQ(Refusal([&] { ShardRuns(plan, text); }),
              std::string("--shard: expected K/N, part K of N, got '") + text + "'");
  }
  EXPECT_EQ(Refusal([&] { ShardRuns(plan, "3/2"); }),
            "--shard: K: expected a whole number from 1 to 2, got '3'");
  EXPECT_EQ(Refusal([&] { ShardRuns(plan, "0/2"); }),
            "--shard: K: expected a whole number from 1 to 2, got '0'");
  EXPECT_EQ(Refusal([&] { ShardRuns(plan, "1/0"); }),
            "--shard: N: expected a whole number from 1 to 1000000, got '0'");
}

TEST(SlurmTexts, NumbersOfTasks) {
  EXPECT_EQ(ParseTasks("10").tasks, 10u);
  EXPECT_EQ(ParseTasks("10").running, 0u);
  EXPECT_EQ(ParseTasks("10%3").tasks, 10u);
  EXPECT_EQ(ParseTasks("10%3").running, 3u);
  EXPECT_EQ(Refusal([] { ParseTasks("1%2%3"); }), "--tasks: expected N or N%RUNNING, got '1%2%3'");
  for (const char* text : {"", "0", "x", "%3", "3%", "3%0"}) {
    EXPECT_THAT(Refusal([&] { ParseTasks(text); }),
                StartsWith("--tasks: expected a whole number from 1 to 10000000, got '"))
        << text;
  }
}

TEST(SlurmTexts, NumbersOfItsConfiguration) {
  const std::string config =
      "Configuration data as of 2026-01-02\n"
      "MaxArraySize            = 1001\n"
      "MaxArraySizeOther       = 5\n"
      "MaxJobCount = 10000\n"
      "Broken              = many\n";
  EXPECT_EQ(ConfigNumber(config, "MaxArraySize", 7), 1001u);
  EXPECT_EQ(ConfigNumber(config, "MaxJobCount", 7), 10000u);
  EXPECT_EQ(ConfigNumber(config, "MaxArray", 7), 7u);
  EXPECT_EQ(ConfigNumber(config, "Broken", 7), 7u);
  EXPECT_EQ(ConfigNumber("", "MaxArraySize", 7), 7u);
}

}  // namespace
}  // namespace smk::sim
