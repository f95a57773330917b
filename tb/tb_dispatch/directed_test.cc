// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "control/driver/tb_dispatch.h"
#include "tb_dispatch/spec.h"

namespace smk {
namespace {

constexpr ResourceVector kLimits{64, 96, 16, 8};

ControlConfig ConfigOf(unsigned sms, unsigned depth = 64) {
  ControlConfig config;
  config.num_sms = sms;
  config.limits = kLimits;
  config.preempted_depth = depth;
  return config;
}

PolicyConfig PolicyOf(DispatchMode mode) {
  PolicyConfig policy;
  policy.stream = false;
  policy.dispatch = mode;
  return policy;
}

// Runs until nothing happens any more; returns the decisions.
std::vector<Decision> Rest(DriverBench* bench, unsigned limit = 3000) {
  bench->log().clear();
  for (unsigned i = 0; i < limit; ++i) {
    bench->Cycle();
    if (bench->Quiet()) return bench->log();
  }
  ADD_FAILURE() << "the driver does not come to rest";
  return bench->log();
}

unsigned Count(const std::vector<Decision>& log, DecisionReason reason) {
  return static_cast<unsigned>(
      std::count_if(log.begin(), log.end(), [&](const Decision& d) { return d.reason == reason; }));
}

// All TBs that must leave the SM are saved, and the SM says so.
void SaveAll(DriverBench* bench, unsigned sm, bool flush = false) {
  for (unsigned i = 0; i < bench->sm(sm).tbs.size();) {
    if (!bench->sm(sm).tbs[i].leaving) {
      ++i;
      continue;
    }
    const auto buffer = bench->AskForBuffer(sm, bench->sm(sm).tbs[i].kernel);
    ASSERT_TRUE(buffer);
    bench->Leave(sm, i, *buffer, flush);
    for (int n = 0; n < 4; ++n) bench->Cycle();
  }
  bench->Settle(sm);
}

TEST(TbDispatchTest, DispatchIsDecidedFourCyclesAfterIdleSeesWork) {
  for (unsigned scale : {1u, 2u, 5u}) {
    PolicyConfig policy = PolicyOf(DispatchMode::kLeftover);
    policy.latency_scale = static_cast<std::uint8_t>(scale);
    DriverBench bench(ConfigOf(1), policy);
    bench.Launch(0, {kLimits.registers, kLimits.shared_memory, kLimits.threads, 1}, 9);
    Rest(&bench);
    bench.Finish(0, 0);
    bench.log().clear();
    bench.Cycle();  // the event comes in
    bench.Cycle();  // it is counted
    bench.Cycle();  // Idle sees work
    for (unsigned n = 1; n < 4 * scale; ++n) bench.Cycle();
    EXPECT_EQ(bench.log().size(), 0u) << "earlier than the contract";
    bench.Cycle();
    EXPECT_EQ(bench.log().size(), 1u) << "later than the contract";
  }
}

TEST(TbDispatchTest, PreemptionIsDecidedFifteenCyclesAndOnePerVictimAfterIdleSeesWork) {
  for (unsigned scale : {1u, 2u, 5u}) {
    PolicyConfig policy = PolicyOf(DispatchMode::kOnDemand);
    policy.latency_scale = static_cast<std::uint8_t>(scale);
    DriverBench bench(ConfigOf(1, 3), policy);
    bench.Launch(0, {8, 0, 2, 1}, 99);
    Rest(&bench);
    // One of three buffers is in use, and three are needed.
    bench.sm(0).loading.emplace_back(0, *bench.AskForBuffer(0, 0));
    bench.Launch(1, {20, 0, 2, 1}, 99);
    ASSERT_EQ(Count(Rest(&bench), DecisionReason::kQueueFull), 1u);
    bench.FreeBuffer(0);
    bench.log().clear();
    bench.Cycle();  // the event comes in
    bench.Cycle();  // it is counted
    bench.Cycle();  // Idle sees work
    // Two cycles later the event is acknowledged, and the decision begins anew.
    const unsigned cycles = scale == 1 ? 2 + 15 + 3 : 15 * scale;
    for (unsigned n = 1; n < cycles; ++n) bench.Cycle();
    EXPECT_EQ(bench.log().size(), 0u) << "earlier than the contract";
    bench.Cycle();
    ASSERT_EQ(bench.log().size(), 1u) << "later than the contract";
    EXPECT_EQ(bench.log()[0].reason, DecisionReason::kPreempt);
  }
}

TEST(TbDispatchTest, PlansWithAnyLatencyScale) {
  for (unsigned scale = 1; scale < 9; ++scale) {
    PolicyConfig policy = PolicyOf(DispatchMode::kPartitioned);
    policy.latency_scale = static_cast<std::uint8_t>(scale);
    DriverBench bench(ConfigOf(2), policy);
    bench.Launch(0, {16, 0, 4, 1}, 99);
    Rest(&bench);
    for (unsigned sm = 0; sm < 2; ++sm) {
      ASSERT_TRUE(bench.CanSettle(sm)) << "scale " << scale << ": no plan for SM " << sm;
      bench.Settle(sm);
    }
    Rest(&bench);
    EXPECT_EQ(bench.Resident(0, 0) + bench.Resident(0, 1), 8u);
  }
}

TEST(TbDispatchTest, ADecisionWaitsForTheCreditOfItsSm) {
  DriverBench bench(ConfigOf(1), PolicyOf(DispatchMode::kLeftover));
  bench.sm(0).ready = false;
  bench.Launch(0, {16, 0, 4, 1}, 99);
  for (int i = 0; i < 20; ++i) bench.Cycle();
  for (int i = 0; i < 20; ++i) {
    bench.Cycle();
    const TbDispatch::State& s = bench.driver().tb_dispatch().state();
    ASSERT_EQ(s.step, TbDispatch::Step::kFit) << "the first one had the SM's credit";
    ASSERT_FALSE(s.command_valid);
  }
  EXPECT_EQ(bench.Resident(0, 0), 1u);
  bench.sm(0).ready = true;
  Rest(&bench);
  EXPECT_EQ(bench.Resident(0, 0), 4u);
}

// Its SM gives no credit; the decision that waits for it begins anew without that SM.
TEST(TbDispatchTest, AnSmOnWhichATbWaitsHoldsUpNobody) {
  DriverBench bench(ConfigOf(2), PolicyOf(DispatchMode::kOnDemand));
  bench.sm(0).ready = false;
  bench.Launch(0, {16, 0, 4, 1}, 99);
  for (int i = 0; i < 40; ++i) bench.Cycle();
  EXPECT_EQ(bench.Resident(0, 0), 1u);
  EXPECT_LT(bench.Resident(0, 1), 4u) << "the next one is for the first SM";
  bench.sm(0).waits = true;
  for (int i = 0; i < 100; ++i) bench.Cycle();
  EXPECT_EQ(bench.Resident(0, 0), 1u);
  EXPECT_EQ(bench.Resident(0, 1), 4u);
  EXPECT_TRUE(bench.driver().state().waiting.Test(0));
  bench.sm(0).ready = true;
  Rest(&bench);
  EXPECT_EQ(bench.Resident(0, 0), 4u);
  EXPECT_FALSE(bench.driver().state().waiting.Any());
}

TEST(TbDispatchTest, NobodyIsPreemptedOnAnSmOnWhichATbWaits) {
  for (const bool waits : {false, true}) {
    DriverBench bench(ConfigOf(2), PolicyOf(DispatchMode::kOnDemand));
    bench.Launch(0, {16, 0, 4, 1}, 9);
    Rest(&bench);
    bench.sm(0).ready = !waits;
    bench.Finish(0, 0);
    for (int i = 0; i < 40; ++i) bench.Cycle();
    EXPECT_EQ(bench.Resident(0, 0), 4u) << "the ninth";
    bench.sm(0).waits = waits;
    for (int i = 0; i < 10; ++i) bench.Cycle();
    bench.log().clear();
    bench.Launch(1, {16, 0, 4, 1}, 1);
    for (int i = 0; i < 200; ++i) bench.Cycle();
    std::vector<SmId> preempted;
    for (const Decision& d : bench.log()) {
      if (d.reason == DecisionReason::kPreempt) preempted.push_back(d.sm);
    }
    EXPECT_EQ(preempted, std::vector<SmId>{SmId{static_cast<std::uint8_t>(waits ? 1 : 0)}});
  }
}

TEST(TbDispatchTest, PreemptedTbsGoBeforeNewOnes) {
  DriverBench bench(ConfigOf(1), PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, {16, 0, 4, 1}, 99);
  Rest(&bench);
  bench.Launch(1, {16, 0, 4, 1}, 1);
  Rest(&bench);
  const unsigned saved = bench.sm(0).tbs[0].tb;
  SaveAll(&bench, 0);
  Rest(&bench);
  ASSERT_EQ(bench.sm(0).tbs.back().kernel, 1u);
  bench.Finish(0, 3);
  const std::vector<Decision> log = Rest(&bench);
  ASSERT_EQ(log.size(), 2u) << "a dispatch, and one attempt that finds no victim";
  EXPECT_EQ(log[0].reason, DecisionReason::kDispatchRestored);
  EXPECT_EQ(log[0].tb, static_cast<TbId>(saved));
}

TEST(TbDispatchTest, PreemptsAsFewTbsAsMakeRoomForOne) {
  DriverBench bench(ConfigOf(1), PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, {8, 0, 2, 1}, 99);
  Rest(&bench);
  bench.Launch(1, {20, 0, 2, 1}, 99);
  const std::vector<Decision> log = Rest(&bench);
  ASSERT_EQ(Count(log, DecisionReason::kPreempt), 1u);
  EXPECT_EQ(log.back().victim, KernelId{0});
  EXPECT_EQ(log.back().victim_tbs, 3) << "3 x 8 registers hold 20";
}

// Shares: 4 x 1/4 against none. One exchange makes 3/4 and 1/4; a second 1/2 and 1/2; a third is no
// better, and the driver comes to rest.
TEST(TbDispatchTest, PreemptionEndsWhenTheRangeNoLongerShrinks) {
  DriverBench bench(ConfigOf(1), PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, {16, 0, 4, 1}, 99);
  Rest(&bench);
  bench.Launch(1, {16, 0, 4, 1}, 99);
  Rest(&bench);
  for (int i = 0; i < 2; ++i) {
    SaveAll(&bench, 0);
    Rest(&bench);
  }
  EXPECT_EQ(bench.Resident(0, 0), 2u);
  EXPECT_EQ(bench.Resident(1, 0), 2u);
  EXPECT_FALSE(bench.CanSettle(0)) << "a third preemption is under way";
}

// [D22]: kernels with more TBs than one SM holds, of which none finishes.
class Swaps {
 public:
  Swaps(bool guard, const std::vector<ResourceVector>& needs) : bench_(ConfigOf(1), Policy(guard)) {
    for (unsigned k = 0; k < needs.size(); ++k) {
      bench_.Launch(k, needs[k], 99);
      Rest(&bench_);
    }
  }
  // How often TBs leave before nobody has to.
  unsigned Run(unsigned at_most) {
    unsigned swaps = 0;
    for (; bench_.CanSettle(0) || Leaving(); ++swaps) {
      if (swaps == at_most) break;
      SaveAll(&bench_, 0);
      while (!bench_.sm(0).loading.empty()) {
        bench_.FreeBuffer(0);
        Rest(&bench_);
      }
      Rest(&bench_);
    }
    return swaps;
  }
  void Tick() {
    HostInputs host;
    host.tick = true;
    bench_.Cycle(host);
    Rest(&bench_);
  }

 private:
  static PolicyConfig Policy(bool guard) {
    PolicyConfig policy = PolicyOf(DispatchMode::kOnDemand);
    policy.preempt_guard = guard;
    return policy;
  }
  bool Leaving() const {
    for (const BenchTb& tb : bench_.sm(0).tbs) {
      if (tb.leaving) return true;
    }
    return false;
  }
  DriverBench bench_;
};

// Of shares 1 and 2.5, with room for 8: three and two become five and one, and back.
const std::vector<ResourceVector> kEndless = {{20, 0, 1, 1}, {8, 0, 1, 1}};

TEST(TbDispatchTest, SwapsInPlaceFollowEachOtherWithoutAnEnd) {
  EXPECT_EQ(Swaps(false, kEndless).Run(200), 200u);
}

// Each kernel gains room once between two ticks, and keeps it until the second one comes; then a
// swap begins without any other event.
TEST(TbDispatchTest, GuardedSwapsComeToRestBetweenTicks) {
  Swaps swaps(true, kEndless);
  EXPECT_EQ(swaps.Run(200), 2u) << "two TBs of the first kernel make room, one after the other";
  for (int i = 0; i < 20; ++i) {
    swaps.Tick();
    EXPECT_EQ(swaps.Run(200), 0u) << i;
    swaps.Tick();
    EXPECT_EQ(swaps.Run(200), 1u) << i;
  }
}

// Of any four kernels: who gains room keeps it, so that between two ticks there are no more swaps
// than TBs of one kernel on the SM, and those that were under way. Some never end without it.
TEST(TbDispatchTest, RandomGuardedSwapsComeToRest) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  unsigned endless = 0;
  for (unsigned run = 0; run < 1000; ++run) {
    std::vector<ResourceVector> needs;
    for (unsigned k = 0; k < 2 + run % 3; ++k) {
      needs.push_back({static_cast<std::uint16_t>(1 + oracle::Pick(&random, 24)), 0, 1, 1});
    }
    endless += Swaps(false, needs).Run(60) == 60 ? 1 : 0;
    Swaps guarded(true, needs);
    ASSERT_LE(guarded.Run(60), 3 * kLimits.tbs) << "run " << run;
    for (int tick = 0; tick < 4; ++tick) {
      guarded.Tick();
      ASSERT_LE(guarded.Run(60), 1u + kLimits.tbs) << "run " << run << ", tick " << tick;
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(endless, 0u);
  RecordProperty("endless", static_cast<int>(endless));
}

// [D2]: two SMs exchange at the same time, and no third does although nothing has moved yet.
TEST(TbDispatchTest, ParallelPreemptionsDoNotOvershoot) {
  DriverBench bench(ConfigOf(4), PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, {64, 0, 8, 1}, 99);
  Rest(&bench);
  bench.Launch(1, {64, 0, 8, 1}, 99);
  EXPECT_EQ(Count(Rest(&bench), DecisionReason::kPreempt), 2u);
}

TEST(TbDispatchTest, RoomThatIsNotFoundIsGivenBack) {
  DriverBench bench(ConfigOf(1), PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, {8, 0, 2, 1}, 8);
  Rest(&bench);
  bench.spare_victims = 9;  // all victims finished, or are not yet running
  bench.Launch(1, {20, 0, 2, 1}, 99);
  Rest(&bench);
  bench.spare_victims = 0;
  const std::int32_t share = bench.driver().drf_tracker().state().share[0];
  bench.Settle(0);
  Rest(&bench);
  const DrfTracker::State& drf = bench.driver().drf_tracker().state();
  EXPECT_EQ(drf.resident[0][0], 8);
  EXPECT_LE(share, drf.share[0]);
  EXPECT_TRUE(bench.sm(0).settle_due) << "it is tried again";
}

// Room is made for as many TBs as wait, and no more.
TEST(TbDispatchTest, NoRoomIsMadeForTbsThatDoNotExist) {
  DriverBench bench(ConfigOf(4), PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, {16, 0, 4, 1}, 99);
  Rest(&bench);
  bench.Launch(1, {16, 0, 4, 1}, 2);
  const std::vector<Decision> log = Rest(&bench);
  EXPECT_EQ(Count(log, DecisionReason::kPreempt), 2u);
  EXPECT_EQ(Count(log, DecisionReason::kRoomComing), 2u) << "on the other two SMs";
}

TEST(TbDispatchTest, RoomReservedForAKernelThatIsDoneIsNobodys) {
  DriverBench bench(ConfigOf(2), PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, {16, 0, 4, 1}, 99);
  Rest(&bench);
  bench.Launch(1, {16, 0, 4, 1}, 1);
  Rest(&bench);
  const unsigned reserved = bench.sm(0).settle_due ? 0 : 1, other = 1 - reserved;
  ASSERT_TRUE(bench.sm(reserved).settle_due);
  bench.Finish(other, 0);
  Rest(&bench);
  ASSERT_EQ(bench.sm(other).tbs.back().kernel, 1u) << "its one TB finds room elsewhere";
  bench.Finish(other, 3);
  Rest(&bench);
  SaveAll(&bench, reserved);
  Rest(&bench);
  EXPECT_EQ(bench.driver().drf_tracker().state().share[1], 0);
  EXPECT_EQ(bench.Resident(0, reserved) + bench.Resident(0, other), 8u);
}

TEST(TbDispatchTest, AShortfallOfAKernelThatIsDoneDoesNotCount) {
  DriverBench bench(ConfigOf(1), PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, {8, 0, 2, 1}, 8);
  Rest(&bench);
  bench.spare_victims = 9;
  bench.Launch(1, {20, 0, 2, 1}, 99);
  Rest(&bench);
  ASSERT_TRUE(bench.sm(0).settle_due);
  for (int i = 0; i < 8; ++i) {
    bench.Finish(0, 0);
    Rest(&bench);
  }
  ASSERT_EQ(bench.done(0), 1u);
  bench.Settle(0);
  Rest(&bench);
  EXPECT_EQ(bench.driver().drf_tracker().state().share[0], 0);
  EXPECT_EQ(bench.Resident(1, 0), 3u);
}

TEST(TbDispatchTest, NoPreemptionWithoutFreeBuffers) {
  DriverBench bench(ConfigOf(1, 2), PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(0, {8, 0, 2, 1}, 99);
  Rest(&bench);
  bench.Launch(1, {20, 0, 2, 1}, 99);
  const std::vector<Decision> log = Rest(&bench);
  EXPECT_EQ(Count(log, DecisionReason::kQueueFull), 1u);
  EXPECT_EQ(Count(log, DecisionReason::kPreempt), 0u);
}

// A TB count of more than eight bits would be cut: 280 units of shared memory, one per victim TB.
TEST(TbDispatchTest, AnImpossibleNumberOfVictimsIsNotTaken) {
  ControlConfig config = ConfigOf(1);
  config.limits = {256, 384, 64, 32};
  DriverBench bench(config, PolicyOf(DispatchMode::kOnDemand));
  bench.Launch(1, {8, 320, 1, 1}, 99);
  Rest(&bench);
  bench.Launch(0, {8, 1, 2, 1}, 99);
  Rest(&bench);
  ASSERT_EQ(bench.Resident(0, 0), 31u);
  // Kernel 1 needs 320 - 33 = 287 more units than are free; 31 TBs give 31.
  bench.Launch(2, {8, 320, 1, 1}, 99);
  const std::vector<Decision> log = Rest(&bench);
  EXPECT_GE(Count(log, DecisionReason::kNoVictim), 1u);
  EXPECT_EQ(Count(log, DecisionReason::kPreempt), 0u);
}

// Whatever step the next decision is in when the room comes free.
TEST(TbDispatchTest, AnEventDuringADecisionIsNotLost) {
  for (const DispatchMode mode :
       {DispatchMode::kLeftover, DispatchMode::kOnDemand, DispatchMode::kPartitioned}) {
    for (unsigned n = 0; n < 40; ++n) {
      DriverBench bench(ConfigOf(1), PolicyOf(mode));
      bench.Launch(0, {64, 96, 16, 1}, 9);
      Rest(&bench);
      if (bench.CanSettle(0)) bench.Settle(0);
      Rest(&bench);
      bench.Finish(0, 0);
      for (int i = 0; i < 100 && bench.sm(0).tbs.empty(); ++i) bench.Cycle();
      for (unsigned i = 0; i < n; ++i) bench.Cycle();
      ASSERT_EQ(bench.sm(0).tbs.size(), 1u);
      bench.Finish(0, 0);
      Rest(&bench);
      EXPECT_EQ(bench.sm(0).tbs.size(), 1u) << "event " << n << " cycles after the dispatch";
    }
  }
}

TEST(TbDispatchTest, LeftOverServesTheOlderKernelFirst) {
  DriverBench bench(ConfigOf(1), PolicyOf(DispatchMode::kLeftover));
  bench.Launch(2, {24, 0, 4, 1}, 99);
  Rest(&bench);
  bench.Launch(0, {16, 0, 4, 1}, 99);
  Rest(&bench);
  EXPECT_EQ(bench.Resident(2, 0), 2u);
  EXPECT_EQ(bench.Resident(0, 0), 1u) << "what is left over";
  bench.Finish(0, 0);
  Rest(&bench);
  EXPECT_EQ(bench.Resident(2, 0), 2u) << "before the younger kernel";
}

TEST(TbDispatchTest, SpatialEvictsSmsThatChangeHands) {
  for (const PreemptMode mode : {PreemptMode::kSwitch, PreemptMode::kDrain, PreemptMode::kFlush}) {
    PolicyConfig policy = PolicyOf(DispatchMode::kSpatial);
    policy.preempt = mode;
    DriverBench bench(ConfigOf(4), policy);
    bench.Launch(0, {16, 0, 4, 1}, 99);
    Rest(&bench);
    bench.Launch(1, {16, 0, 4, 1}, 99);
    EXPECT_EQ(Count(Rest(&bench), DecisionReason::kEvictSm), 2u);
    EXPECT_EQ(bench.sm(2).evict_mode, mode);
    EXPECT_EQ(bench.sm(3).evict_mode, mode);
    SaveAll(&bench, 3, mode == PreemptMode::kFlush);
    Rest(&bench);
    EXPECT_EQ(bench.Resident(0, 3), 0u);
    EXPECT_EQ(bench.Resident(1, 3), 4u);
    EXPECT_EQ(bench.Resident(1, 2), 0u) << "not before the SM is empty";
  }
}

TEST(TbDispatchTest, AFullPartitionHoldsItsKernelBack) {
  DriverBench bench(ConfigOf(1), PolicyOf(DispatchMode::kPartitioned));
  bench.Launch(0, {16, 0, 4, 1}, 99);
  Rest(&bench);
  bench.Settle(0);
  Rest(&bench);
  bench.Launch(1, {16, 0, 4, 1}, 1);
  Rest(&bench);
  SaveAll(&bench, 0);
  Rest(&bench);
  EXPECT_EQ(bench.Resident(0, 0), 2u);
  EXPECT_EQ(bench.Resident(1, 0), 1u) << "it has but one TB; its partition stays half empty";
}

// A plan made for kernels that are no longer there is not used.
TEST(TbDispatchTest, APlanOvertakenByALaunchIsMadeAgain) {
  for (unsigned delay = 0; delay < 20; ++delay) {
    DriverBench bench(ConfigOf(1), PolicyOf(DispatchMode::kPartitioned));
    bench.Launch(0, {16, 0, 4, 1}, 99);
    for (unsigned n = 0; n < delay; ++n) bench.Cycle();
    bench.Launch(1, {16, 0, 4, 1}, 99);
    Rest(&bench);
    for (int i = 0; i < 3; ++i) {
      if (bench.sm(0).settle_due) SaveAll(&bench, 0);
      Rest(&bench);
    }
    EXPECT_EQ(bench.Resident(0, 0), 2u) << "delay " << delay;
    EXPECT_EQ(bench.Resident(1, 0), 2u) << "delay " << delay;
  }
}

}  // namespace
}  // namespace smk
