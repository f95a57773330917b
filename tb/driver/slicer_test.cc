// SPDX-License-Identifier: Apache-2.0
// The driver under Warped-Slicer: who is given which SM, what the kernels share, and smk_driver
// beside Driver meanwhile.
#include <Vfermi_driver.h>
#include <Vfermi_driver_smk_pkg.h>
#include <Vsmk_driver.h>
#include <Vsmk_driver_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "driver/pair.h"
#include "driver/traffic.h"

namespace smk {
namespace {

using Gtx980 = DriverPair<Vsmk_driver, Vsmk_driver_smk_pkg>;
using Fermi = DriverPair<Vfermi_driver, Vfermi_driver_smk_pkg>;

PolicyConfig Slicer() {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kSlicer;
  policy.preempt = PreemptMode::kDrain;
  policy.slicer_warmup = 500;
  policy.slicer_settle = 300;
  policy.slicer_window = 100;
  return policy;
}

// SMs whose TBs stay until they are out of place, and then finish at once; and that answer with
// counts(kernel, TBs) `late` cycles after a window.
class Profiled {
 public:
  explicit Profiled(const PolicyConfig& policy = Slicer()) : bench(ControlConfig{}, policy) {
    counts = [](unsigned, unsigned tbs) { return 10 * tbs; };
  }
  void Cycle(const HostInputs& host = {}) {
    for (unsigned sm = 0; sm < kSms; ++sm) Act(sm);
    bench.Cycle(host);
    windows += slicer().begin;
    plans += slicer().assign;
  }
  void Run(unsigned cycles) {
    while (cycles-- != 0) Cycle();
  }
  // Until there is a plan, and its TBs are placed.
  void UntilPlanned() {
    const unsigned before = plans;
    for (unsigned i = 0; i < 50'000 && plans == before; ++i) Cycle();
    EXPECT_GT(plans, before);
    Run(1500);
  }
  void Tick() {
    HostInputs host;
    host.tick = true;
    Cycle(host);
  }
  // "TBs of kernel 0, of kernel 1, ..." of each SM.
  std::string Resident(unsigned kernels) const {
    std::string text;
    for (unsigned sm = 0; sm < kSms; ++sm) {
      for (unsigned k = 0; k < kernels; ++k) {
        text += (k == 0 ? sm == 0 ? "" : " " : ",") + std::to_string(bench.Resident(k, sm));
      }
    }
    return text;
  }
  const DriverSlicer::State& slicer() { return bench.driver().slicer().state(); }
  std::string EverySm(const std::string& tbs) const {
    std::string text = tbs;
    for (unsigned sm = 1; sm < kSms; ++sm) text += " " + tbs;
    return text;
  }

  static constexpr unsigned kSms = 16;
  DriverBench bench;
  std::function<unsigned(unsigned, unsigned)> counts;
  unsigned late = 1;
  unsigned windows = 0, plans = 0;

 private:
  void Act(unsigned sm) {
    BenchSm& s = bench.sm(sm);
    for (unsigned i = static_cast<unsigned>(s.tbs.size()); i-- != 0;) {
      if (s.tbs[i].leaving) bench.Finish(sm, i);
    }
    if (bench.CanSettle(sm)) bench.Settle(sm);
    if (bench.to_sm(sm).sample_begin) sampled_[sm] = Index(bench.to_sm(sm).sample_kernel);
    if (bench.to_sm(sm).sample_end) due_[sm] = late;
    if (due_[sm] == 0 || --due_[sm] != 0) return;
    SmToDriver& out = bench.registers(sm);
    out.sample_valid = true;
    out.sample_issued =
        static_cast<std::uint16_t>(counts(sampled_[sm], bench.Resident(sampled_[sm], sm)));
  }

  std::array<unsigned, kSms> sampled_{}, due_{};
};

constexpr ResourceVector kEighth{32, 0, 4, 1};

// Fig. 4: two kernels of eight TBs on 16 SMs.
TEST(DriverSlicerTest, TheIthSmOfAKernelHoldsITbsAlone) {
  Profiled p;
  p.bench.Launch(0, kEighth, 10'000);
  p.Run(5);
  p.bench.Launch(1, kEighth, 10'000);
  p.Run(400);
  EXPECT_EQ(p.Resident(2), "1,0 2,0 3,0 4,0 5,0 6,0 7,0 8,0 0,1 0,2 0,3 0,4 0,5 0,6 0,7 0,8");
  EXPECT_EQ(p.windows, 0u) << "it warms up";
}

TEST(DriverSlicerTest, AKernelAloneHasAllAndIsNotProfiled) {
  Profiled p;
  p.bench.Launch(0, kEighth, 10'000);
  p.Run(5000);
  EXPECT_EQ(p.Resident(1), p.EverySm("8"));
  EXPECT_EQ(p.windows, 0u);
  EXPECT_FALSE(p.bench.driver().awake());
}

// Kernel 0 is at its best with two TBs, the other gains with each.
void Saturates(Profiled* p) {
  p->counts = [](unsigned kernel, unsigned tbs) { return kernel == 0 && tbs > 2 ? 20 : 10 * tbs; };
}

// The youngest of several kernels at the end of every SM, in any plan, and the oldest at its
// beginning. A kernel alone lives at the beginning.
void CheckEnds(Profiled* p, unsigned youngest) {
  const ResourceVector limits = ControlConfig{}.limits;
  for (unsigned sm = 0; sm < Profiled::kSms; ++sm) {
    for (const SmCommand& c : p->bench.sm(sm).plan) {
      const PartitionRange& r = c.range;
      if (Index(c.kernel) == 0) {
        EXPECT_EQ(r.registers_base + r.shared_memory_base + r.threads_base + r.tb_base, 0) << sm;
      }
      const bool at_end = r.registers_limit == limits.registers &&
                          r.shared_memory_limit == limits.shared_memory &&
                          r.threads_limit == limits.threads && r.tb_base + r.tb_count == limits.tbs;
      EXPECT_EQ(at_end, Index(c.kernel) == youngest)
          << "SM " << sm << " kernel " << +Index(c.kernel);
    }
  }
}

TEST(DriverSlicerTest, TheYoungestLivesAtTheEndOfEverySm) {
  const ResourceVector need{16, 24, 4, 1};  // eight of them leave room in every resource
  Profiled p;
  p.bench.Launch(0, need, 10'000);
  p.Run(2000);
  CheckEnds(&p, kMaxKernels);
  p.bench.Launch(1, need, 10'000);
  p.Run(600);
  CheckEnds(&p, 1);
  p.UntilPlanned();
  CheckEnds(&p, 1);
  p.bench.Launch(2, need, 10'000);
  p.Run(600);
  CheckEnds(&p, 2);
  p.UntilPlanned();
  CheckEnds(&p, 2);
}

TEST(DriverSlicerTest, AllSmsShareThePlan) {
  Profiled p;
  Saturates(&p);
  p.bench.Launch(0, kEighth, 10'000);
  p.bench.Launch(1, kEighth, 10'000);
  p.UntilPlanned();
  EXPECT_EQ(p.Resident(2), p.EverySm("2,6"));
  EXPECT_TRUE(p.slicer().shared);
  EXPECT_FALSE(p.slicer().spatial);
}

// With the longest links counts come 33 cycles after the window that the SM was sent.
TEST(DriverSlicerTest, CountsMayComeLate) {
  for (const unsigned late : {1u, 20u, 33u}) {
    Profiled p;
    Saturates(&p);
    p.late = late;
    p.bench.Launch(0, kEighth, 10'000);
    p.bench.Launch(1, kEighth, 10'000);
    p.UntilPlanned();
    EXPECT_EQ(p.Resident(2), p.EverySm("2,6")) << late;
  }
}

// [D30]: both need the whole SM, and would lose more than 1.2 together.
TEST(DriverSlicerTest, WhoLoseTooMuchHaveTheirOwnSms) {
  PolicyConfig policy = Slicer();
  policy.slicer_loss = 65536 / 2;
  Profiled p(policy);
  p.bench.Launch(0, kEighth, 10'000);
  p.bench.Launch(1, kEighth, 10'000);
  p.UntilPlanned();
  EXPECT_TRUE(p.slicer().spatial);
  EXPECT_EQ(p.Resident(2), "8,0 8,0 8,0 8,0 8,0 8,0 8,0 8,0 0,8 0,8 0,8 0,8 0,8 0,8 0,8 0,8");
}

// 24 samples on 16 SMs, five of each kernel: in the second window they hold five TBs more, or go on
// as they were; the SM that is left over is split evenly.
TEST(DriverSlicerTest, SamplesBeyondTheSmsShareTime) {
  Profiled p;
  for (unsigned k = 0; k < 3; ++k) p.bench.Launch(k, kEighth, 10'000);
  while (p.windows != 2) p.Cycle();
  EXPECT_EQ(p.Resident(3),
            "6,0,0 7,0,0 8,0,0 4,0,0 5,0,0 "
            "0,6,0 0,7,0 0,8,0 0,4,0 0,5,0 "
            "0,0,6 0,0,7 0,0,8 0,0,4 0,0,5 2,2,2");
  while (p.plans == 0 && p.windows == 2) p.Cycle();
  EXPECT_EQ(p.plans, 1u);
}

TEST(DriverSlicerTest, ANewKernelMakesAllBeProfiledAgain) {
  Profiled p;
  Saturates(&p);
  p.bench.Launch(0, kEighth, 10'000);
  p.bench.Launch(1, kEighth, 10'000);
  p.UntilPlanned();
  p.bench.Launch(2, kEighth, 10'000);
  p.Run(20);
  EXPECT_FALSE(p.slicer().shared);
  p.UntilPlanned();
  EXPECT_EQ(p.slicer().kernels, 0b111);
  EXPECT_TRUE(p.slicer().shared);
}

// A question that was asked before is void: the planner's answer to it does not count.
TEST(DriverSlicerTest, AnAnswerThatIsOvertakenDoesNotCount) {
  Profiled p;
  p.bench.Launch(0, kEighth, 10'000);
  p.bench.Launch(1, kEighth, 10'000);
  while (!p.slicer().asked) p.Cycle();
  p.Run(3);
  p.bench.Launch(2, kEighth, 10'000);
  while (!p.bench.driver().slicer().planner().state().done) p.Cycle();
  p.Cycle();
  EXPECT_EQ(p.plans, 0u);
  EXPECT_FALSE(p.slicer().shared);
  p.UntilPlanned();
  EXPECT_EQ(p.slicer().kernels, 0b111);
}

TEST(DriverSlicerTest, AChangeOfIpcIsSampledOnAFewSms) {
  PolicyConfig policy = Slicer();
  Profiled p(policy);
  Saturates(&p);
  p.bench.Launch(0, kEighth, 10'000);
  p.bench.Launch(1, kEighth, 10'000);
  p.UntilPlanned();
  EXPECT_EQ(p.Resident(2), p.EverySm("2,6"));
  p.counts = [](unsigned kernel, unsigned tbs) {
    return kernel == 0 ? 20 : tbs > 3 ? 90 : 30 * tbs;
  };
  while (p.slicer().alone.None() && p.windows < 40) p.Cycle();
  p.Run(250);
  EXPECT_EQ(p.Resident(2), "0,1 0,2 0,3 0,4 0,5 0,6 0,7 0,8 2,6 2,6 2,6 2,6 2,6 2,6 2,6 2,6");
  p.UntilPlanned();
  EXPECT_EQ(p.Resident(2), p.EverySm("2,3")) << "more than three gain nothing";
}

// A kernel that ends, in a window or in another phase; the one that stays is not profiled.
TEST(DriverSlicerTest, WhoIsLeftAloneHasAll) {
  for (const unsigned after : {100u, 650u, 2000u, 6000u}) {
    Profiled p;
    p.bench.Launch(0, kEighth, 10'000);
    p.bench.Launch(1, kEighth, 4);
    p.Run(after);
    for (unsigned i = 0; i < 400 && p.bench.done(1) == 0; ++i) {
      for (unsigned sm = 0; sm < Profiled::kSms; ++sm) {
        const auto& tbs = p.bench.sm(sm).tbs;
        for (unsigned n = 0; n < tbs.size(); ++n) {
          if (tbs[n].kernel != 1 || tbs[n].leaving) continue;
          p.bench.Finish(sm, n);
          break;
        }
      }
      p.Run(20);
    }
    ASSERT_EQ(p.bench.done(1), 1u) << after;
    for (unsigned ticks = 0; ticks < 5; ++ticks) {
      p.Tick();
      p.Run(100);
    }
    p.Run(3000);
    EXPECT_EQ(p.Resident(1), p.EverySm("8")) << after;
    EXPECT_FALSE(p.bench.driver().awake()) << after;
  }
}

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
  rates.finish = 100;
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
  RunProfiles<Gtx980>(6, 12'000, &tally);
  RunProfiles<Fermi>(3, 8'000, &tally);
  EXPECT_GT(tally.windows, 150u);
  EXPECT_GT(tally.plans, 10u);
  EXPECT_GT(tally.spatial, 2u);
  EXPECT_GT(tally.again, 2u);
}

TEST(DriverSlicerLockstep, FindsEachBrokenRule) {
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

TEST(DriverSlicerLockstep, FindsEachBrokenPolicy) {
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
    policy.slicer_warmup = policy.slicer_settle = 20;
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
