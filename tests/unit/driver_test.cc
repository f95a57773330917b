// SPDX-License-Identifier: Apache-2.0
// The wiring of the driver: kernels run to their end among SMs that act at any time, and a cycle in
// which the driver says it is asleep can be left out.
#include "control/driver.h"

#include <gtest/gtest.h>

#include "unit/driver_bench.h"

namespace smk {
namespace {

struct Case {
  const char* name;
  DispatchMode dispatch;
  std::uint8_t kernels_per_sm = kMaxKernels;
  bool quota = false;
  std::uint8_t latency_scale = 1;
};

constexpr unsigned kLaunches = 10;

// SMs that finish, save, load and settle at random times, all together.
class Traffic {
 public:
  Traffic(const Case& c, unsigned seed, bool lazy) : random_(seed), bench_(Config(), Policy(c)) {
    bench_.lazy = lazy;
  }

  // One cycle; false when all kernels have been launched and are done.
  bool Cycle() {
    HostInputs host;
    if (oracle::Pick(&random_, 300) == 0) host.tick = true;
    if (host.tick) ReportProfiles();
    for (unsigned sm = 0; sm < Config().num_sms; ++sm) Act(sm);
    if (launched_ < kLaunches && oracle::Pick(&random_, 400) == 0 && Launch()) return true;
    bench_.Cycle(host);
    if (launched_ < kLaunches) return true;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if (bench_.finished(k) != tbs_[k]) return true;
    }
    for (unsigned sm = 0; sm < Config().num_sms; ++sm) {
      if (!bench_.sm(sm).loading.empty() || bench_.sm(sm).settle_due) return true;
    }
    return !bench_.Quiet();
  }
  DriverBench& bench() { return bench_; }
  unsigned launches(unsigned k) const { return launches_[k]; }

  static ControlConfig Config() {
    ControlConfig config;
    config.num_sms = 4;
    config.limits = {64, 96, 16, 8};
    config.preempted_depth = 20;
    return config;
  }
  static PolicyConfig Policy(const Case& c) {
    PolicyConfig policy;
    policy.dispatch = c.dispatch;
    policy.kernels_per_sm = c.kernels_per_sm;
    policy.quota_enable = c.quota;
    policy.latency_scale = c.latency_scale;
    policy.table = {1, 2, 1, 3};
    policy.epoch_length = 1000;
    return policy;
  }

 private:
  bool Launch() {
    const unsigned k = oracle::Pick(&random_, kMaxKernels);
    if (bench_.driver().kernel_table().state().slot[k].active) return false;
    if (launches_[k] != bench_.done(k)) return false;
    if (launches_[k] == 0 || oracle::Pick(&random_, 2) == 0) {
      need_[k] = oracle::RandomNeed(&random_, {48, 72, 12, 8});
    }
    tbs_[k] = 1 + oracle::Pick(&random_, 80);
    ++launches_[k];
    ++launched_;
    bench_.Launch(k, need_[k], tbs_[k]);
    return true;
  }
  void ReportProfiles() {
    for (unsigned sm = 0; sm < Config().num_sms; ++sm) {
      bench_.registers(sm).profile_valid = true;
      for (auto& issued : bench_.registers(sm).profile_issued) {
        issued = static_cast<std::uint16_t>(oracle::Pick(&random_, 4000));
      }
    }
  }
  void Act(unsigned sm) {
    BenchSm& s = bench_.sm(sm);
    s.ready = oracle::Pick(&random_, 3) != 0;
    if (!s.tbs.empty() && oracle::Pick(&random_, 30) == 0) {
      const unsigned index = oracle::Pick(&random_, static_cast<unsigned>(s.tbs.size()));
      // A TB for which a buffer is asked stays until it has one.
      if (saving_[sm] != index + 1) {
        if (saving_[sm] > index + 1) --saving_[sm];
        bench_.Finish(sm, index);
      }
    }
    if (!s.loading.empty() && oracle::Pick(&random_, 20) == 0) bench_.FreeBuffer(sm);
    if (bench_.CanSettle(sm) && oracle::Pick(&random_, 4) == 0) bench_.Settle(sm);
    Save(sm);
  }
  void Save(unsigned sm) {
    BenchSm& s = bench_.sm(sm);
    if (saving_[sm] == 0) {
      for (unsigned i = 0; i < s.tbs.size() && saving_[sm] == 0; ++i) {
        if (s.tbs[i].leaving) saving_[sm] = i + 1;
      }
      if (saving_[sm] == 0) return;
      bench_.registers(sm).buffer_request = true;
      bench_.registers(sm).buffer_kernel = static_cast<KernelId>(s.tbs[saving_[sm] - 1].kernel);
    } else if (!bench_.registers(sm).buffer_request && oracle::Pick(&random_, 10) == 0) {
      bench_.Leave(sm, saving_[sm] - 1, bench_.granted(sm), oracle::Pick(&random_, 4) == 0);
      saving_[sm] = 0;
    }
  }

  std::mt19937 random_;
  DriverBench bench_;
  unsigned launched_ = 0;
  std::array<unsigned, kMaxKernels> launches_{}, tbs_{};
  std::array<ResourceVector, kMaxKernels> need_{};
  std::array<unsigned, kMaxSms> saving_{};  // index + 1 of the TB that is being saved
};

class DriverTest : public testing::TestWithParam<Case> {};

TEST_P(DriverTest, EveryKernelEndsAndNoTbIsLost) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (unsigned run = 0; run < 10; ++run) {
    Traffic traffic(GetParam(), seed + run, false);
    unsigned cycles = 0;
    while (traffic.Cycle()) {
      ASSERT_LT(++cycles, 200000u) << "run " << run << ": kernels wait for ever";
    }
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      EXPECT_EQ(traffic.bench().done(k), traffic.launches(k));
      EXPECT_EQ(traffic.bench().driver().preempted_queue().buffers_free(k),
                Traffic::Config().preempted_depth);
      EXPECT_EQ(traffic.bench().driver().drf_tracker().state().share[k], 0);
    }
    if (HasFailure()) FAIL() << "run " << run;
  }
}

// The idle property: leaving out the cycles in which the driver sleeps changes no decision.
TEST_P(DriverTest, SkippedIdleCyclesChangeNothing) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Traffic all(GetParam(), seed, false), awake(GetParam(), seed, true);
  for (unsigned cycle = 0; cycle < 20000; ++cycle) {
    const bool more = all.Cycle();
    ASSERT_EQ(awake.Cycle(), more) << "cycle " << cycle;
    ASSERT_EQ(all.bench().driver().awake(), awake.bench().driver().awake()) << "cycle " << cycle;
    ASSERT_EQ(all.bench().log().size(), awake.bench().log().size()) << "cycle " << cycle;
    if (!more) break;
  }
  for (std::size_t i = 0; i < all.bench().log().size(); ++i) {
    const Decision &a = all.bench().log()[i], &b = awake.bench().log()[i];
    ASSERT_EQ(a.cycle, b.cycle);
    ASSERT_EQ(a.reason, b.reason);
    ASSERT_EQ(a.kernel, b.kernel);
    ASSERT_EQ(a.sm, b.sm);
    ASSERT_EQ(a.share, b.share);
  }
}

TEST_P(DriverTest, QuotasOfAnSmAreAtMostTheEpoch) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Traffic traffic(GetParam(), seed, false);
  unsigned sent = 0;
  for (unsigned cycle = 0; cycle < 20000 && traffic.Cycle(); ++cycle) {
    const auto& quotas = traffic.bench().driver().quota_calculator().state();
    if (quotas.step != QuotaCalculator::Step::kSend) continue;
    unsigned sum = 0;
    for (unsigned k = 0; k < kMaxKernels; ++k) sum += quotas.quota[k];
    ASSERT_LE(sum, Traffic::Policy(GetParam()).epoch_length);
    ++sent;
  }
  if (!GetParam().quota) {
    EXPECT_EQ(sent, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, DriverTest,
    testing::Values(Case{"OnDemand", DispatchMode::kOnDemand},
                    Case{"OnDemandSlow", DispatchMode::kOnDemand, 4, false, 3},
                    Case{"OnDemandTwoPerSm", DispatchMode::kOnDemand, 2},
                    Case{"Partitioned", DispatchMode::kPartitioned},
                    Case{"PartitionedQuota", DispatchMode::kPartitioned, 4, true},
                    Case{"TwoPerSmQuotaSlow", DispatchMode::kPartitioned, 2, true, 4},
                    Case{"LeftOver", DispatchMode::kLeftover}, Case{"Even", DispatchMode::kEven},
                    Case{"Spatial", DispatchMode::kSpatial}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace smk
