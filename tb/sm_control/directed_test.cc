// SPDX-License-Identifier: Apache-2.0
// The wiring of one SM's control logic.
#include <gtest/gtest.h>

#include "control/sm/sm_control.h"
#include "sm_control/bench.h"

namespace smk {
namespace {

class Bench : public SmControlBench<SmControl> {
 public:
  Bench() : SmControlBench(ControlConfig{}, PolicyConfig{}) {}
};

TEST(SmControlTest, GivesTheCreditOfADispatchBackWhenTheTbIsPlaced) {
  Bench bench;
  bench.Dispatch(0, 0);
  bench.Run(5);
  EXPECT_FALSE(bench.out.warp_start.valid);
  for (unsigned w = 0; w < 4; ++w) {
    EXPECT_FALSE(bench.ready());
    bench.Step();
    EXPECT_TRUE(bench.out.warp_start.valid);
    EXPECT_EQ(bench.out.warp_start.warp_in_tb, w);
  }
  EXPECT_EQ(bench.out.tb_activate, 1u);
  EXPECT_TRUE(bench.to_driver.command_credit);
  bench.Step();
  EXPECT_FALSE(bench.to_driver.command_credit);
}

TEST(SmControlTest, GivesTheCreditOfAnyOtherCommandBackAtOnce) {
  Bench bench;
  bench.Quota(1, 9, true, true);
  EXPECT_TRUE(bench.to_driver.command_credit);
  bench.Step();
  EXPECT_FALSE(bench.to_driver.command_credit);
}

TEST(SmControlTest, AFinishedTbIsReportedOnce) {
  Bench bench;
  bench.Place(3, 17);
  bench.in.tb_finished = 1;
  bench.Run(2);
  EXPECT_TRUE(bench.events.empty());
  bench.Step();
  ASSERT_EQ(bench.events.size(), 1u);
  EXPECT_EQ(bench.events[0].kind, EventKind::kFinished);
  EXPECT_EQ(bench.events[0].kernel, KernelId{3});
  EXPECT_EQ(bench.events[0].tb, TbId{17});
  bench.Run(10);
  EXPECT_EQ(bench.events.size(), 1u);
}

TEST(SmControlTest, TbsThatFinishTogetherAreReportedOnePerCycle) {
  Bench bench;
  for (unsigned tb = 0; tb < 5; ++tb) bench.Place(1, tb);
  bench.in.tb_finished = 0b10111;
  bench.Run(2);
  for (unsigned n = 1; n <= 4; ++n) {
    bench.Step();
    EXPECT_EQ(bench.events.size(), n);
  }
  EXPECT_EQ(bench.events.back().tb, TbId{4});
}

// A TB whose slot is chosen in the very cycle must not be taken for the one that finished.
TEST(SmControlTest, ASlotIsTakenAgainOnlyAfterTheReport) {
  Bench bench;
  bench.Place(0, 10);
  bench.Place(0, 11);
  bench.Dispatch(2, 99);
  bench.Step();
  bench.in.tb_finished = 0b11;
  bench.Run(10);
  ASSERT_EQ(bench.events.size(), 2u);
  EXPECT_EQ(bench.events[0].tb, TbId{10});
  EXPECT_EQ(bench.events[1].tb, TbId{11});
  EXPECT_EQ(bench.events[1].kernel, KernelId{0});
  EXPECT_EQ(bench.control().tb_table().state().valid, 0b100u);
  bench.Place(2, 100);
  EXPECT_EQ(bench.control().tb_table().state().valid, 0b101u) << "free again";
}

TEST(SmControlTest, PreemptsTheHighestSlotsOfTheKernel) {
  Bench bench;
  for (unsigned kernel : {0u, 1u, 0u, 1u, 0u}) bench.Place(kernel, 7);
  bench.Preempt(0, 2);
  bench.Run(100);
  ASSERT_EQ(bench.events.size(), 3u);
  EXPECT_EQ(bench.events[0].kind, EventKind::kSaved);
  EXPECT_TRUE(bench.events[0].counted);
  EXPECT_EQ(bench.events[1].kind, EventKind::kSaved);
  EXPECT_EQ(bench.events[2].kind, EventKind::kSettled);
  EXPECT_EQ(bench.events[2].shortfall, 0);
  EXPECT_EQ(bench.control().tb_table().state().valid, 0b01011u);
}

TEST(SmControlTest, SettlesWithTheNumberOfTbsItCouldNotFind) {
  Bench bench;
  bench.Place(0, 7);
  bench.in.tb_finished = 1;
  bench.Preempt(0, 3);
  bench.Run(20);
  ASSERT_EQ(bench.events.size(), 2u);
  EXPECT_EQ(bench.events[0].kind, EventKind::kFinished);
  EXPECT_FALSE(bench.events[0].counted) << "it was not chosen";
  EXPECT_EQ(bench.events[1].kind, EventKind::kSettled);
  EXPECT_EQ(bench.events[1].shortfall, 3);
}

TEST(SmControlTest, AVictimThatFinishesBeforeItCanLeaveIsCounted) {
  Bench bench;
  bench.Place(0, 7);
  bench.Preempt(0, 1);
  bench.in.tb_finished = 1;
  bench.Step();
  bench.Run(20);
  ASSERT_GE(bench.events.size(), 2u);
  EXPECT_EQ(bench.events.front().kind, EventKind::kFinished);
  EXPECT_TRUE(bench.events.front().counted);
  EXPECT_EQ(bench.events.back().kind, EventKind::kSettled);
  EXPECT_EQ(bench.events.back().shortfall, 0);
}

TEST(SmControlTest, ATbThatIsBeingLoadedIsAVictimToo) {
  Bench bench;
  bench.Dispatch(0, 7, true);
  bench.Run(10);
  bench.Preempt(0, 1);
  bench.Run(100);
  ASSERT_EQ(bench.events.size(), 3u);
  EXPECT_EQ(bench.events[0].kind, EventKind::kBufferFree) << "loaded";
  EXPECT_EQ(bench.events[1].kind, EventKind::kSaved);
  EXPECT_EQ(bench.events[2].kind, EventKind::kSettled);
  EXPECT_EQ(bench.events[2].shortfall, 0);
}

TEST(SmControlTest, NewPartitionsSendMisalignedTbsAway) {
  Bench bench;
  for (unsigned tb = 0; tb < 4; ++tb) bench.Place(0, tb);
  bench.Partition(0, 0, 8, true, true);
  bench.Run(200);
  EXPECT_EQ(bench.control().tb_table().state().valid, 0u) << "the first plan relocates all";
  EXPECT_EQ(bench.events.back().kind, EventKind::kSettled);
  for (unsigned tb = 0; tb < 4; ++tb) bench.Place(0, tb);
  bench.events.clear();
  bench.Partition(0, 0, 3, true, false);
  bench.Partition(1, 3, 5, false, true);
  bench.Run(100);
  EXPECT_EQ(bench.control().tb_table().state().valid, 0b0111u);
  ASSERT_EQ(bench.events.size(), 2u);
  EXPECT_EQ(bench.events[0].kind, EventKind::kSaved);
  EXPECT_EQ(bench.events[0].tb, TbId{3});
  EXPECT_FALSE(bench.events[0].counted);
}

TEST(SmControlTest, EveryWarpSaysWhereItsTbBegins) {
  Bench bench;
  for (auto& view : bench.views) view.need.shared_memory = 3;
  bench.Partition(2, 3, 5, true, true);
  bench.Run(10);
  for (const bool restore : {false, true}) {
    bench.Dispatch(2, 1, restore);
    bench.Run(5);
    for (unsigned w = 0; w < 4; ++w) {
      bench.Step();
      ASSERT_TRUE(bench.out.warp_start.valid);
      EXPECT_EQ(bench.out.warp_start.base.registers, restore ? 8u : 6u) << "slots 3 and 4";
      EXPECT_EQ(bench.out.warp_start.base.shared_memory, restore ? 3u : 0u);
    }
  }
}

TEST(SmControlTest, ATbGetsTheWarpsOfItsSlot) {
  Bench bench;
  bench.Partition(2, 3, 5, true, true);
  bench.Run(10);
  for (unsigned tb = 0; tb < 3; ++tb) bench.Place(2, tb);
  EXPECT_EQ(bench.control().tb_table().state().valid, 0b111000u);
  EXPECT_EQ(bench.control().tb_table().state().warps[4], std::uint64_t{0xf} << 16);
}

TEST(SmControlTest, QuotasComeIntoForceWithTheLastCommandUntilTheNextPlan) {
  Bench bench;
  bench.Partition(0, 0, 4, true, true);
  bench.Run(10);
  bench.Place(0, 0);
  bench.Quota(0, 10, true, false);
  EXPECT_FALSE(bench.control().state().quotas.gated);
  bench.Quota(1, 20, false, true);
  EXPECT_TRUE(bench.control().state().quotas.gated);
  bench.Step();
  EXPECT_EQ(bench.out.quota_left[0], 10);
  bench.in.ready[0] = 1;
  bench.Step();
  EXPECT_EQ(bench.out.quota_left[0], 9);
  bench.Partition(0, 0, 2, true, true);
  EXPECT_FALSE(bench.control().state().quotas.gated);
  bench.Step();
  EXPECT_EQ(bench.out.quota_left[0], 0);
}

// A set is taken as a whole, with its last quota: a reload in between has the set before.
TEST(SmControlTest, AReloadBetweenTwoQuotasHasTheSetBefore) {
  Bench bench;
  bench.Partition(0, 0, 4, true, true);
  bench.Run(10);
  bench.Place(0, 0);
  bench.Quota(0, 2, true, false);
  bench.Quota(1, 2, false, true);
  bench.Step();
  bench.Quota(0, 30, true, false);
  for (unsigned grant = 0; grant < 3; ++grant) {
    bench.in.ready[0] = 1;
    bench.Step();
  }
  EXPECT_EQ(bench.out.quota_left[0], 1);
  EXPECT_EQ(bench.out.quota_left[1], 2);
  bench.Quota(1, 40, false, true);
  bench.in.ready[0] = 1;
  bench.Step();
  bench.Step();
  EXPECT_EQ(bench.out.quota_left[0], 30);
  EXPECT_EQ(bench.out.quota_left[1], 40);
}

// A plan cuts a set off: what comes of it later puts no quotas in force.
TEST(SmControlTest, TheRestOfASetThatAPlanHasCutOffIsNotTaken) {
  Bench bench;
  bench.Partition(0, 0, 4, true, true);
  bench.Run(10);
  bench.Quota(0, 10, true, false);
  bench.Partition(0, 0, 2, true, true);
  bench.Run(10);
  bench.Quota(1, 20, false, true);
  EXPECT_FALSE(bench.control().state().quotas.gated);
  bench.Quota(0, 30, true, false);
  bench.Quota(1, 40, false, true);
  EXPECT_TRUE(bench.control().state().quotas.gated);
  EXPECT_EQ(bench.control().state().quotas.quota[0], 30);
  EXPECT_EQ(bench.control().state().quotas.quota[1], 40);
}

TEST(SmControlTest, StoppedTbsGetNoGrantFromTheSameCycleOn) {
  Bench bench;
  bench.Place(0, 0);
  bench.Preempt(0, 1);
  for (int i = 0; i < 60; ++i) {
    bench.in.ready[0] = 1;
    bench.Step();
    const bool stopped = (bench.out.tb_stop & 1) != 0;
    EXPECT_EQ(bench.out.grant_valid != 0, !stopped) << "cycle " << i;
    if (bench.out.release_valid) break;
  }
  EXPECT_TRUE(bench.out.release_valid);
}

// The mask of stopped TBs changes in the cycle in which the highest one is released.
TEST(SmControlTest, AReleasedTbGetsNoGrantInItsLastCycle) {
  Bench bench;
  for (unsigned tb = 0; tb < 3; ++tb) bench.Place(0, tb);
  bench.Evict(PreemptMode::kFlush);
  bench.Step();  // the SM stops
  bool released = false;
  for (int i = 0; i < 20 && !released; ++i) {
    bench.in.tb_flushable = ~0u;
    bench.in.ready.fill(0b100);  // the warps of slot 2
    if (i == 4) bench.in.tb_finished = 0b010;
    bench.Step();
    released = bench.out.release_valid;
    if (released) {
      EXPECT_EQ(i, 5);
      EXPECT_EQ(bench.out.release_slot, TbSlot{2});
    }
    EXPECT_EQ(bench.out.grant_valid, 0) << "cycle " << i;
  }
  EXPECT_TRUE(released);
}

TEST(SmControlTest, ReportsTheWindowAfterATick) {
  Bench bench;
  bench.Place(1, 0);
  bench.in.ready = {1, 1, 0, 0};
  bench.Step();
  EXPECT_FALSE(bench.to_driver.profile_valid) << "earlier than the contract";
  bench.from_driver.tick = true;
  bench.Step();
  EXPECT_TRUE(bench.to_driver.profile_valid) << "later than the contract";
  EXPECT_EQ(bench.to_driver.profile_issued[1], 2);
  bench.Step();
  EXPECT_FALSE(bench.to_driver.profile_valid);
}

TEST(SmControlTest, SleepsWhenNothingIsGoingOn) {
  Bench bench;
  EXPECT_FALSE(bench.control().awake());
  bench.Dispatch(0, 0);
  EXPECT_TRUE(bench.control().awake());
  bench.Run(15);
  EXPECT_FALSE(bench.control().awake());
  bench.in.ready[0] = 1;
  bench.Step();
  EXPECT_FALSE(bench.control().awake()) << "a grant changes nothing else";
  bench.in.tb_finished = 1;
  bench.Step();
  EXPECT_TRUE(bench.control().awake());
  bench.Run(3);
  EXPECT_FALSE(bench.control().awake());
}

}  // namespace
}  // namespace smk
