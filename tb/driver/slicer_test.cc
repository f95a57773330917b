// SPDX-License-Identifier: Apache-2.0
// The driver under Warped-Slicer: who is given which SM, and what the kernels share.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "driver/slicer_policy.h"
#include "driver/traffic.h"

namespace smk {
namespace {

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

// [D105]: no SM is planned for a kernel that has no TB to dispatch. Its SMs are waited for `settle`
// cycles, and sampled with the TBs that there are: one on the first three, none on the others.
TEST(DriverSlicerTest, AProfileDoesNotWaitForTbsThatThereAreNot) {
  Profiled p;
  p.bench.Launch(0, kEighth, 10'000);
  p.Run(5);
  p.bench.Launch(1, kEighth, 3);
  p.Run(400);
  EXPECT_EQ(p.Resident(2), "1,0 2,0 3,0 4,0 5,0 6,0 7,0 8,0 0,1 0,1 0,1 0,0 0,0 0,0 0,0 0,0");
  p.UntilPlanned();
  // Both share all SMs: the first has TBs everywhere, and a launch of the second finds room.
  EXPECT_FALSE(p.slicer().spatial);
  EXPECT_EQ(p.slicer().table[1], 1);
  for (unsigned sm = 0; sm < Profiled::kSms; ++sm) {
    EXPECT_GE(p.bench.Resident(0, sm), p.slicer().table[0]) << sm;
  }
  // SMs watch.
  const unsigned windows = p.windows;
  p.Run(2000);
  EXPECT_GT(p.windows, windows + 5u);
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

}  // namespace
}  // namespace smk
