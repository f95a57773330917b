// SPDX-License-Identifier: Apache-2.0
// smk_tb_dispatch against TbDispatch: every output and every question, every cycle.
#include <Vfermi_tb_dispatch.h>
#include <Vfermi_tb_dispatch_smk_pkg.h>
#include <Vsmk_tb_dispatch.h>
#include <Vsmk_tb_dispatch_smk_pkg.h>
#include <Vv100_tb_dispatch.h>
#include <Vv100_tb_dispatch_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tb_dispatch/directed.h"

namespace smk {
namespace {

using tb_dispatch::Fermi;
using tb_dispatch::Fill;
using tb_dispatch::Gtx980;
using tb_dispatch::NeedOf;
using tb_dispatch::PolicyOf;
using tb_dispatch::Rest;
using tb_dispatch::V100;

static_assert(PackageIsDefault<Vsmk_tb_dispatch_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_tb_dispatch_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vv100_tb_dispatch_smk_pkg>(), "rtl and model disagree");

constexpr DispatchMode kModes[] = {DispatchMode::kLeftover,    DispatchMode::kEven,
                                   DispatchMode::kSpatial,     DispatchMode::kOnDemand,
                                   DispatchMode::kPartitioned, DispatchMode::kTable};

std::vector<PolicyConfig> AllPolicies() {
  std::vector<PolicyConfig> all;
  for (const DispatchMode dispatch : kModes) {
    for (unsigned i = 0; i < 24; ++i) {
      PolicyConfig policy;
      policy.stream = all.size() % 3 == 2;
      policy.dispatch = dispatch;
      policy.preempt = static_cast<PreemptMode>(i / 8);
      policy.quota_enable = (i & 1) != 0;
      policy.kernels_per_sm = (i & 2) != 0 ? 2 : kNumKernels;
      policy.latency_scale = (i & 4) != 0 ? 4 : 1;
      policy.linger_ticks = (i & 1) != 0 ? 1 : 30;
      policy.preempt_guard = i / 8 == 1;
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
    const bool quick = policy.latency_scale == 1 && policy.kernels_per_sm == kNumKernels;
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

TEST(TbDispatchLockstep, EqualsTheReferenceWithEightySms) { RunAll<V100>(200); }

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

// Kernels come one after the other, each with an SM to itself, and plans of many sizes on all SMs.
TEST(TbDispatchLockstep, PartitionOfAKernelAloneIsWhatFits) {
  PolicyConfig policy = PolicyOf(DispatchMode::kPartitioned);
  policy.linger_ticks = 0;
  Gtx980 pair(policy, 512, 1);
  pair.machine().launches = false;
  for (unsigned i = 0; i < 20; ++i) {
    const unsigned kernel = i % kNumKernels, tbs = std::array{32u, 25u, 14u, 21u, 1u}[i / 4];
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

// Each bit of latency_scale - 1.
TEST(TbDispatchLockstep, CommandsOfAPlanComeLatencyScaleApart) {
  for (const std::uint8_t scale : {1, 2, 3, 5, 9, 17, 33, 65, 129, 255}) {
    Gtx980 pair(PolicyOf(DispatchMode::kPartitioned, scale), 512, 1);
    pair.machine().launches = false;
    pair.machine().SetRates(0, 100, 100);
    pair.machine().LaunchNext(0, NeedOf<Gtx980>(4), 1);
    pair.Cycle();
    pair.machine().LaunchNext(1, NeedOf<Gtx980>(4), 1);
    std::vector<unsigned> offered;
    for (unsigned n = 0; n < 20u * scale + 200 && offered.size() < 2; ++n) {
      pair.Cycle();
      if (pair.lockstep().dut().command_valid_o) offered.push_back(n);
    }
    ASSERT_EQ(offered.size(), 2u) << +scale;
    EXPECT_EQ(offered[1] - offered[0], 1u + scale);
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// One TB of a size on each SM, then one of each other kernel: it fills an SM, or needs one unit
// more of one resource. Sizes: each bit alone, all but each bit, any.
TEST(TbDispatchLockstep, FitsExactlyAndNoUnitMore) {
  constexpr ResourceVector kLimits = Gtx980::kLimits;
  std::mt19937 random(oracle::Seed());
  Gtx980 pair(PolicyOf(DispatchMode::kLeftover), 512, 1);
  DispatchMachine& machine = pair.machine();
  machine.launches = false;
  for (unsigned i = 0; i < 24 * 8; ++i) {
    const unsigned size = i / 8, more = i % 4, first = 2 * (i / 4 % 2) + size % 2;
    const auto part = [&](unsigned limit, unsigned most) {
      const unsigned bit = 1u << size % 9;
      const unsigned units = size < 9 ? bit : size < 18 ? limit - std::min(bit, limit) : random();
      return static_cast<std::uint16_t>(size < 18 ? std::clamp(units, 1u, most) : 1 + units % most);
    };
    const ResourceVector there{part(kLimits.registers, kLimits.registers),
                               part(kLimits.shared_memory, kLimits.shared_memory),
                               part(kLimits.threads, kLimits.threads - 1), 1};
    machine.SetRates(0, 100, 100);
    machine.LaunchNext(first, there, Gtx980::Package::NumSms);
    EXPECT_EQ(Rest(&pair).size(), Gtx980::Package::NumSms) << i;
    for (unsigned n = 1; n < kNumKernels; ++n) {
      ResourceVector need = kLimits - there;
      need.tbs = 1;
      const unsigned resource = (more + n) % 4;
      if (resource == 0) ++need.registers;
      if (resource == 1) ++need.shared_memory;
      if (resource == 2) ++need.threads;
      machine.LaunchNext((first + n) % kNumKernels, need, 1);
      unsigned dispatches = 0;
      for (const Decision& d : Rest(&pair)) dispatches += d.reason == DecisionReason::kDispatchNew;
      EXPECT_EQ(dispatches, resource == 3 ? 1u : 0u) << i;
    }
    machine.SetRates(1000, 100, 100);
    for (int n = 0; n < 1000 && machine.kernels().active() != 0; ++n) pair.Cycle();
    Rest(&pair);
    ASSERT_TRUE(pair.lockstep().ok()) << i << ": " << pair.lockstep().mismatch();
  }
}

// In the cycle in which its SM is looked at, a kernel may not run there, or nowhere else. The
// second time the same kernel comes again, and nobody tells but that it is active.
TEST(TbDispatchLockstep, KernelRunsOnlyWhereItStillMay) {
  for (unsigned i = 0; i < 2 * kNumKernels; ++i) {
    const unsigned kernel = i / 2;
    Gtx980 pair(PolicyOf(DispatchMode::kLeftover), 512, i);
    DispatchMachine& machine = pair.machine();
    machine.launches = false;
    if (i % 2 != 0) {
      machine.SetRates(1000, 100, 100);
      machine.LaunchNext(kernel, NeedOf<Gtx980>(1), 1);
      Rest(&pair);
    }
    machine.SetRates(0, 100, 100);
    machine.LaunchNext(kernel, NeedOf<Gtx980>(1), Gtx980::Package::NumSms);
    for (int n = 0; n < 10; ++n) {  // nobody runs anywhere until the launch is over
      pair.forbidden_next = SmMask::First(kMaxSms);
      pair.Cycle();
    }
    const SmMask all = SmMask::First(Gtx980::Package::NumSms);
    SmMask used;
    while (used != all) {
      for (const bool here : {false, true}) {
        for (int n = 0; n < 10 && pair.state().step != TbDispatch::Step::kLook; ++n) pair.Cycle();
        SmMask sm;
        UnpackAt<KernelSms<Gtx980::Package>>(kernel, pair.lockstep().dut().look_sm_o, &sm);
        pair.forbidden_next = here ? all - sm : sm;
        pair.Cycle();
        ASSERT_EQ(pair.Cycle().has_value(), here) << i << " " << sm.Lowest();
        if (here) used |= sm;
      }
    }
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
}

// A kernel has all SMs, and loses half of them to another one.
TEST(TbDispatchLockstep, EveryKernelLosesSmsToEveryOther) {
  unsigned evicted[kNumKernels] = {};
  for (unsigned n = 0; n < kNumKernels * kNumKernels; ++n) {
    const unsigned first = n % kNumKernels, second = n / kNumKernels;
    if (first == second) continue;
    Gtx980 pair(PolicyOf(DispatchMode::kSpatial), 512, n);
    pair.machine().launches = false;
    pair.machine().SetRates(0, 100, 100);
    pair.machine().LaunchNext(first, NeedOf<Gtx980>(2), 2 * Gtx980::Package::NumSms);
    Rest(&pair);
    pair.machine().LaunchNext(second, NeedOf<Gtx980>(2), 2 * Gtx980::Package::NumSms);
    for (const Decision& d : Rest(&pair)) {
      if (d.reason == DecisionReason::kEvictSm) evicted[first] |= 1u << Index(d.sm);
    }
    ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
  }
  // The lower slot keeps the lower half.
  EXPECT_THAT(evicted, testing::ElementsAre(0xff00, 0xffff, 0xffff, 0x00ff));
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
    if (!TbDispatch::Partitioned(policy)) {
      // A TB goes with its SM's credit only.
      bool offered = pair.lockstep().dut().command_valid_o != 0;
      EXPECT_FALSE(offered);
      pair.machine().SetRates(0, 0, 100);
      for (int i = 0; i < 200 && !offered; ++i) {
        pair.Cycle();
        offered = pair.lockstep().dut().command_valid_o != 0;
      }
      EXPECT_TRUE(offered);
      ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
      continue;
    }
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

}  // namespace
}  // namespace smk
