// SPDX-License-Identifier: Apache-2.0
// Every decision of random runs on small GPUs against the specification in spec.h.
#include <gtest/gtest.h>

#include "tb_dispatch/spec.h"

namespace smk {
namespace {

struct Case {
  const char* name;
  DispatchMode dispatch;
  std::uint8_t kernels_per_sm = kNumKernels;
  bool profile = false;
  std::uint8_t latency_scale = 1;
  bool guard = false;
  bool strict = false;
};

ControlConfig RandomConfig(std::mt19937* random) {
  const ResourceVector limits[] = {{64, 96, 16, 8}, {48, 48, 24, 6}, {256, 384, 64, 32}};
  ControlConfig config;
  config.num_sms = 1 + oracle::Pick(random, 5);
  config.limits = limits[oracle::Pick(random, 3)];
  config.preempted_depth = 6 + oracle::Pick(random, 60);
  return config;
}

PolicyConfig RandomPolicy(const Case& c, std::mt19937* random) {
  PolicyConfig policy;
  policy.dispatch = c.dispatch;
  policy.stream = false;
  policy.kernels_per_sm = c.kernels_per_sm;
  policy.quota_enable = c.profile;
  policy.latency_scale = c.latency_scale;
  policy.linger_ticks = 1;
  policy.preempt_guard = c.guard;
  policy.leftover_strict = c.strict;
  for (auto& count : policy.table) count = static_cast<std::uint8_t>(oracle::Pick(random, 5));
  return policy;
}

class DispatchRun {
 public:
  DispatchRun(const Case& c, unsigned seed)
      : random_(seed),
        config_(RandomConfig(&random_)),
        policy_(RandomPolicy(c, &random_)),
        bench_(config_, policy_),
        spec_(&bench_, config_, policy_) {
    for (ResourceVector& need : needs_) need = oracle::RandomNeed(&random_, config_.limits);
    ticks_.fill(0);
  }

  void Step() {
    skew_.reset();
    switch (oracle::Pick(&random_, 12)) {
      case 0:
        Launch();
        break;
      case 1:
        if (oracle::Pick(&random_, 8) == 0) Tick();
        break;
      case 2:
      case 3:
        FreeBuffer();
        break;
      case 4:
      case 5:
      case 6:
        Finish();
        break;
      default:
        Leave();
        break;
    }
    Drain();
  }
  unsigned decisions() const { return decisions_; }
  unsigned preemptions() const { return preemptions_; }

 private:
  void Launch() {
    const unsigned k = oracle::Pick(&random_, kNumKernels);
    if (spec_.Active(k)) return;
    const bool other = oracle::Pick(&random_, 3) == 0;
    if (other) needs_[k] = oracle::RandomNeed(&random_, config_.limits);
    const unsigned tbs = 1 + oracle::Pick(&random_, 60);
    op_ = "launch " + std::to_string(k) + (other ? " other need" : " same need");
    bench_.Launch(k, needs_[k], tbs);
    spec_.Launched(k, tbs);
    ticks_[k] = 0;
  }
  void Tick() {
    HostInputs host;
    op_ = "tick";
    host.tick = true;
    bench_.Cycle(host);
    spec_.Ticked();
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (!spec_.Member(k) || spec_.Active(k)) continue;
      if (ticks_[k]++ == policy_.linger_ticks) spec_.Expired(k);
    }
  }
  void FreeBuffer() {
    const unsigned sm = oracle::Pick(&random_, config_.num_sms);
    if (bench_.sm(sm).loading.empty()) return;
    spec_.FreedBuffer(bench_.sm(sm).loading.front().first);
    op_ = "free buffer";
    bench_.FreeBuffer(sm);
    spec_.EventFrom(sm);
  }
  void Finish() {
    const unsigned sm = oracle::Pick(&random_, config_.num_sms);
    if (bench_.sm(sm).tbs.empty()) return;
    const auto n = static_cast<unsigned>(bench_.sm(sm).tbs.size());
    const unsigned index = oracle::Pick(&random_, n);
    const unsigned k = bench_.sm(sm).tbs[index].kernel;
    op_ = "finish";
    bench_.Finish(sm, index);
    if (!spec_.Active(k)) ticks_[k] = 0;
    spec_.EventFrom(sm);
  }
  // One TB that has to leave some SM does, or the SM has settled.
  void Leave() {
    const unsigned sm = oracle::Pick(&random_, config_.num_sms);
    if (bench_.CanSettle(sm)) {
      op_ = "settle";
      bench_.Settle(sm);
      spec_.Settled(sm);
      spec_.EventFrom(sm);
      return;
    }
    const auto& tbs = bench_.sm(sm).tbs;
    for (unsigned i = 0; i < tbs.size(); ++i) {
      if (!tbs[i].leaving || spec_.BuffersFree(tbs[i].kernel) == 0) continue;
      const unsigned k = tbs[i].kernel, tb = tbs[i].tb;
      const auto buffer = bench_.AskForBuffer(sm, k);
      ASSERT_TRUE(buffer);
      spec_.TookBuffer(k);
      const bool flush = !tbs[i].counted && oracle::Pick(&random_, 2) == 0;
      op_ = "leave";
      bench_.Leave(sm, i, *buffer, flush);
      spec_.Left(k, tb, *buffer, flush);
      spec_.EventFrom(sm);
      // In the first cycle after the event the TB is in no SM and not yet in the queue.
      skew_ = k;
      return;
    }
  }
  void Drain() {
    bench_.spare_victims = oracle::Pick(&random_, 6) == 0 ? 1 + oracle::Pick(&random_, 3) : 0;
    for (int cycle = 0; cycle < 20000; ++cycle) {
      for (const Decision& d : bench_.log()) Compare(d);
      bench_.log().clear();
      if (testing::Test::HasFatalFailure()) return;
      if (cycle != 0 && bench_.Quiet()) {
        const auto more = spec_.Next();
        ASSERT_FALSE(more) << "at rest, but could decide " << static_cast<int>(more->reason)
                           << " for kernel " << more->kernel << " on SM " << more->sm;
        CheckShares();
        return;
      }
      bench_.Cycle();
    }
    FAIL() << "the driver does not come to rest";
  }
  static bool Same(const Decision& d, const std::optional<Expected>& e) {
    if (!e || d.reason != e->reason || Index(d.kernel) != e->kernel || Index(d.sm) != e->sm) {
      return false;
    }
    if (d.reason == DecisionReason::kPreempt) {
      return Index(d.victim) == e->victim && d.victim_tbs == e->victim_tbs;
    }
    const bool dispatch = d.reason == DecisionReason::kDispatchNew ||
                          d.reason == DecisionReason::kDispatchRestored ||
                          d.reason == DecisionReason::kDispatchRestarted;
    return !dispatch || Index(d.tb) == e->tb;
  }
  void Compare(const Decision& d) {
    const DispatchSpec before = spec_;
    auto expected = spec_.Next();
    if (skew_ && !Same(d, expected)) {
      spec_ = before;
      expected = spec_.Next(skew_);
    }
    ASSERT_TRUE(Same(d, expected))
        << op_ << ": decision " << decisions_ << ", cycle " << d.cycle << ": got "
        << static_cast<int>(d.reason) << " kernel " << Index(d.kernel) << " SM " << Index(d.sm)
        << " TB " << Index(d.tb) << " victim " << Index(d.victim) << " x " << +d.victim_tbs
        << "; expected " << (expected ? static_cast<int>(expected->reason) : -1) << " kernel "
        << (expected ? expected->kernel : 0) << " SM " << (expected ? expected->sm : 0) << " TB "
        << (expected ? expected->tb : 0) << " victim " << (expected ? expected->victim : 0) << " x "
        << (expected ? expected->victim_tbs : 0);
    spec_.Apply(*expected);
    skew_.reset();
    ++decisions_;
    preemptions_ += d.reason == DecisionReason::kPreempt ? 1 : 0;
  }
  // rK and the partitions in force, when all is at rest.
  void CheckShares() {
    const DrfTracker& drf = bench_.driver().drf_tracker();
    const oracle::Share scale =
        oracle::Whole(config_.limits) / ShareWeights::Of(config_.limits).whole;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if (spec_.Active(k)) {
        ASSERT_EQ(drf.KernelShare(k) * scale, spec_.KernelShare(k)) << "kernel " << k;
      }
      for (unsigned sm = 0; sm < config_.num_sms; ++sm) {
        ASSERT_EQ(drf.state().resident[k][sm], bench_.Resident(k, sm));
        const auto plan = spec_.planned(sm).find(k);
        if (plan == spec_.planned(sm).end() || !spec_.Partitioned()) continue;
        ASSERT_EQ(bench_.driver().tb_dispatch().state().partition[sm][k], plan->second);
      }
    }
  }

  std::mt19937 random_;
  ControlConfig config_;
  PolicyConfig policy_;
  DriverBench bench_;
  DispatchSpec spec_;
  std::array<ResourceVector, kMaxKernels> needs_{};
  std::array<unsigned, kMaxKernels> ticks_{};
  std::optional<unsigned> skew_;
  std::string op_;
  unsigned decisions_ = 0;
  unsigned preemptions_ = 0;
};

class TbDispatchRandom : public testing::TestWithParam<Case> {};

TEST_P(TbDispatchRandom, EveryDecisionIsTheOneSpecified) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  unsigned decisions = 0, preemptions = 0;
  for (unsigned run = 0; run < 40; ++run) {
    SCOPED_TRACE(testing::Message() << "run " << run);
    DispatchRun dispatch(GetParam(), seed + run);
    for (int step = 0; step < 400; ++step) {
      dispatch.Step();
      if (HasFatalFailure()) FAIL() << "step " << step;
    }
    decisions += dispatch.decisions();
    preemptions += dispatch.preemptions();
  }
  RecordProperty("decisions", static_cast<int>(decisions));
  EXPECT_GT(decisions, 2000u);
  if (GetParam().dispatch == DispatchMode::kOnDemand) {
    EXPECT_GT(preemptions, 20u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, TbDispatchRandom,
    testing::Values(Case{"OnDemand", DispatchMode::kOnDemand},
                    Case{"OnDemandSlow", DispatchMode::kOnDemand, 4, false, 3},
                    Case{"OnDemandTwoPerSm", DispatchMode::kOnDemand, 2},
                    Case{"OnDemandGuarded", DispatchMode::kOnDemand, 4, false, 1, true},
                    Case{"Partitioned", DispatchMode::kPartitioned},
                    Case{"PartitionedProfiled", DispatchMode::kPartitioned, 4, true},
                    Case{"PartitionedTwoPerSm", DispatchMode::kPartitioned, 2, true, 2},
                    Case{"LeftOver", DispatchMode::kLeftover},
                    Case{"LeftOverStrict", DispatchMode::kLeftover, 4, false, 1, false, true},
                    Case{"LeftOverStrictTwoPerSm", DispatchMode::kLeftover, 2, false, 2, false,
                         true},
                    Case{"Even", DispatchMode::kEven}, Case{"Table", DispatchMode::kTable},
                    Case{"Spatial", DispatchMode::kSpatial}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace smk
