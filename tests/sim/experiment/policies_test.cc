// SPDX-License-Identifier: Apache-2.0
#include "experiment/policies.h"

#include <gmock/gmock.h>

#include <set>

#include "base/error.h"
#include "experiment/controls.h"
#include "experiment/settings.h"
#include "sim/fake.h"

namespace smk::sim {
namespace {

TEST(Policies, EachNameIsADifferentConfiguration) {
  std::set<std::tuple<DispatchMode, bool, unsigned, bool>> seen;
  for (const std::string& name : DefaultPolicies()) {
    const Policy policy = FindPolicy(name, 2);
    EXPECT_EQ(policy.name, name);
    EXPECT_TRUE(seen.insert({policy.config.dispatch, policy.config.quota_enable,
                             policy.config.kernels_per_sm, policy.time_shared})
                    .second)
        << name;
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(Policies, TableTakesOneCountForEachKernel) {
  const Policy policy = FindPolicy("table:4,2", 2);
  EXPECT_EQ(policy.config.dispatch, DispatchMode::kTable);
  EXPECT_EQ(policy.config.table[0], 4);
  EXPECT_EQ(policy.config.table[1], 2);
  for (const char* bad : {"table:", "table:4", "table:4,2,1", "table:4,0", "table:4,x",
                          "table:4,33", "table:4,-1", "table", "tables:1,2"}) {
    EXPECT_THROW(FindPolicy(bad, 2), InputError) << bad;
  }
}

TEST(Policies, TableThatCanNeverBeResidentIsRefused) {
  const auto a = FakeWorkload("a", 1024), b = FakeWorkload("b", 1024);
  const ResourceVector limits{256, 384, 64, 32};
  EXPECT_NO_THROW(CheckTable(FindPolicy("table:1,1", 2), {a.get(), b.get()}, limits));
  EXPECT_THROW(CheckTable(FindPolicy("table:2,1", 2), {a.get(), b.get()}, limits), InputError);
}

TEST(Policies, OnlySomeArePreemptedInAnyWay) {
  const auto with = [](const char* name, PreemptMode mode) {
    Policy policy = FindPolicy(name, 2);
    policy.config.preempt = mode;
    return policy;
  };
  EXPECT_EQ(FindPolicy("warped-slicer", 2).config.preempt, PreemptMode::kDrain);
  EXPECT_NO_THROW(CheckPreempt(with("spatial", PreemptMode::kFlush)));
  EXPECT_NO_THROW(CheckPreempt(with("warped-slicer", PreemptMode::kSwitch)));
  EXPECT_NO_THROW(CheckPreempt(with("warped-slicer+w", PreemptMode::kDrain)));
  EXPECT_THROW(CheckPreempt(with("warped-slicer", PreemptMode::kFlush)), InputError);
  EXPECT_THROW(CheckPreempt(with("smk-p", PreemptMode::kDrain)), InputError);
  EXPECT_NO_THROW(CheckPreempt(with("tokens", PreemptMode::kFlush)));
  for (const char* name : {"spatial", "tokens", "warped-slicer", "warped-slicer+w"}) {
    EXPECT_NO_THROW(CheckPreempt(with(name, PreemptMode::kChimera))) << name;
  }
  EXPECT_THROW(CheckPreempt(with("smk", PreemptMode::kChimera)), InputError);
}

TEST(Policies, TokensHaveSharesOfTheirWindow) {
  Policy tokens = FindPolicy("tokens", 2);
  EXPECT_EQ(tokens.config.dispatch, DispatchMode::kToken);
  const auto set = [&](const std::string& what) {
    Configuration configuration;
    Apply(ParseSettings({what}, {}).knobs, &configuration);
    return configuration.policy;
  };
  const PolicyConfig shares = set("policy.token_request=205,358,461");
  EXPECT_EQ(shares.token_request[0], 205);
  EXPECT_EQ(shares.token_request[2], 461);
  EXPECT_EQ(shares.token_request[3], 0);
  EXPECT_THROW(set("policy.token_request=205,358,462"), InputError) << "more than the window";
  EXPECT_THROW(set("policy.token_limit=1,2,3,4,5"), InputError) << "more than kernel slots";
  EXPECT_THROW(set("policy.token_limit=1025"), InputError);
  EXPECT_NO_THROW(CheckTokens(tokens));
  tokens.config.token_request[1] = 500;
  tokens.config.token_limit[1] = 499;
  EXPECT_THROW(CheckTokens(tokens), InputError) << "a limit below the request";
}

TEST(Policies, UnknownNamesSuggestTheNearest) {
  try {
    FindPolicy("smk_pw", 2);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'smk-pw'"), std::string::npos);
  }
}

TEST(Controls, HaveNames) {
  EXPECT_EQ(ControlKinds().size(), 6u);
  for (const ControlKind kind : ControlKinds()) {
    EXPECT_EQ(ParseControl(Name(kind)), kind);
  }
  EXPECT_THROW(ParseControl("verilog"), InputError);
}

TEST(Settings, EachKeyReachesItsField) {
  const Settings settings = ParseSettings(
      {"policy.epoch_length=5000", "policy.linger_ticks=7", "policy.kernels_per_sm=3",
       "policy.latency_scale=9", "policy.warp_policy=lrr", "control.preempted_depth=64",
       "run.ideal_preemption=true", "run.grid_divisor=16", "sms=8", "sms=4"},
      {"sms"});
  Configuration set;
  Apply(settings.knobs, &set);
  const PolicyConfig& config = set.policy;
  EXPECT_EQ(config.epoch_length, 5000);
  EXPECT_EQ(config.linger_ticks, 7);
  EXPECT_EQ(config.kernels_per_sm, 3);
  EXPECT_EQ(config.latency_scale, 9);
  EXPECT_EQ(config.warp_policy, WarpPolicy::kLrr);
  EXPECT_EQ(set.control.preempted_depth, 64u);
  EXPECT_TRUE(set.run.ideal_preemption);
  EXPECT_EQ(set.run.grid_divisor, 16u);
  EXPECT_EQ(settings.machine, std::vector<std::string>{"sms=4"}) << "the last of a key holds";
}

TEST(Settings, TheLastValueOfAKeyHolds) {
  EXPECT_THAT(MergeSets({"a=1", "b=2", "a=3"}, {"b=", "c=5", "x", "a.b=6", "x"}),
              testing::ElementsAre("a=3", "b=", "c=5", "x", "a.b=6", "x"));
}

TEST(Settings, UnknownKeysNameTheNearest) {
  try {
    ParseSettings({"policy.epoch_lenght=1"}, {"sms"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "--set policy.epoch_lenght: unknown key; the nearest is 'policy.epoch_length'");
  }
  for (const char* bad :
       {"sms", "=5", "sms=", "policy.warp_policy=fifo", "run.ideal_preemption=yes",
        "policy.kernels_per_sm=0", "policy.latency_scale=1000"}) {
    EXPECT_THROW(ParseSettings({bad}, {"sms"}), InputError) << bad;
  }
}

}  // namespace
}  // namespace smk::sim
