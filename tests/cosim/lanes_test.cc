// SPDX-License-Identifier: Apache-2.0
// Compiled gates do what the RTL does: 64 instances, and 128 where there are many, beside verilated
// ones, every output in every cycle, each with traffic of its own. Gates with a fault, each in a
// lane of its own, are found out.
#include <gmock/gmock.h>

#include <iostream>
#include <type_traits>

#include "cosim/configs/fermi.h"
#include "cosim/configs/gtx980.h"
#include "cosim/configs/small.h"
#include "cosim/configs/v100.h"
#include "cosim/lanes_rig.h"
#include "cosim/scenarios.h"
#include "cosim/seeded_lanes.h"

namespace smk {
namespace {

// What is left is told before the cycle, as the RTL has it.
constexpr auto kCycleOfSchedulers = [](auto* gates, LaneCycle cycle) {
  gates->Left();
  if (cycle != LaneCycle::kQuiet) gates->Changed();
  if (cycle == LaneCycle::kBusy) {
    gates->Cycle();
  } else {
    gates->Quiet();
  }
};
// Of lanes that are all greedy.
class CycleOfGreedy {
 public:
  template <typename Gates>
  void operator()(Gates* gates, LaneCycle cycle) {
    gates->Left();
    if (cycle != LaneCycle::kQuiet) gates->Changed();
    const bool gated = Any(gates->in.gated_i[0]);
    if (cycle == LaneCycle::kBusy) {
      gates->Cycle();
    } else if (gated || was_gated_) {
      gates->Greedy();
    } else {
      gates->Ungated();
      ++ungated_;
    }
    was_gated_ = gated;
  }
  unsigned ungated() const { return ungated_; }

 private:
  template <typename Bit>
  static bool Any(const Bit& bit) {
    std::uint64_t any = 0;
    for (unsigned w = 0; w < sizeof(bit) / 8; ++w) any |= bit[w];
    return any != 0;
  }

  bool was_gated_ = true;
  unsigned ungated_ = 0;
};
constexpr auto kCycleOfCounters = [](auto* gates, LaneCycle /*cycle*/) {
  gates->Edge();
  gates->Registers();
};

std::uint64_t Seed() {
  const std::uint64_t seed = plane::FromEnvironment("SMK_SEED", 1);
  std::cout << "seed " << seed << "\n";
  return seed;
}

template <typename Lanes>
class CompiledGates : public testing::Test {};
using Configurations = testing::Types<LanesGtx980, LanesFermi, LanesSmall, LanesV100>;
TYPED_TEST_SUITE(CompiledGates, Configurations, );

TYPED_TEST(CompiledGates, OfSchedulersAreTheRtlInEveryOutputOfEveryCycle) {
  typename TypeParam::SchedulerLanes gates;
  gates.Reset();
  const auto differences =
      RunLanes<SchedulerLane<TypeParam>>(&gates, Seed(), 6000, kCycleOfSchedulers);
  for (unsigned lane = 0; lane < kLaneCount<decltype(gates)>; ++lane)
    EXPECT_EQ(differences.first(lane), "");
  EXPECT_EQ(differences.compared(), 6000u * kLaneCount<decltype(gates)> * 6);
}

TYPED_TEST(CompiledGates, OfGreedySchedulersAreTheRtlInEveryOutputOfEveryCycle) {
  typename TypeParam::SchedulerLanes gates;
  gates.Reset();
  CycleOfGreedy cycle;
  const auto differences = RunLanes<GreedyLane<TypeParam>>(
      &gates, Seed(), 6000, [&cycle](auto* all, LaneCycle kind) { cycle(all, kind); });
  for (unsigned lane = 0; lane < kLaneCount<decltype(gates)>; ++lane)
    EXPECT_EQ(differences.first(lane), "");
  // Half of the cycles are not busy, and quotas are in force in about half of these.
  EXPECT_GT(cycle.ungated(), 1000u);
  EXPECT_LT(cycle.ungated(), 2000u);
}

TYPED_TEST(CompiledGates, OfCountersAreTheRtlInEveryOutputOfEveryCycle) {
  typename TypeParam::ProfileLanes gates;
  gates.Reset();
  const Cycle cycles = 70'000 / TypeParam::Package::NumSchedulers;  // until they are full
  const auto differences =
      RunLanes<ProfileLane<TypeParam>>(&gates, Seed(), cycles, kCycleOfCounters);
  for (unsigned lane = 0; lane < kLaneCount<decltype(gates)>; ++lane)
    EXPECT_EQ(differences.first(lane), "");
  EXPECT_EQ(GetLane(gates.out.report_issued_o, 1) & 0xffff, 61'443u) << "a counter was full";
}

// Every 16th lane from i on has fault i; there is none in lane 0, nor behind the last one.
constexpr unsigned kApart = 16;
template <typename Lane, typename Gates, typename Evaluate>
void FindsFaults(const std::string& block, Evaluate evaluate) {
  Gates gates;
  gates.Reset();
  for (const LaneFault& fault : kLaneFaults) {
    if (fault.block != block) continue;
    ASSERT_LT(fault.number, kApart);
    for (unsigned lane = fault.number; lane < kLaneCount<Gates>; lane += kApart) {
      SetLane(&gates.in.fault_i, lane, fault.number);
    }
  }
  const auto differences = RunLanes<Lane>(&gates, Seed(), 10'000, evaluate);
  unsigned faults = 0;
  for (const LaneFault& fault : kLaneFaults) {
    if (fault.block != block) continue;
    ++faults;
    bool found = false;
    for (unsigned lane = fault.number; lane < kLaneCount<Gates>; lane += kApart) {
      found = found || !differences.first(lane).empty();
    }
    EXPECT_TRUE(found) << fault.name;
  }
  EXPECT_GT(faults, 1u);
  for (unsigned lane = 0; lane < kLaneCount<Gates>; ++lane) {
    if (lane % kApart == 0 || lane % kApart > faults) {
      EXPECT_EQ(differences.first(lane), "") << "no fault";
    }
  }
}

TEST(CompiledGatesWithAFault, AreFoundBesideTheRtl) {
  FindsFaults<SchedulerLane<RtlSmall>, lanes::SeededScheduler>("quota_scheduler",
                                                               kCycleOfSchedulers);
  FindsFaults<ProfileLane<RtlSmall>, lanes::SeededProfile>("profile_counters", kCycleOfCounters);
}

}  // namespace
}  // namespace smk
