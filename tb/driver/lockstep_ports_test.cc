// SPDX-License-Identifier: Apache-2.0
// smk_driver's connections, bit by bit: what is true of one kernel, SM or buffer is true of each.
#include <Vsmk_driver.h>
#include <Vsmk_driver_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "driver/ordered.h"
#include "driver/pair.h"

namespace smk {
namespace {

using Gtx980 = DriverPair<Vsmk_driver, Vsmk_driver_smk_pkg>;

class Bench : public DriverBenchOf<Gtx980> {
 public:
  explicit Bench(const PolicyConfig& policy) : DriverBenchOf<Gtx980>(Gtx980::Config(), policy) {}
  ~Bench() { EXPECT_TRUE(driver().lockstep().ok()) << driver().lockstep().mismatch(); }
  void Run(unsigned cycles) {
    while (cycles-- != 0) Cycle();
  }
  void FinishAll(unsigned kernel, unsigned sm) {
    for (unsigned i = 0; Resident(kernel, sm) != 0;) {
      this->sm(sm).tbs[i].kernel == kernel ? Finish(sm, i) : void(++i);
    }
  }
  // A cycle in which a TB that must leave each SM finishes, and SMs settle.
  void SettleAll() {
    for (unsigned i = 0; i < Gtx980::kSms; ++i) {
      const auto leaves = [](const BenchTb& tb) { return tb.leaving; };
      const auto& tbs = sm(i).tbs;
      const auto leaver = std::find_if(tbs.begin(), tbs.end(), leaves);
      if (leaver != tbs.end()) Finish(i, static_cast<unsigned>(leaver - tbs.begin()));
      if (CanSettle(i)) Settle(i);
    }
    Cycle();
  }
};

// Half of the SMs go to another kernel: 256 TBs are saved at a time, and come back one per cycle.
TEST(DriverPorts, TbsComeBackFromBuffersOfEveryNumber) {
  Ordered<Gtx980> sms(DispatchMode::kSpatial);
  sms.Launch(0, sms.PartOfSm(32), 512);
  sms.Launch(1, sms.PartOfSm(32), 256);
  EXPECT_EQ(sms.model().preempted_queue().count(0), 256u);
  sms.FinishAll();
  EXPECT_EQ(sms.bench().done(0), 1u);
}

// An SM where another kernel has left exactly what a TB needs takes one, and where a unit is
// missing none.
TEST(DriverPorts, TbsStreamWhereTheyFitExactly) {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kLeftover;
  const ResourceVector limits = Gtx980::Config().limits;
  for (unsigned n = 0; n < 3 * 9; ++n) {
    for (const bool fits : {true, false}) {
      const auto part = [n](unsigned resource, unsigned limit) {
        const unsigned size = std::min(limit - 1, 1u << n / 3) + (n % 2) * (limit / 5);
        return static_cast<std::uint16_t>(n % 3 == resource ? std::min(size, limit - 1) : 0);
      };
      const ResourceVector need{part(0, limits.registers), part(1, limits.shared_memory),
                                std::max<std::uint16_t>(1, part(2, limits.threads)), 1};
      ResourceVector rest{0, 0, 1, 1};
      const std::uint16_t less = fits ? 0 : 1;
      if (n % 3 == 0) rest.registers = limits.registers - need.registers + less;
      if (n % 3 == 1) rest.shared_memory = limits.shared_memory - need.shared_memory + less;
      if (n % 3 == 2) rest.threads = limits.threads - need.threads + less;
      for (unsigned k = 0; k < kNumKernels; ++k) {
        Bench bench(policy);
        bench.Launch((k + 1) % kNumKernels, rest, Gtx980::kSms);
        bench.Run(60);
        bench.Launch(k, need, Gtx980::kSms);
        bench.Run(60);
        for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
          EXPECT_EQ(bench.Resident(k, sm), fits ? 1u : 0u) << n << " kernel " << k << " SM " << sm;
        }
      }
    }
  }
}

// The older kernel has room on one SM only, which is slow to give its credit back. Whoever looked
// at this SM again meanwhile would let the younger kernel's TBs wait.
TEST(DriverPorts, AnSmThatWasJustChosenIsNotChosenAgain) {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kLeftover;
  const auto half = static_cast<std::uint16_t>(Gtx980::Config().limits.registers / 2 - 2);
  for (unsigned i = 0; i < kNumKernels * Gtx980::kSms; ++i) {
    const unsigned slow = i / kNumKernels, older = i % kNumKernels;
    const unsigned younger = (older + 1) % kNumKernels, oldest = (older + 2) % kNumKernels;
    Bench bench(policy);
    bench.Launch(oldest, {half, 0, 1, 1}, 2 * Gtx980::kSms);
    bench.Run(150);
    bench.Finish(slow, 0);
    bench.Finish(slow, 0);
    bench.Run(20);
    bench.Launch(older, {static_cast<std::uint16_t>(half / 2), 0, 1, 1}, 4);
    bench.Launch(younger, {1, 0, 1, 1}, 100);
    for (unsigned n = 0; n < 80; ++n) {
      bench.sm(slow).ready = n % 8 == 7;
      bench.Cycle();
    }
    EXPECT_EQ(bench.Resident(older, slow), 4u) << i;
    EXPECT_EQ(bench.fresh(younger), 4 * Gtx980::kSms) << i;
  }
}

// TBs that an SM does not find are those of its victim, and nobody else's.
TEST(DriverPorts, TbsThatAreNotFoundAreTheVictimsOfTheirSm) {
  for (unsigned victim = 0; victim < kNumKernels; ++victim) {
    Ordered<Gtx980> sms(DispatchMode::kOnDemand);
    sms.SpareVictims(1);
    sms.Launch(victim, sms.PartOfSm(8), Gtx980::kSms * 8);
    sms.bench().log().clear();
    sms.Launch((victim + 1) % kNumKernels, sms.PartOfSm(2), Gtx980::kSms);
    unsigned preempted_on = 0;
    for (const Decision& d : sms.bench().log()) {
      if (d.reason == DecisionReason::kPreempt) preempted_on |= 1u << Index(d.sm);
    }
    EXPECT_EQ(preempted_on, 0xffffu) << victim;
  }
}

// Who is left of a fixed table has the whole SM, whichever kernel has gone [D97].
TEST(DriverPorts, WhoeverLeavesATableLeavesItsPlace) {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kTable;
  policy.linger_ticks = 0;
  policy.table = {2, 3, 2, 3};
  for (unsigned gone = 0; gone < kNumKernels; ++gone) {
    const unsigned stays = (gone + 1) % kNumKernels;
    Ordered<Gtx980> sms(policy);
    sms.Launch(stays, sms.PartOfSm(8), 400);
    sms.Launch(gone, sms.PartOfSm(8), Gtx980::kSms);
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
      EXPECT_EQ(sms.bench().Resident(stays, sm), policy.table[stays]) << gone;
    }
    sms.Finish(gone);
    sms.Finish(gone);
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
      EXPECT_EQ(sms.bench().Resident(stays, sm), 8u) << gone;
    }
  }
}

// A plan that holds on every SM is kept for one that cannot take it yet. When it can, a kernel of
// the plan is launched anew with another need, in any cycle beside: no SM gets the plan of the old
// one.
TEST(DriverPorts, NoSmGetsAPlanOfANeedThatHasChanged) {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kPartitioned;
  constexpr unsigned kLate = Gtx980::kSms - 1;
  for (unsigned after = 0; after < 40; ++after) {
    Bench bench(policy);
    bench.Launch(0, {16, 0, 4, 1}, 10'000);
    for (unsigned n = 0; n < 400; ++n) bench.SettleAll();
    // The TB that comes next waits for a gap there.
    bench.sm(kLate).ready = false;
    bench.Finish(kLate, 0);
    while (!bench.sm(kLate).owes) bench.Cycle();
    bench.sm(kLate).waits = true;
    bench.Run(40);
    bench.Launch(1, {16, 0, 4, 1}, Gtx980::kSms);
    for (unsigned n = 0; n < 400; ++n) {
      if (n >= 200) bench.FinishAll(1, n % kLate);
      bench.SettleAll();
    }
    ASSERT_EQ(bench.done(1), 1u) << "its place is kept";
    bench.sm(kLate).ready = true;
    bench.Run(after);
    bench.Launch(1, {64, 0, 16, 1}, 1'000);
    for (unsigned n = 0; n < 600; ++n) bench.SettleAll();
    const auto& partition = bench.driver().model().tb_dispatch().state().partition;
    for (unsigned sm = 1; sm < Gtx980::kSms; ++sm) {
      EXPECT_EQ(partition[sm], partition[0]) << "SM " << sm << ", " << after << " cycles later";
    }
  }
}

// Two kernels per SM out of four, and not one TB of each fits: the SMs of each two are as far apart
// as there are kernels on each, and still every kernel is the first on half of its SMs [D4].
TEST(DriverPorts, KernelsThatDoNotFitTogetherAllRunWithTwoPerSm) {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kPartitioned;
  policy.kernels_per_sm = 2;
  Bench bench(policy);
  for (unsigned k = 0; k < kNumKernels; ++k) bench.Launch(k, {160, 0, 4, 1}, 1'000);
  for (unsigned n = 0; n < 1'000; ++n) bench.SettleAll();
  for (unsigned k = 0; k < kNumKernels; ++k) {
    unsigned tbs = 0;
    for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) tbs += bench.Resident(k, sm);
    EXPECT_EQ(tbs, Gtx980::kSms / kNumKernels) << "kernel " << k;
  }
}

// The i-th member's window comes from SM i, whoever the members are, in any order and with any time
// between. Every other time windows are short, so that each bit of them changes the quotas.
TEST(DriverPorts, WindowsAreThoseOfTheirSmsInWhateverOrderTheyCome) {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kPartitioned;
  policy.quota_enable = true;
  for (unsigned members = 0; members < 1u << kNumKernels; ++members) {
    std::vector<unsigned> order;
    Bench bench(policy);
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if ((members >> k & 1) == 0) continue;
      order.push_back(static_cast<unsigned>(order.size()));
      bench.Launch(k, {16, 0, 4, 1}, 1000);
      for (unsigned n = 0; n < 300; ++n) bench.SettleAll();
    }
    if (order.size() < 2) continue;
    unsigned round = 0, quotas = 0;
    do {
      HostInputs host;
      host.tick = true;
      bench.Cycle(host);
      bench.Run(2);
      for (const unsigned sm : order) {
        bench.registers(sm).profile_valid = true;
        for (unsigned k = 0; k < kNumKernels; ++k) {
          const unsigned issued = round % 2 == 0 ? 100 + 977 * sm + 131 * k + 17 * round
                                                 : 1 + (3 * sm + 5 * k + round) % 3;
          bench.registers(sm).profile_issued[k] = static_cast<std::uint16_t>(issued);
        }
        bench.Run(1 + round % 3);
      }
      for (unsigned n = 0; n < 400; ++n) {
        bench.Cycle();
        for (unsigned sm = 0; sm < Gtx980::kSms; ++sm) {
          const DriverToSm& to_sm = bench.to_sm(sm);
          quotas += to_sm.command_valid && to_sm.command.op == CommandOp::kQuota ? 1 : 0;
        }
      }
      ++round;
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_GT(quotas, round) << members;
  }
}

// The windows of these kernels end, which issued so much, and their quotas are sent.
void EndWindows(Bench* bench, std::array<unsigned, 2> kernels,
                std::array<std::uint16_t, 2> issued) {
  HostInputs host;
  host.tick = true;
  bench->Cycle(host);
  bench->Run(2);
  for (unsigned i = 0; i < kernels.size(); ++i) {
    bench->registers(i).profile_valid = true;
    bench->registers(i).profile_issued[kernels[i]] = issued[i];
  }
  bench->Run(600);
}

// T is the most TBs that a kernel had on its SM within the window, also when more are planned
// [D107].
TEST(DriverPorts, QuotasAreForTheTbsThatAKernelHad) {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kPartitioned;
  policy.quota_enable = true;
  Bench bench(policy);
  constexpr unsigned kFirst = 1, kSecond = 3;
  bench.Launch(kFirst, {16, 0, 4, 1}, 1000);
  for (unsigned n = 0; n < 300; ++n) bench.SettleAll();
  bench.Launch(kSecond, {16, 0, 4, 1}, 80);
  for (unsigned n = 0; n < 300; ++n) bench.SettleAll();
  const PartitionTable& plan = bench.driver().model().tb_dispatch().state().partition;
  const unsigned all = bench.Resident(kFirst, 0), some = bench.Resident(kSecond, 1);
  ASSERT_EQ(all, plan[0][kFirst]);
  ASSERT_GT(some, 1u);
  ASSERT_LT(some, plan[1][kSecond]);
  const auto expect = [&](unsigned alone, const char* why) {
    const unsigned c0 = 8000 * plan[2][kFirst] / all, c1 = 3000 * plan[2][kSecond] / alone;
    EndWindows(&bench, {kFirst, kSecond}, {8000, 3000});
    EXPECT_EQ(bench.sm(2).quota[kFirst], c0 * (policy.epoch_length - 2u) / (c0 + c1) + 1) << why;
    EXPECT_EQ(bench.sm(2).quota[kSecond], c1 * (policy.epoch_length - 2u) / (c0 + c1) + 1) << why;
  };
  expect(some, "since its launch");
  while (bench.Resident(kSecond, 1) != 1) {
    auto last = static_cast<unsigned>(bench.sm(1).tbs.size());
    while (bench.sm(1).tbs[--last].kernel != kSecond) continue;
    bench.Finish(1, last);
    bench.Run(30);
  }
  expect(some, "as the window began");
  expect(1, "in all of it");
  bench.FinishAll(kSecond, 1);
  bench.Run(30);
  expect(1, "as it began");
  const auto before = bench.sm(2).quota;
  EndWindows(&bench, {kFirst, kSecond}, {1, 3000});
  EXPECT_EQ(bench.sm(2).quota, before) << "no TB in all of it: no window";
}

}  // namespace
}  // namespace smk
