// SPDX-License-Identifier: Apache-2.0
// smk_driver against Driver while kernels are profiled: every output, every cycle.
#include <Vfermi_driver.h>
#include <Vfermi_driver_smk_pkg.h>
#include <Vsmk_driver.h>
#include <Vsmk_driver_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "driver/pair.h"
#include "driver/slicer_policy.h"
#include "driver/traffic.h"

namespace smk {
namespace {

using Gtx980 = DriverPair<Vsmk_driver, Vsmk_driver_smk_pkg>;
using Fermi = DriverPair<Vfermi_driver, Vfermi_driver_smk_pkg>;

// What is random is short: kernels that come and go seldom are planned for again and again.
PolicyConfig RandomSlicer(Dice* dice) {
  PolicyConfig policy = Slicer();
  policy.preempt = static_cast<PreemptMode>(dice->Below(3));
  policy.quota_enable = dice->Percent(30);
  policy.stream = dice->Percent(70);
  policy.kernels_per_sm = static_cast<std::uint8_t>(dice->Percent(70) ? 4 : 1 + dice->Below(3));
  policy.latency_scale = static_cast<std::uint8_t>(dice->Percent(70) ? 1 : 2 + dice->Below(3));
  policy.slicer_warmup = static_cast<std::uint16_t>(dice->Below(100));
  policy.slicer_settle = static_cast<std::uint16_t>(dice->Below(60));
  policy.slicer_window = static_cast<std::uint16_t>(1 + dice->Below(60));
  policy.slicer_delay = static_cast<std::uint16_t>(dice->Below(20));
  policy.slicer_change = static_cast<std::uint8_t>(dice->Below(4));
  policy.slicer_sustain = static_cast<std::uint8_t>(dice->Below(5));
  policy.slicer_loss = dice->Percent(50) ? 100'000 : dice->Below(65536);
  return policy;
}

DriverRates Seldom() {
  DriverRates rates;
  rates.launch = 1500;
  rates.finish = 250;
  rates.launches = ~0u;
  rates.most_tbs = 1000;
  return rates;
}

template <typename Pair>
unsigned MostCounted(const PolicyConfig& policy) {
  return 1 + policy.slicer_window * Pair::Package::NumSchedulers / 2u;
}

struct SlicerTally {
  unsigned windows = 0, plans = 0, spatial = 0, again = 0;
};

// [D35]: when a window begins an SM has no TB but of the kernel that it samples, and not more than
// it was given.
void ExpectSampledAlone(const Driver& driver) {
  const DriverSlicer::State& s = driver.slicer().state();
  if (!s.begin || !s.stalls) return;
  const DrfTracker::State& drf = driver.drf_tracker().state();
  for (const unsigned sm : s.alone) {
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      ASSERT_LE(drf.resident[k][sm], k == s.kernel[sm] ? s.tbs[sm] : 0) << "SM " << sm;
    }
  }
}

template <typename Pair>
void RunProfiles(unsigned seeds, unsigned cycles, SlicerTally* tally) {
  for (unsigned n = 0; n < seeds; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    Dice dice(seed);
    const PolicyConfig policy = RandomSlicer(&dice);
    DriverTraffic<Pair> traffic(Pair::Config(), policy, Seldom(), static_cast<unsigned>(seed),
                                seed);
    traffic.most_counted = MostCounted<Pair>(policy);
    const Pair& pair = traffic.bench().driver();
    const DriverSlicer& slicer = pair.model().slicer();
    bool again = false;
    for (unsigned cycle = 0; cycle < cycles && pair.lockstep().ok(); ++cycle) {
      traffic.Cycle();
      ExpectSampledAlone(pair.model());
      tally->windows += slicer.state().end;
      tally->plans += slicer.state().assign;
      tally->spatial += slicer.state().assign && slicer.state().spatial;
      tally->again += slicer.profiler().state().again && !again;
      again = slicer.profiler().state().again;
    }
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch() << " seed " << seed;
  }
}

TEST(DriverSlicerLockstep, EqualsTheReferenceWhileKernelsAreProfiled) {
  SlicerTally tally;
  RunProfiles<Gtx980>(10, 12'000, &tally);
  RunProfiles<Fermi>(3, 8'000, &tally);
  EXPECT_GT(tally.windows, 150u);
  EXPECT_GT(tally.plans, 10u);
  EXPECT_GT(tally.spatial, 2u);
  EXPECT_GT(tally.again, 2u);
}

// Launches come while the planner works on the question before: its answer does not count.
TEST(DriverSlicerLockstep, LaunchesOvertakeThePlan) {
  unsigned overtaken = 0;
  for (unsigned n = 0; n < 5; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    PolicyConfig policy = Slicer();
    policy.slicer_warmup = policy.slicer_settle = 20;
    policy.slicer_window = 30;
    DriverTraffic<Gtx980> traffic(Gtx980::Config(), policy, Seldom(), static_cast<unsigned>(seed),
                                  seed);
    traffic.most_counted = MostCounted<Gtx980>(policy);
    const Gtx980& pair = traffic.bench().driver();
    const DriverSlicer& slicer = pair.model().slicer();
    for (unsigned cycle = 0; cycle < 12'000 && pair.lockstep().ok(); ++cycle) {
      traffic.rates().launch = slicer.state().asked ? 5 : 1500;
      traffic.Cycle();
      overtaken += slicer.planner().state().done && !slicer.state().asked;
    }
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch() << " seed " << seed;
  }
  EXPECT_GT(overtaken, 3u);
}

// The longest windows whose counts fit, and kernels with TBs by the dozen or as large as an SM.
TEST(DriverSlicerLockstep, CountsAndTbsOfAnySize) {
  unsigned most_tbs = 0;
  // Counts are of all schedulers.
  for (const std::uint16_t window : {std::uint16_t{50}, std::uint16_t{16'000}}) {
    const bool longest = window > 1000;
    const std::uint64_t seed = GetTestOptions().seed;
    PolicyConfig policy = Slicer();
    policy.slicer_warmup = policy.slicer_settle = 50;
    policy.slicer_window = window;
    DriverRates rates = Seldom();
    rates.odd_sizes = 70;
    rates.most_tbs = longest ? 10'000 : 200;
    if (longest) rates.launches = 4;  // and their windows follow each other
    DriverTraffic<Gtx980> traffic(Gtx980::Config(), policy, rates, static_cast<unsigned>(seed),
                                  seed);
    traffic.most_counted = MostCounted<Gtx980>(policy);
    const Gtx980& pair = traffic.bench().driver();
    const unsigned cycles = longest ? 130'000 : 60'000;
    unsigned windows = 0;
    for (unsigned cycle = 0; cycle < cycles && pair.lockstep().ok(); ++cycle) {
      traffic.Cycle();
      windows += pair.model().slicer().state().end;
      for (const std::uint8_t tbs : pair.model().slicer().state().tbs) {
        most_tbs = std::max<unsigned>(most_tbs, tbs);
      }
    }
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch() << " window " << window;
    EXPECT_GT(windows, 5u);
  }
  EXPECT_GE(most_tbs, 16u) << "TBs by the dozen";
}

TEST(DriverSlicerLockstep, FindsEachBrokenRuleOfProfiling) {
  const std::function<void(Gtx980::SmRegisters*)> broken[] = {
      [](Gtx980::SmRegisters* sms) { (*sms)[0].sample_valid = false; },
      [](Gtx980::SmRegisters* sms) {
        for (unsigned sm = 0; sm < 16; sm += 2) (*sms)[sm].sample_issued = 0;
      },
      [](Gtx980::SmRegisters* sms) {
        for (SmToDriver& sm : *sms) sm.sample_stalled = 0;
      }};
  for (const auto& rule : broken) {
    PolicyConfig policy = Slicer();
    policy.slicer_warmup = policy.slicer_settle = 20;
    policy.slicer_window = 60;
    DriverTraffic<Gtx980> traffic(Gtx980::Config(), policy, Seldom(), 1, GetTestOptions().seed);
    traffic.most_counted = MostCounted<Gtx980>(policy);
    Gtx980& driver = traffic.bench().driver();
    driver.distort = [&rule](HostInputs*, Gtx980::SmRegisters* sms) { rule(sms); };
    for (unsigned i = 0; i < 40'000 && driver.lockstep().ok(); ++i) traffic.Cycle();
    EXPECT_THAT(driver.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

TEST(DriverSlicerLockstep, FindsEachBrokenPolicyOfProfiling) {
  const std::function<void(PolicyConfig*)> broken[] = {
      [](PolicyConfig* policy) { ++policy->slicer_warmup; },
      [](PolicyConfig* policy) { ++policy->slicer_settle; },
      [](PolicyConfig* policy) { ++policy->slicer_window; },
      [](PolicyConfig* policy) { policy->slicer_delay = 2; },
      [](PolicyConfig* policy) { policy->slicer_change = 7; },
      [](PolicyConfig* policy) { policy->slicer_sustain = 0; },
      [](PolicyConfig* policy) { policy->slicer_loss = 0; },
      [](PolicyConfig* policy) { policy->preempt = PreemptMode::kSwitch; }};
  for (const auto& rule : broken) {
    PolicyConfig policy = Slicer();
    policy.slicer_warmup = 600;  // SMs are settled before
    policy.slicer_settle = 20;
    policy.slicer_window = 60;
    PolicyConfig other = policy;
    rule(&other);
    DriverTraffic<Gtx980> traffic(Gtx980::Config(), policy, Seldom(), 1, GetTestOptions().seed);
    traffic.most_counted = MostCounted<Gtx980>(policy);
    Gtx980& driver = traffic.bench().driver();
    driver.BreakPolicy(Gtx980::Config(), other);
    for (unsigned i = 0; i < 40'000 && driver.lockstep().ok(); ++i) traffic.Cycle();
    EXPECT_THAT(driver.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
