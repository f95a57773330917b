// SPDX-License-Identifier: Apache-2.0
// rtl/driver/smk_tb_dispatch.sv against TbDispatch: every output and every question, every cycle.
#include <Vfermi_tb_dispatch.h>
#include <Vfermi_tb_dispatch_smk_pkg.h>
#include <Vsmk_tb_dispatch.h>
#include <Vsmk_tb_dispatch_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "unit/tb_dispatch_pair.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_tb_dispatch_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_tb_dispatch_smk_pkg>(), "rtl and model disagree");

using Gtx980 = DispatchPair<Vsmk_tb_dispatch, Vsmk_tb_dispatch_smk_pkg>;
using Fermi = DispatchPair<Vfermi_tb_dispatch, Vfermi_tb_dispatch_smk_pkg>;

constexpr DispatchMode kModes[] = {DispatchMode::kLeftover,    DispatchMode::kEven,
                                   DispatchMode::kSpatial,     DispatchMode::kOnDemand,
                                   DispatchMode::kPartitioned, DispatchMode::kTable};

std::vector<PolicyConfig> AllPolicies() {
  std::vector<PolicyConfig> all;
  for (const DispatchMode dispatch : kModes) {
    for (unsigned i = 0; i < 24; ++i) {
      PolicyConfig policy;
      policy.dispatch = dispatch;
      policy.preempt = static_cast<PreemptMode>(i / 8);
      policy.quota_enable = (i & 1) != 0;
      policy.kernels_per_sm = (i & 2) != 0 ? 2 : kMaxKernels;
      policy.latency_scale = (i & 4) != 0 ? 4 : 1;
      policy.linger_ticks = (i & 1) != 0 ? 1 : 30;
      policy.table = {1, 4, 2, 3};
      all.push_back(policy);
    }
  }
  return all;
}

enum class Bustle { kNormal, kCrowded, kCalm };
using Reasons = std::map<DecisionReason, unsigned>;

void Add(const Reasons& some, Reasons* all) {
  for (const auto& [reason, count] : some) (*all)[reason] += count;
}

template <typename Pair>
void Run(const PolicyConfig& policy, Bustle bustle, std::uint64_t seed, unsigned cycles,
         Reasons* reasons) {
  Pair pair(policy, seed % 2 == 0 ? 3 : Pair::Package::PreemptedDepth, seed);
  pair.machine().crowded = bustle == Bustle::kCrowded;
  pair.machine().calm = bustle == Bustle::kCalm;
  for (unsigned i = 0; i < cycles && pair.lockstep().ok(); ++i) pair.Cycle();
  ASSERT_TRUE(pair.lockstep().ok())
      << "mode " << static_cast<int>(policy.dispatch) << ": " << pair.lockstep().mismatch();
  Add(pair.reasons(), reasons);
}

template <typename Pair>
Reasons RunAll(unsigned cycles) {
  Reasons reasons;
  std::uint64_t seed = GetTestOptions().seed;
  for (const PolicyConfig& policy : AllPolicies()) {
    const bool on_demand = policy.dispatch == DispatchMode::kOnDemand;
    // One life in which every SM sees every kernel.
    const bool quick = policy.latency_scale == 1 && policy.kernels_per_sm == kMaxKernels;
    const unsigned longer = quick && policy.quota_enable ? 8 : on_demand ? 2 : 1;
    Run<Pair>(policy, Bustle::kNormal, ++seed, longer * cycles, &reasons);
    if (on_demand) {
      Run<Pair>(policy, Bustle::kCrowded, ++seed, (longer + 2) * cycles, &reasons);
      // Where running SMs count in rK, a range hardly ever shrinks.
      if (quick) Run<Pair>(policy, Bustle::kCalm, ++seed | 1, 16 * cycles, &reasons);
    }
    if (testing::Test::HasFatalFailure()) break;
  }
  return reasons;
}

PolicyConfig PolicyOf(DispatchMode dispatch, std::uint8_t scale = 1) {
  PolicyConfig policy;
  policy.dispatch = dispatch;
  policy.latency_scale = scale;
  return policy;
}

template <typename Pair>
ResourceVector NeedOf(unsigned part) {
  ResourceVector need;
  need.registers = static_cast<std::uint16_t>(Pair::kLimits.registers / part);
  need.threads = 1;
  need.tbs = 1;
  return need;
}

// Until there has been nothing to do for a while; what was decided on the way.
template <typename Pair>
std::vector<Decision> Rest(Pair* pair) {
  std::vector<Decision> decisions;
  for (unsigned quiet = 0; quiet < 40 && pair->lockstep().ok(); ++quiet) {
    if (const auto decision = pair->Cycle()) decisions.push_back(*decision);
    if (pair->work()) quiet = 0;
  }
  return decisions;
}

// Kernel 1 has run and lingers; kernel 0 has as many TBs as the GPU holds. Or two others.
template <typename Pair>
void Fill(Pair* pair, const ResourceVector& need0, const ResourceVector& need1, unsigned tbs = 9999,
          unsigned kernel0 = 0) {
  pair->machine().launches = false;
  pair->machine().SetRates(1000, 100, 100);
  pair->machine().LaunchNext((kernel0 + 1) % kMaxKernels, need1, 1);
  Rest(pair);
  pair->machine().SetRates(0, 0, 100);
  pair->machine().LaunchNext(kernel0, need0, tbs);
  Rest(pair);
}
template <typename Pair>
void Fill(Pair* pair, unsigned part0, unsigned part1, unsigned tbs = 9999) {
  Fill(pair, NeedOf<Pair>(part0), NeedOf<Pair>(part1), tbs);
}

// Preemptions that never come to an end: room for both TBs of kernel 1 is being made, or cannot be
// because no TB of kernel 0 may be saved.
template <typename Pair>
Reasons RunCrowded() {
  Reasons reasons;
  for (const unsigned depth : {512, 1}) {
    Pair pair(PolicyOf(DispatchMode::kOnDemand), depth, 1);
    Fill(&pair, 8, 2);
    pair.machine().LaunchNext(1, NeedOf<Pair>(2), 2);
    Rest(&pair);
    EXPECT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
    Add(pair.reasons(), &reasons);
  }
  return reasons;
}

constexpr const char* kNames[] = {"dispatch_new",   "dispatch_restored", "dispatch_restarted",
                                  "preempt",        "no_victim",         "range_not_reduced",
                                  "partition_full", "no_room",           "repartition",
                                  "evict_sm",       "queue_full",        "room_coming"};

// Every decision is checked to come in its cycle, too.
template <typename Pair>
void RunEverything(unsigned cycles) {
  Reasons reasons = RunAll<Pair>(cycles);
  Add(RunCrowded<Pair>(), &reasons);
  for (unsigned i = 0; i < std::size(kNames); ++i) {
    const unsigned count = reasons[static_cast<DecisionReason>(i)];
    std::printf("%s %u%s", kNames[i], count, i + 1 < std::size(kNames) ? ", " : "\n");
    EXPECT_GT(count, 0u) << kNames[i];
  }
}

TEST(TbDispatchLockstep, EqualsTheReferenceInEveryMode) { RunEverything<Gtx980>(1500); }

TEST(TbDispatchLockstep, EqualsTheReferenceInConfigurationFermi) { RunEverything<Fermi>(1000); }

// The cycle, counted from the first in which work shows, in which a decision comes.
template <typename Pair>
std::pair<unsigned, DecisionReason> DecisionAfterWork(Pair* pair) {
  for (int i = 0; i < 10 && !pair->work(); ++i) {
    EXPECT_FALSE(pair->Cycle()) << "before there was work";
  }
  EXPECT_TRUE(pair->work());
  for (unsigned cycle = 1; cycle < 5000; ++cycle) {
    if (const auto decision = pair->Cycle()) return {cycle, decision->reason};
  }
  return {};
}

TEST(TbDispatchLockstep, DispatchIsDecidedExactlyFourCyclesAfterWork) {
  for (const DispatchMode mode : {DispatchMode::kLeftover, DispatchMode::kOnDemand}) {
    for (const std::uint8_t scale : {1, 2, 4, 7, 255}) {
      Gtx980 pair(PolicyOf(mode, scale), 512, 1);
      pair.machine().launches = false;
      pair.machine().SetRates(1000, 100, 100);
      pair.machine().LaunchNext(1, NeedOf<Gtx980>(2), 1);
      Rest(&pair);
      pair.machine().LaunchNext(1, NeedOf<Gtx980>(2), 1);
      const auto [cycle, reason] = DecisionAfterWork(&pair);
      EXPECT_EQ(cycle, 4u * scale) << "scale " << +scale;
      EXPECT_EQ(reason, DecisionReason::kDispatchNew);
      ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
    }
  }
}

TEST(TbDispatchLockstep, PreemptionIsDecidedExactlyFifteenCyclesAndOnePerVictimAfterWork) {
  for (const std::uint8_t scale : {1, 2, 4, 7, 255}) {
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand, scale), 512, 1);
    Fill(&pair, 8, 2);
    pair.machine().LaunchNext(1, NeedOf<Gtx980>(2), 1);
    const auto [cycle, reason] = DecisionAfterWork(&pair);
    EXPECT_EQ(cycle, std::max(15u * scale, 4u * scale + 11 + 4)) << "scale " << +scale;
    EXPECT_EQ(reason, DecisionReason::kPreempt);
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// The division of the RTL against counting: victims leave one by one until the TB fits.
template <typename Pair>
void CheckVictims(const ResourceVector& need0, const ResourceVector& need1, unsigned kernel0 = 0) {
  Pair pair(PolicyOf(DispatchMode::kOnDemand), 512, 1);
  Fill(&pair, need0, need1, 9999, kernel0);
  pair.machine().LaunchNext((kernel0 + 1) % kMaxKernels, need1, 1);
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
  // TBs of all warps of an SM, of each kernel.
  for (unsigned i = 0; i < 8 * kMaxKernels; ++i) {
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
    const unsigned victim = i % kMaxKernels, kernel = (victim + 1 + i / 4 % 3) % kMaxKernels;
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

// Kernels come one after the other, each with an SM to itself, and plans of many sizes on all SMs.
TEST(TbDispatchLockstep, PartitionOfAKernelAloneIsWhatFits) {
  PolicyConfig policy = PolicyOf(DispatchMode::kPartitioned);
  policy.linger_ticks = 0;
  Gtx980 pair(policy, 512, 1);
  pair.machine().launches = false;
  for (unsigned i = 0; i < 20; ++i) {
    const unsigned kernel = i % kMaxKernels, tbs = std::array{32u, 25u, 14u, 21u, 1u}[i / 4];
    pair.machine().SetRates(0, 100, 100);
    pair.machine().LaunchNext(kernel, NeedOf<Gtx980>(tbs), Gtx980::Package::NumSms * tbs + 1);
    Rest(&pair);
    for (unsigned sm = 0; sm < Gtx980::Package::NumSms; ++sm) {
      EXPECT_EQ(pair.state().planned[sm], 1u << kernel);
      EXPECT_EQ(pair.state().partition[sm][kernel], tbs);
    }
    pair.machine().SetRates(1000, 100, 100);
    Rest(&pair);
    pair.machine().tick_next = true;  // its place is given away
    Rest(&pair);
  }
  ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
}

// The victim's free buffers, and the TBs that the kernel has left: each bit alone.
TEST(TbDispatchLockstep, MakesRoomWithAnyNumberOfBuffersAndTbsLeft) {
  for (unsigned i = 0; i < 12 * 32; ++i) {
    const unsigned victim = i % kMaxKernels, kernel = (victim + 1 + i / 4 % 3) % kMaxKernels;
    const unsigned bit = i / 12;
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), 1u << bit % 10, i);
    pair.machine().launches = false;
    pair.machine().SetRates(0, 100, 100);
    pair.machine().LaunchNext(victim, NeedOf<Gtx980>(2), 2 * Gtx980::Package::NumSms);
    Rest(&pair);
    pair.machine().LaunchNext(kernel, NeedOf<Gtx980>(2), 1u << bit);
    unsigned preempts = 0;
    for (unsigned n = 0; n < 100; ++n) {
      const auto decision = pair.Cycle();
      preempts += decision && decision->reason == DecisionReason::kPreempt;
    }
    EXPECT_GT(preempts, 0u) << bit;
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

TEST(TbDispatchLockstep, CommandHoldsUntilTheSmTakesIt) {
  for (const DispatchMode mode : kModes) {
    PolicyConfig policy = PolicyOf(mode);
    policy.table = {2, 2, 2, 2};
    Gtx980 pair(policy, 512, 1);
    pair.machine().launches = false;
    pair.machine().SetRates(0, 0, 0);
    pair.machine().LaunchNext(0, NeedOf<Gtx980>(8), 5);
    for (int i = 0; i < 60; ++i) pair.Cycle();
    ASSERT_TRUE(pair.lockstep().dut().command_valid_o) << "offered, ready or not (S1)";
    for (int i = 0; i < 60; ++i) {
      EXPECT_FALSE(pair.Cycle()) << "one command in flight";
      EXPECT_TRUE(pair.lockstep().dut().command_valid_o);
    }
    pair.machine().SetRates(0, 0, 100);
    pair.Cycle();
    EXPECT_FALSE(pair.lockstep().dut().command_valid_o);
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// Each kernel makes room for each other one on all SMs, and ends before it is there.
TEST(TbDispatchLockstep, RoomComesAndVictimsEndOnEverySm) {
  for (unsigned n = 0; n < kMaxKernels * kMaxKernels; ++n) {
    const unsigned victim = n % kMaxKernels, kernel = n / kMaxKernels;
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

// A kernel waits for room on all SMs but one, and then all its TBs run there: what the others have
// made room for is nobody's.
TEST(TbDispatchLockstep, RoomThatComesAfterItsKernelIsDoneIsNobodys) {
  for (unsigned n = 0; n < 2 * kMaxKernels; ++n) {
    const unsigned kernel = n / 2, victim = (kernel + 1) % kMaxKernels;
    const unsigned one = n % 2 == 0 ? 0 : Gtx980::Package::NumSms - 1;
    Gtx980 pair(PolicyOf(DispatchMode::kOnDemand), 512, n);
    DispatchMachine& machine = pair.machine();
    machine.launches = false;
    machine.finishing = 1u << one;
    machine.SetRates(0, 0, 100);
    machine.LaunchNext(victim, NeedOf<Gtx980>(8), 8 * Gtx980::Package::NumSms);
    Rest(&pair);
    machine.SetRates(1000, 0, 100);
    pair.Cycle();  // one TB finishes: this SM is the last to be chosen
    machine.SetRates(0, 0, 100);
    Rest(&pair);
    machine.LaunchNext(kernel, NeedOf<Gtx980>(2), Gtx980::Package::NumSms - 1);
    Rest(&pair);
    const std::uint64_t victims = 0x1111'1111'1111'1111u << victim;  // on each SM
    EXPECT_EQ(pair.lockstep().dut().victims_o, victims & ~(std::uint64_t{0xf} << 4 * one)) << n;
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

struct BrokenRule {
  const char* name;
  DispatchMode mode;
  std::function<void(DispatchView*)> bend;
};

const BrokenRule kBroken[] = {
    {"an event wakes", DispatchMode::kOnDemand, [](DispatchView* v) { v->in.event_mask = 0; }},
    {"an event wakes its SM", DispatchMode::kLeftover,
     [](DispatchView* v) { v->in.event_mask &= 0xfffe; }},
    {"a settled SM is usable", DispatchMode::kPartitioned,
     [](DispatchView* v) { v->in.settled_mask &= 0x7fff; }},
    {"a plan ends with its kernel", DispatchMode::kEven,
     [](DispatchView* v) { v->in.member_expired = 0; }},
    {"a plan ends with a need", DispatchMode::kPartitioned,
     [](DispatchView* v) { v->in.need_changed = 0; }},
    {"a plan ends with an assignment", DispatchMode::kPartitioned,
     [](DispatchView* v) { v->assign.changed = 0; }},
    {"no decision while SMs are assigned", DispatchMode::kSpatial,
     [](DispatchView* v) { v->in.assign_busy = false; }},
    {"a command waits for its SM", DispatchMode::kTable,
     [](DispatchView* v) { v->in.command_ready = ~0u; }},
    {"left-over serves the oldest", DispatchMode::kLeftover,
     [](DispatchView* v) {
       for (auto& slot : v->kernels.slot) slot.order = static_cast<std::uint8_t>(3 - slot.order);
     }},
    {"a TB fits with all its resources", DispatchMode::kLeftover,
     [](DispatchView* v) {
       for (auto& slot : v->kernels.slot) slot.need.shared_memory = 0;
     }},
    {"TBs go in order", DispatchMode::kEven,
     [](DispatchView* v) { v->kernels.slot[2].next_tb ^= 1; }},
    {"a kernel with all TBs dispatched waits no more", DispatchMode::kEven,
     [](DispatchView* v) { ++v->kernels.slot[1].tb_count; }},
    {"a partition is what was planned", DispatchMode::kPartitioned,
     [](DispatchView* v) { ++v->planner.part[0].tbs; }},
    {"eviction is as configured", DispatchMode::kSpatial,
     [](DispatchView* v) { v->policy.preempt = PreemptMode::kDrain; }},
    {"only on demand others lose TBs", DispatchMode::kOnDemand,
     [](DispatchView* v) { v->policy.dispatch = DispatchMode::kLeftover; }},
    {"latency_scale", DispatchMode::kTable, [](DispatchView* v) { ++v->policy.latency_scale; }},
    {"an SM hosts whom it is assigned", DispatchMode::kSpatial,
     [](DispatchView* v) { v->assign.allowed[5] = 0xf; }},
};

TEST(TbDispatchLockstep, FindsEachBrokenRule) {
  for (const BrokenRule& rule : kBroken) {
    PolicyConfig policy = PolicyOf(rule.mode);
    policy.kernels_per_sm = 2;
    policy.linger_ticks = 1;
    policy.table = {1, 4, 2, 3};
    std::string mismatch;
    for (unsigned n = 0; n < 10 && mismatch.empty(); ++n) {
      Gtx980 pair(policy, 512, GetTestOptions().seed + n);
      pair.distort = rule.bend;
      for (unsigned i = 0; i < 4000 && pair.lockstep().ok(); ++i) pair.Cycle();
      mismatch = pair.lockstep().mismatch();
    }
    EXPECT_THAT(mismatch, testing::HasSubstr("expected")) << rule.name;
  }
}

}  // namespace
}  // namespace smk
