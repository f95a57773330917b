// SPDX-License-Identifier: Apache-2.0
// smk_tb_dispatch against TbDispatch: how room is made for TBs, and what becomes of
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tb_dispatch/directed.h"

namespace smk {
namespace {

using tb_dispatch::Fermi;
using tb_dispatch::Fill;
using tb_dispatch::Gtx980;
using tb_dispatch::NeedOf;
using tb_dispatch::PolicyOf;
using tb_dispatch::Rest;

// The division of the RTL against counting: victims leave one by one until the TB fits.
template <typename Pair>
void CheckVictims(const ResourceVector& need0, const ResourceVector& need1, unsigned kernel0 = 0) {
  Pair pair(PolicyOf(DispatchMode::kOnDemand), 512, 1);
  Fill(&pair, need0, need1, 9999, kernel0);
  pair.machine().LaunchNext((kernel0 + 1) % kNumKernels, need1, 1);
  unsigned resident = 0, victims = 0;
  while (oracle::Fits(oracle::Times(need0, resident + 1), Pair::kLimits)) ++resident;
  while (!oracle::Fits(oracle::Times(need0, resident - victims) + need1, Pair::kLimits)) ++victims;
  const std::vector<Decision> decisions = Rest(&pair);
  ASSERT_FALSE(decisions.empty());
  if (victims == 0) {
    EXPECT_EQ(decisions[0].reason, DecisionReason::kDispatchNew);
  } else if (decisions[0].reason == DecisionReason::kPreempt) {
    EXPECT_EQ(decisions[0].victim_tbs, victims);
  }
  ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
}

TEST(TbDispatchLockstep, PreemptsAsFewTbsAsMakeRoomForOne) {
  std::mt19937 random(oracle::Seed());
  for (int i = 0; i < 10; ++i) {
    CheckVictims<Gtx980>(oracle::RandomNeed(&random, Gtx980::kLimits),
                         oracle::RandomNeed(&random, Gtx980::kLimits));
    CheckVictims<Fermi>(oracle::RandomNeed(&random, Fermi::kLimits),
                        oracle::RandomNeed(&random, Fermi::kLimits));
  }
}

// Up to a multiple of the victim's need and one more, on an SM without a free register.
TEST(TbDispatchLockstep, OneMoreRegisterTakesOneMoreVictim) {
  const ResourceVector victim{16, 0, 1, 1};
  for (std::uint16_t n = 1; n < 14; ++n) {
    for (std::uint16_t more = 0; more < 2; ++more) {
      const auto registers = static_cast<std::uint16_t>(16 * n + more);
      CheckVictims<Gtx980>(victim, {registers, 0, 1, 1});
      if (n < 7) CheckVictims<Fermi>(victim, {registers, 0, 1, 1});
    }
  }
  for (std::uint16_t n = 5; n < 25; ++n) {
    CheckVictims<Gtx980>({1, 0, 3, 1}, {1, 0, n, 1});
    CheckVictims<Gtx980>({1, 25, 1, 1}, {1, static_cast<std::uint16_t>(8 * n + n % 8), 1, 1});
  }
  // Of many sizes, odd in all on an SM, too.
  for (unsigned size = 11; size < 54; size += 6) {
    for (unsigned n = 1; n < 3; ++n) {
      const unsigned more = size + n % 2;
      const auto unit = static_cast<std::uint16_t>(size);
      const auto registers = static_cast<std::uint16_t>(256 % size + more);
      const auto shared = static_cast<std::uint16_t>(384 - std::min(384 / size, 32u) * size + more);
      CheckVictims<Gtx980>({unit, 0, 1, 1}, {registers, 0, 1, 1});
      CheckVictims<Gtx980>({1, unit, 1, 1}, {1, shared, 1, 1});
    }
  }
  // More than half an SM each.
  for (unsigned bit = 0; bit < 7; ++bit) {
    const auto registers = static_cast<std::uint16_t>(128 + (1u << bit));
    const auto shared = static_cast<std::uint16_t>(256 + (1u << bit));
    CheckVictims<Gtx980>({registers, shared, 1, 1}, {256, 1, 1, 1});
    CheckVictims<Gtx980>({registers, shared, 1, 1}, {1, 384, 1, 1});
  }
  // TBs of all warps of an SM, of each kernel.
  for (unsigned i = 0; i < 8 * kNumKernels; ++i) {
    const auto registers = static_cast<std::uint16_t>(1u << i % 8);
    const auto shared = static_cast<std::uint16_t>(std::min(1u << i % 8, 96u));
    CheckVictims<Gtx980>({registers, shared, 64, 1},
                         {static_cast<std::uint16_t>(257 - registers), 0, 1, 1}, i / 8);
  }
  for (const std::uint16_t n : {16, 24, 31}) {
    CheckVictims<Gtx980>({8, 0, 1, 1}, {static_cast<std::uint16_t>(8 * n), 0, 1, 1});
  }
}

// On a GPU that is full of one kernel another gets half of every SM: fewer or more victims on each,
// until both have the same. Then all finish, and the next two follow.
TEST(TbDispatchLockstep, EveryKernelMakesRoomForEveryOtherOnAllSms) {
  Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), 512, 1);
  pair.machine().launches = false;
  for (unsigned i = 0; i < 24; ++i) {
    const unsigned victim = i % kNumKernels, kernel = (victim + 1 + i / 4 % 3) % kNumKernels;
    const unsigned part = i < 12 ? 32 : 4;
    pair.machine().SetRates(0, 100, 100);
    pair.machine().LaunchNext(victim, NeedOf<Gtx980>(part), Gtx980::Package::NumSms * part);
    Rest(&pair);
    pair.machine().LaunchNext(kernel, NeedOf<Gtx980>(2), Gtx980::Package::NumSms);
    unsigned preempted_on = 0;
    for (const Decision& d : Rest(&pair)) {
      if (d.reason != DecisionReason::kPreempt) continue;
      EXPECT_EQ(d.victim, static_cast<KernelId>(victim));
      EXPECT_EQ(d.victim_tbs, part / 2);
      preempted_on |= 1u << Index(d.sm);
    }
    EXPECT_EQ(preempted_on, 0xffffu) << i;
    pair.machine().SetRates(1000, 100, 100);
    for (int n = 0; n < 10'000 && pair.machine().kernels().active() != 0; ++n) pair.Cycle();
    ASSERT_EQ(pair.machine().kernels().active(), 0);
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// Every SM has made room for a kernel, and a third finds all of them guarded: it takes nothing from
// any before the second tick, and then it does.
TEST(TbDispatchLockstep, GuardsEverySmUntilTheSecondTick) {
  PolicyConfig policy = PolicyOf(DispatchMode::kOnDemand);
  policy.preempt_guard = true;
  Gtx980 pair(policy, 512, 1);
  DispatchMachine& machine = pair.machine();
  machine.launches = false;
  const auto preempted = [&pair] {
    unsigned on = 0;
    for (const Decision& d : Rest(&pair)) {
      if (d.reason == DecisionReason::kPreempt) on |= 1u << Index(d.sm);
    }
    return on;
  };
  for (unsigned victim = 0; victim < kNumKernels; ++victim) {
    machine.SetRates(0, 100, 100);
    machine.LaunchNext(victim, NeedOf<Gtx980>(8), Gtx980::Package::NumSms * 8);
    Rest(&pair);
    machine.LaunchNext((victim + 1) % kNumKernels, NeedOf<Gtx980>(2), Gtx980::Package::NumSms);
    EXPECT_EQ(preempted(), 0xffffu) << victim;
    machine.LaunchNext((victim + 2) % kNumKernels, NeedOf<Gtx980>(8), Gtx980::Package::NumSms);
    EXPECT_EQ(preempted(), 0u) << victim;
    machine.tick_next = true;
    EXPECT_EQ(preempted(), 0u) << victim;
    machine.tick_next = true;
    EXPECT_NE(preempted(), 0u) << victim;
    machine.SetRates(1000, 100, 100);
    for (int n = 0; n < 10'000 && machine.kernels().active() != 0; ++n) pair.Cycle();
    ASSERT_EQ(machine.kernels().active(), 0);
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// How many decisions so many cycles have, by reason.
std::map<DecisionReason, unsigned> Decisions(Gtx980* pair, unsigned cycles) {
  std::map<DecisionReason, unsigned> decisions;
  for (unsigned cycle = 0; cycle < cycles; ++cycle) {
    if (const auto decision = pair->Cycle()) ++decisions[decision->reason];
  }
  return decisions;
}

// The victim's free buffers, and the TBs that the kernel has left: each bit alone.
TEST(TbDispatchLockstep, MakesRoomWithAnyNumberOfBuffersAndTbsLeft) {
  for (unsigned i = 0; i < 12 * 32; ++i) {
    const unsigned victim = i % kNumKernels, kernel = (victim + 1 + i / 4 % 3) % kNumKernels;
    const unsigned bit = i / 12;
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), 1u << bit % 10, i);
    pair.machine().launches = false;
    pair.machine().SetRates(0, 100, 100);
    pair.machine().LaunchNext(victim, NeedOf<Gtx980>(2), 2 * Gtx980::Package::NumSms);
    Rest(&pair);
    pair.machine().LaunchNext(kernel, NeedOf<Gtx980>(2), 1u << bit);
    EXPECT_GT(Decisions(&pair, 100)[DecisionReason::kPreempt], 0u) << bit;
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// Four victims of each kernel, for each other one: with fewer free buffers nothing is preempted,
// and with one more than any power of two they are.
TEST(TbDispatchLockstep, MakesNoRoomWithoutABufferForEachVictim) {
  for (const unsigned depth : {1u, 2u, 3u, 4u, 5u, 9u, 17u, 33u, 65u, 129u, 257u}) {
    for (unsigned n = 0; n < kNumKernels * kNumKernels; ++n) {
      const unsigned victim = n % kNumKernels, kernel = n / kNumKernels;
      if (victim == kernel) continue;
      Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), depth, n);
      pair.machine().launches = false;
      pair.machine().SetRates(0, 0, 100);
      pair.machine().LaunchNext(victim, NeedOf<Gtx980>(8), 8 * Gtx980::Package::NumSms);
      Rest(&pair);
      pair.machine().LaunchNext(kernel, NeedOf<Gtx980>(2), 1);
      auto decisions = Decisions(&pair, 150);
      EXPECT_EQ(decisions[DecisionReason::kPreempt] != 0, depth >= 4) << depth;
      EXPECT_EQ(decisions[DecisionReason::kQueueFull] != 0, depth < 4) << depth;
      ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
    }
  }
}

// Every buffer of the victim is taken, and all of the others' are free: theirs do not count.
TEST(TbDispatchLockstep, BuffersOfOtherKernelsAreOfNoUse) {
  for (unsigned n = 0; n < 7 * kNumKernels * (kNumKernels - 1); ++n) {
    const unsigned victim = n % kNumKernels, depth = 4u << n / kNumKernels / (kNumKernels - 1);
    const unsigned kernel = (victim + 1 + n / kNumKernels % (kNumKernels - 1)) % kNumKernels;
    unsigned third = 0;
    while (third == victim || third == kernel) ++third;
    const unsigned victims = std::max(4u, depth / Gtx980::Package::NumSms);
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), depth, n);
    pair.machine().launches = false;
    pair.machine().SetRates(0, 100, 100);
    pair.machine().LaunchNext(victim, NeedOf<Gtx980>(2 * victims),
                              2 * victims * Gtx980::Package::NumSms);
    Rest(&pair);
    pair.machine().LaunchNext(kernel, NeedOf<Gtx980>(2), depth / victims);
    Rest(&pair);
    EXPECT_EQ(pair.machine().queue().count(victim), depth);
    pair.machine().LaunchNext(third, NeedOf<Gtx980>(2), 1000);
    EXPECT_GT(Decisions(&pair, 300)[DecisionReason::kQueueFull], 0u) << depth;
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// A kernel with all its TBs dispatched waits with those that it has lost: whole SMs of them, each
// bit of their number above the SMs.
TEST(TbDispatchLockstep, LostTbsWantRoomAgain) {
  for (unsigned n = 0; n < 4 * kNumKernels; ++n) {
    const unsigned victim = n % kNumKernels, sms = 1u << n / kNumKernels;
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), 512, n);
    pair.machine().launches = false;
    pair.machine().SetRates(0, 100, 100);
    pair.machine().LaunchNext(victim, NeedOf<Gtx980>(32), 32 * Gtx980::Package::NumSms);
    Rest(&pair);
    pair.machine().LaunchNext((victim + 1) % kNumKernels, NeedOf<Gtx980>(1), sms);
    for (const Decision& d : Rest(&pair)) EXPECT_NE(d.reason, DecisionReason::kRoomComing);
    EXPECT_EQ(pair.machine().queue().count(victim), 32 * sms);
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// Each kernel makes room for each other one on all SMs, and ends before it is there.
TEST(TbDispatchLockstep, RoomComesAndVictimsEndOnEverySm) {
  for (unsigned n = 0; n < kNumKernels * kNumKernels; ++n) {
    const unsigned victim = n % kNumKernels, kernel = n / kNumKernels;
    if (victim == kernel) continue;
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), 512, n);
    pair.machine().launches = false;
    pair.machine().SetRates(0, 0, 100);
    pair.machine().LaunchNext(victim, NeedOf<Gtx980>(8), 16 * 8);
    Rest(&pair);
    pair.machine().LaunchNext(kernel, NeedOf<Gtx980>(2), 16);
    Rest(&pair);
    EXPECT_EQ(__builtin_popcountll(pair.lockstep().dut().victims_o), 16);
    pair.machine().SetRates(300, 0, 100);
    for (int i = 0; i < 200; ++i) pair.Cycle();
    EXPECT_EQ(pair.lockstep().dut().victims_o, 0u);
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// On all SMs but one, room for a kernel is being made that does not come.
void ReserveAllButOne(Gtx980* pair, unsigned victim, unsigned kernel, unsigned one) {
  DispatchMachine& machine = pair->machine();
  machine.launches = false;
  machine.finishing = SmMask::Of(one);
  machine.SetRates(0, 0, 100);
  machine.LaunchNext(victim, NeedOf<Gtx980>(8), 8 * Gtx980::Package::NumSms);
  Rest(pair);
  machine.SetRates(1000, 0, 100);
  pair->Cycle();  // one TB finishes: this SM is the last to be chosen
  machine.SetRates(0, 0, 100);
  Rest(pair);
  machine.LaunchNext(kernel, NeedOf<Gtx980>(2), Gtx980::Package::NumSms - 1);
  Rest(pair);
  const std::uint64_t victims = 0x1111'1111'1111'1111u << victim;  // on each SM
  EXPECT_EQ(pair->lockstep().dut().victims_o, victims & ~(std::uint64_t{0xf} << 4 * one));
}

// Room that is on its way for one kernel is none for another, which waits for one TB.
TEST(TbDispatchLockstep, RoomForOneKernelIsNoneForAnother) {
  for (unsigned n = 0; n < 2 * kNumKernels * kNumKernels; ++n) {
    const unsigned kernel = n / 2 % kNumKernels, other = n / 2 / kNumKernels;
    if (kernel == other) continue;
    unsigned victim = 0;
    while (victim == kernel || victim == other) ++victim;
    const unsigned one = n % 2 == 0 ? 0 : Gtx980::Package::NumSms - 1;
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), 512, n);
    ReserveAllButOne(&pair, victim, kernel, one);
    pair.machine().LaunchNext(other, NeedOf<Gtx980>(2), 1);
    const std::vector<Decision> decisions = Rest(&pair);
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
    ASSERT_EQ(decisions.size(), 1u) << n;
    EXPECT_EQ(decisions[0].reason, DecisionReason::kPreempt) << n;
    EXPECT_EQ(decisions[0].sm, static_cast<SmId>(one)) << n;
  }
}

// A kernel waits for room on all SMs but one, and then all its TBs run there: what the others have
// made room for is nobody's.
TEST(TbDispatchLockstep, RoomThatComesAfterItsKernelIsDoneIsNobodys) {
  for (unsigned n = 0; n < 2 * kNumKernels; ++n) {
    const unsigned kernel = n / 2, victim = (kernel + 1) % kNumKernels;
    const unsigned one = n % 2 == 0 ? 0 : Gtx980::Package::NumSms - 1;
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), 512, n);
    ReserveAllButOne(&pair, victim, kernel, one);
    DispatchMachine& machine = pair.machine();
    machine.SetRates(1000, 0, 100);
    for (int i = 0; i < 1000 && (machine.kernels().active() >> kernel & 1) != 0; ++i) pair.Cycle();
    EXPECT_EQ(machine.kernels().active(), 1u << victim) << n;
    machine.SetRates(0, 100, 100);
    for (const Decision& d : Rest(&pair)) EXPECT_EQ(d.kernel, static_cast<KernelId>(victim)) << n;
    EXPECT_EQ(pair.lockstep().dut().busy_o, 0u) << n;
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// A victim kernel whose TBs all finish instead of leaving has no rK that a shortfall could change.
TEST(TbDispatchLockstep, VictimThatIsDoneIsForgotten) {
  for (const bool broken : {false, true}) {
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), 512, 1);
    bool victims_end = false;
    if (broken) {
      pair.distort = [&](DispatchView* view) {
        if (victims_end) view->in.kernel_done = 0;
      };
    }
    Fill(&pair, 8, 2, 16 * 8);
    pair.machine().SetRates(0, 0, 100);
    pair.machine().LaunchNext(1, NeedOf<Gtx980>(2), 1);
    Rest(&pair);
    ASSERT_NE(pair.lockstep().dut().victims_o, 0u);
    victims_end = true;
    pair.machine().SetRates(300, 0, 100);
    for (int i = 0; i < 200; ++i) pair.Cycle();
    EXPECT_EQ(pair.lockstep().dut().victims_o, 0u) << "although its SM has not settled";
    EXPECT_NE(pair.lockstep().dut().busy_o, 0u);
    EXPECT_EQ(pair.lockstep().ok(), !broken) << pair.lockstep().mismatch();
  }
}

}  // namespace
}  // namespace smk
