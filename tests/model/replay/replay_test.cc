// SPDX-License-Identifier: Apache-2.0
// The replay device, by hand: rates are given, and every cycle follows from them.
#include "replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "host/in_order.h"
#include "host/kernelet/scheduler.h"
#include "model/replay/rig.h"
#include "model/slicing_scheduler.h"
#include "model/uneven_tbs.h"
#include "replay/repeated_launches.h"
#include "replay/tb_course.h"

namespace smk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Cycle kRigLatency = ReplayRig::kLatency;

class Replay : public testing::Test, protected ReplayRig {};

// 40 TBs at 0.04 in a cycle.
TEST_F(Replay, AKernelAloneTakesItsWorkByItsRate) {
  Add("a", 40);
  rates.alone["a"] = {0.04, 0, 0, 40, 0, 500, 128};
  const RunResult result = Execute();
  EXPECT_EQ(result.jobs[0].start, 0u);
  EXPECT_EQ(result.jobs[0].finish, 1000u);
  EXPECT_EQ(result.cycles, 1001u) << "the run ends with the cycle of its last event";
  EXPECT_EQ(result.kernels[0].tbs_completed, 40u);
  EXPECT_EQ(result.kernels[0].warp_instructions, 40u * 500);
  EXPECT_EQ(result.kernels[0].dram_read_bytes, 40u * 128);
  EXPECT_EQ(result.kernels[0].last_tb_end, 1000u);
  EXPECT_EQ(result.kernels[0].cycles_present, 1000u);
  EXPECT_FALSE(result.cut_short);
  EXPECT_TRUE(result.from_rates);
  EXPECT_GT(result.checks, 0u);
}

// 100 TBs: 80 at 0.04 take 2000 cycles, and the last 20 another 800.
TEST_F(Replay, ALaunchThatFeedsDrainsAtTheEnd) {
  Add("a", 100);
  rates.alone["a"] = {0.04, 20, 800, 40, 10};
  EXPECT_EQ(Execute().jobs[0].finish, 2000u + 800);
}

TEST_F(Replay, ARunMayBeLongerThanTheCycleModelsCanBe) {
  Add("a", 40);
  rates.alone["a"] = {1e-8, 0, 0, 40};
  request.cycles = 10'000'000'000;
  EXPECT_EQ(Execute().jobs[0].finish, 4'000'000'000u);
}

TEST_F(Replay, EveryLaunchPaysItsLatency) {
  Add("a", 40, 8, /*launches=*/3);
  rates.alone["a"] = {0.04, 0, 0, 40};
  const RunResult result = Execute();
  EXPECT_EQ(result.jobs[0].finish, 3 * 1000 + 2 * kRigLatency);
  EXPECT_EQ(result.kernels[0].launches_completed, 3u);
  EXPECT_EQ(result.kernels[0].tbs_completed, 120u);
}

// Each fills half of an SM. When b comes, a has done 10 of its 20; the rest takes 1000 cycles at
// 0.01, in which b does 10 of its 20, and then 10 in 250 at 0.04.
TEST_F(Replay, TheRatesAreThoseOfTheSetUntilItChanges) {
  Add("a", 20);
  Add("b", 20).arrival = 500;
  rates.alone["a"] = {0.02, 0, 0, 20};
  rates.alone["b"] = {0.04, 0, 0, 20};
  rates.together["a+b"] = {{0.01, 20}, {0.01, 20}};
  const RunResult result = Execute();
  EXPECT_EQ(result.jobs[1].start, 500u);
  EXPECT_EQ(result.jobs[0].finish, 500u + 1000);
  EXPECT_EQ(result.jobs[1].finish, 1500u + 250);
  EXPECT_THAT(rates.asked, ElementsAre("a+b")) << "once";
}

// 40 TBs of a take 1000 cycles, and its last 20 another 500 alone. With them, two of b lie on each
// SM, and both have half of their speed.
TEST_F(Replay, ALaunchThatFeedsIsFollowedTbByTb) {
  Add("a", 60);
  Add("b", 20);
  rates.alone["a"] = {0.04, 20, 500, 40, 20};
  rates.alone["b"] = {0.04, 0, 0, 20};
  rates.together["a+b"] = {{0.02, 20}, {0.02, 20}};
  const RunResult result = Execute();
  EXPECT_EQ(result.jobs[0].finish, 1000u + 1000);
  EXPECT_EQ(result.jobs[1].finish, 1000u + 1000);
  EXPECT_THAT(rates.asked, ElementsAre("a+b"));
}

// As long as a is alone, nobody asks where its TBs are. When b comes, its last 20 have had 200 of
// their 500 cycles, and then need 600.
TEST_F(Replay, ALaunchAloneIsFollowedFromItsBeginOnWhenAnotherComes) {
  Add("a", 60);
  Add("b", 20).arrival = 1200;
  rates.alone["a"] = {0.04, 20, 500, 40, 20};
  rates.alone["b"] = {0.04, 0, 0, 20};
  rates.together["a+b"] = {{0.02, 20}, {0.02, 20}};
  const RunResult result = Execute();
  EXPECT_EQ(result.jobs[0].finish, 1800u);
  EXPECT_EQ(result.jobs[1].finish, 1800u + 200);
}

TEST_F(Replay, SlicesAndLaunchesOfNotTooManyTbsAreFollowed) {
  constexpr std::uint32_t kMost = TbCourse::kMostTbs;
  EXPECT_TRUE(TbCourse::Follows({nullptr, 0, kMost, /*whole=*/true}));
  EXPECT_FALSE(TbCourse::Follows({nullptr, 0, kMost + 1, /*whole=*/true}));
  EXPECT_TRUE(TbCourse::Follows({nullptr, 0, kMost + 1, /*whole=*/false}));
}

constexpr std::uint32_t kLong = TbCourse::kMostTbs + 4000;  // TBs: at rates

// a fills the SMs until it drains, for 800 cycles with 5/8 of its places. On the other 3/8 b does
// 12 of its 40 TBs. a's rate is 5/8, too, so that both take as long as one after the other.
TEST_F(Replay, TheNextKernelHasWhatADrainingOneLeavesOver) {
  Add("a", kLong);
  Add("b", 40);
  rates.alone["a"] = {0.04, 20, 800, 40, 25};
  rates.alone["b"] = {0.04, 0, 0, 40};
  const RunResult result = Execute();
  constexpr Cycle kDone = (kLong - 20) * 25 + 800;
  EXPECT_EQ(result.jobs[0].finish, kDone);
  EXPECT_EQ(result.jobs[1].start, 1u);
  EXPECT_EQ(result.jobs[1].finish, kDone + 28 * 25);
}

// With partitions the place of a stays a's until it is done, and for three ticks after.
TEST_F(Replay, PartitionsAreKeptWhileAKernelDrainsAndLingers) {
  request.policy.dispatch = DispatchMode::kEven;
  request.policy.epoch_length = 1000;
  Add("a", 50);
  Add("b", 160);
  rates.alone["a"] = {0.04, 20, 1000, 40, 20};
  rates.alone["b"] = {0.04, 20, 1000, 40, 20};
  rates.together["a+b"] = {{0.02, 20}, {0.02, 20}};
  const RunResult result = Execute();
  // On half of its places half of the work is left when a begins to drain: a cycle alone, 39.96 at
  // 0.02, and 10 at half of that.
  EXPECT_EQ(result.jobs[0].finish, 1u + 1998 + 1000);
  // b: at 0.02 until the place of a is given away at 5000; then alone, 40.02 to feed and 20 to
  // drain.
  EXPECT_NEAR(static_cast<double>(result.jobs[1].finish), 5000 + 40.02 / 0.04 + 1000, 1);
}

TEST_F(Replay, SlicesFollowEachOtherInTheirSlots) {
  Add("a", 60);
  Add("b", 40);
  rates.alone["a"] = rates.alone["b"] = {0.02, 0, 0, 20};
  rates.together["a+b"] = {{0.01, 20}, {0.01, 20}};
  request.record_tbs = true;  // so that launches are
  const RunResult result = Execute(MakeSlicedPair(20, 20));
  std::vector<Cycle> starts, ends;
  for (const LaunchRecord& launch : result.launches) {
    starts.push_back(launch.start);
    ends.push_back(launch.end);
    EXPECT_EQ(launch.tb_count, 20u);
  }
  // b's slice begins and ends a cycle after a's. The last one is alone.
  EXPECT_THAT(starts, ElementsAre(0, 1, 2099, 2100, 4198));
  EXPECT_THAT(ends, ElementsAre(1999, 2000, 4098, 4099, 5198));
  EXPECT_EQ(result.jobs[0].slices_completed, 3u);
  EXPECT_EQ(result.jobs[1].slices_completed, 2u);
}

// Of 60 TBs 40 have places, for 1000 cycles. Then there are two on each SM, for half as long.
TEST_F(Replay, ASliceOfMoreTbsThanTheGpuHoldsIsFollowed) {
  Add("a", 120);
  rates.alone["a"] = {0.04, 0, 0, 40};
  request.record_tbs = true;
  const RunResult result =
      Execute(std::make_unique<SlicingScheduler>(std::vector<std::uint32_t>{60}, /*pause=*/5000));
  ASSERT_EQ(result.launches.size(), 2u);
  EXPECT_EQ(result.launches[0].end - result.launches[0].start, 1500u);
  EXPECT_EQ(result.launches[1].end - result.launches[1].start, 1500u);
}

// 20 TBs each: a at 0.03 and b at 0.01 while a is older. b's slice is in the middle when a's next
// one comes; then it is the other way round.
TEST_F(Replay, AnOlderSliceGoesOnFaster) {
  Add("a", 40);
  Add("b", 20);
  rates.alone["a"] = rates.alone["b"] = {0.04, 0, 0, 20};
  rates.together["a+b"] = {{0.02, 20}, {0.02, 20}};
  rates.by_age["a+b"] = {{{0, 1}, {{0.03, 20}, {0.01, 20}}}, {{1, 0}, {{0.01, 20}, {0.03, 20}}}};
  request.record_tbs = true;
  const RunResult result = Execute(MakeSlicedPair(20, 20));
  ASSERT_EQ(result.launches.size(), 3u);
  EXPECT_NEAR(static_cast<double>(result.launches[0].end), 20 / 0.03, 2);
  // b: 6.7 beside the first, 4 in the latency, 9.3 at 0.03. a: 3.1 of 20 meanwhile.
  EXPECT_NEAR(static_cast<double>(result.jobs[1].finish), 667 + 100 + 9.33 / 0.03, 4);
  EXPECT_NEAR(static_cast<double>(result.jobs[0].finish), 667 + 100 + 311 + 16.9 / 0.04, 6);
}

// 2 of 10 TBs have 17 instructions, the others 5: a slice of 5 has 49, and the next 25, which is
// the unit of neither.
TEST_F(Replay, LongerTbsAreMoreWork) {
  auto workload = std::make_shared<Workload>(*UnevenTbs());
  workload->name = "a";
  request.jobs.push_back({workload, 0, false});
  rates.alone["a"] = {0.01, 0, 0, 5};
  rates.alone["a"].unit_tbs = 5;
  request.record_tbs = true;
  const RunResult result = Execute(MakeRepeatedLaunches({5}));
  ASSERT_EQ(result.launches.size(), 2u);
  EXPECT_EQ(result.launches[0].end - result.launches[0].start, 500u);
  EXPECT_EQ(result.launches[1].end - result.launches[1].start, 255u) << "25 of 49";
  EXPECT_EQ(result.kernels[0].tbs_completed, 10u);
}

// The second copy runs beside the first kernel; a byte takes a cycle.
TEST_F(Replay, CopiesOverlapWithKernels) {
  for (const char* name : {"a", "b"}) {
    Add(name, 40).copy_in = 1000;
    request.jobs.back().copy_out = 200;
    rates.alone[name] = {0.04, 0, 0, 40};
  }
  const RunResult result = Execute(MakeSequential());
  EXPECT_EQ(result.jobs[0].ready, 1050u);
  EXPECT_EQ(result.jobs[0].start, 1050u);
  EXPECT_EQ(result.jobs[1].ready, 2100u);
  EXPECT_EQ(result.jobs[1].start, 2050u + kRigLatency);
  EXPECT_EQ(result.kernels[1].last_tb_end, 3150u);
  EXPECT_EQ(result.jobs[1].finish, 3150u + 1 + 250) << "the copy begins a cycle after the end";
  EXPECT_EQ(result.copies.in_cycles, 2100u);
  EXPECT_EQ(result.copies.out_cycles, 500u);
  EXPECT_GE(result.copies.overlapped_cycles, 1000u);
}

TEST_F(Replay, ARunCanBeCutShort) {
  Add("a", 40);
  rates.alone["a"] = {0.04, 0, 0, 40};
  request.cycles = 510;
  const RunResult result = Execute();
  EXPECT_TRUE(result.cut_short);
  EXPECT_EQ(result.cycles, 510u);
  EXPECT_EQ(result.kernels[0].tbs_completed, 20u);
  EXPECT_EQ(result.jobs[0].finish, kNever);
}

// An older kernel that comes again takes its places back as the TBs of the other end.
TEST_F(Replay, AKernelThatComesAgainKeepsItsRank) {
  Add("a", kLong, 8, /*launches=*/2);
  Add("b", kLong);
  rates.alone["a"] = rates.alone["b"] = {0.04, 20, 800, 40, 25};
  const RunResult result = Execute();
  // b does 12 TBs while a drains, and 4 in the pause. Then, for the 1000 cycles of its 40 TBs, b
  // has 5/8 of its rate and a 3/8, which makes 25 and 15; then a has all.
  const double again = (kLong - 20) / 0.04 + 800 + 100;
  EXPECT_NEAR(static_cast<double>(result.jobs[0].finish),
              again + 1000 + (kLong - 15 - 20) / 0.04 + 800, 2);
  EXPECT_NEAR(static_cast<double>(result.jobs[1].finish), 3 * kLong / 0.04 + (800 - 20 / 0.04), 2)
      << "nothing is idle";
}

// 20 TBs that all fit when they are alone have half of these places beside another: ten of them end
// together, and then the others.
TEST_F(Replay, AShortLaunchGoesInWavesWhereItHasFewerPlaces) {
  request.policy.dispatch = DispatchMode::kEven;
  Add("a", 20);
  Add("b", 1000);
  rates.alone["a"] = {0.02, 0, 0, 20};
  rates.alone["b"] = {0.04, 20, 800, 40, 20};
  rates.together["a+b"] = {{0.01, 10}, {0.02, 20}};
  request.jobs[1].arrival = 500;
  // Half of each is done; ten lose their places, and go on when the others are done.
  EXPECT_EQ(Execute().jobs[0].finish, 500u + 500 + 500);
  request.jobs[0].arrival = 5;
  request.jobs[1].arrival = 0;
  EXPECT_EQ(Execute().jobs[0].finish, 5u + 1000 + 1000);
  // In three waves, the last of four TBs.
  rates.together["a+b"] = {{0.0048, 8}, {0.02, 20}};
  EXPECT_NEAR(static_cast<double>(Execute().jobs[0].finish), 5 + 3 / 0.0006, 2);
}

// On demand others get the places: it feeds until 10 are placed, half done, and drains at half of
// the rate.
TEST_F(Replay, AShortLaunchDrainsWhereOthersGetItsPlaces) {
  request.policy.dispatch = DispatchMode::kOnDemand;
  Add("a", 20).arrival = 5;
  Add("b", 1000);
  rates.alone["a"] = {0.02, 0, 0, 20};
  rates.alone["b"] = {0.04, 20, 800, 40, 20};
  rates.together["a+b"] = {{0.01, 10}, {0.02, 20}};
  EXPECT_NEAR(static_cast<double>(Execute().jobs[0].finish), 5 + 15 / 0.01 + 5 / 0.005, 1);
}

// As long as most of a wave is left when its last TB is placed, a long launch goes in waves, too.
TEST_F(Replay, ALongLaunchGoesInWavesWhileItsTbsAreInStep) {
  request.policy.dispatch = DispatchMode::kEven;
  Add("a", 50);
  Add("b", 1000);
  rates.alone["b"] = {0.04, 20, 800, 40, 20};
  rates.together["a+b"] = {{0.01, 20}, {0.02, 20}};
  // A cycle alone, in which 40 run; then three waves of 20 and less, of 2000 cycles each.
  rates.alone["a"] = {0.04, 32, 900, 40, 35};
  EXPECT_NEAR(static_cast<double>(Execute().jobs[0].finish), 3 * 2000, 3);
  // Without: it feeds until 0.775 of the work of 20 is left.
  rates.alone["a"] = {0.04, 31, 900, 40, 35};
  EXPECT_NEAR(static_cast<double>(Execute().jobs[0].finish),
              (50 - 15.5) / 0.01 + 15.5 / (0.01 * 31 / 900 / 0.04), 3);
}

// Alone under partitions: 40 TBs end together after 1000 cycles, and the last 35 take 600.
TEST_F(Replay, ALastWaveAloneTakesWhatItWasMeasuredToTake) {
  request.policy.dispatch = DispatchMode::kEven;
  Add("a", 75);
  rates.alone["a"] = {0.04, 35, 600, 40, 35};
  EXPECT_NEAR(static_cast<double>(Execute().jobs[0].finish), 1000 + 600, 2);
  // What is left of the first wave when the last TB is placed is done at the rate before.
  rates.alone["a"] = {0.04, 33, 600, 40, 35};
  EXPECT_NEAR(static_cast<double>(Execute().jobs[0].finish), (75 - 33) / 0.04 + 600, 2);
  // A full wave.
  request.jobs.clear();
  Add("b", 80);
  rates.alone["b"] = {0.04, 40, 1000, 40, 40};
  EXPECT_NEAR(static_cast<double>(Execute().jobs[0].finish), 2000, 2);
}

// Most of a wave is left, too, where the oldest TB has the SM: from then on there are ever fewer.
TEST_F(Replay, TbsThatEndOneByOneGoInNoWaves) {
  request.policy.dispatch = DispatchMode::kEven;
  for (const std::uint32_t tbs : {41u, 44u, 75u, 80u, 81u}) {
    request.jobs.clear();
    Add("a", tbs);
    rates.alone["a"] = {0.04, 39, 1500, 40, 20};
    EXPECT_NEAR(static_cast<double>(Execute().jobs[0].finish), (tbs - 39) / 0.04 + 1500, 2) << tbs;
  }
}

// Drained between two samples: nobody saw how many places it had meanwhile.
TEST_F(Replay, AShortDrainHasHalfOfThePlaces) {
  for (const DispatchMode dispatch : {DispatchMode::kOnDemand, DispatchMode::kEven}) {
    request.policy.dispatch = dispatch;
    request.jobs.clear();
    Add("a", 1000);
    rates.alone["a"] = {0.04, 2, 100, 40, 0};
    EXPECT_NEAR(static_cast<double>(Execute().jobs[0].finish), (1000 - 2) / 0.04 + 100, 2);
  }
}

// Any set has rates, and is taken down.
class PartRates : public HandRates {
 public:
  SetRates Together(const std::vector<LaunchKind>& set) override {
    asked.emplace_back();
    SetRates rates;
    for (const LaunchKind& launch : set) {
      asked.back() += launch.workload->name;
      rates.mean.push_back(Alone(launch).Part(set.size()));
    }
    return rates;
  }
};

// Slots are what a plan has its ties by. e comes when a ends, into its slot.
TEST_F(Replay, SetsAreInTheOrderOfSlotsWhereAPlanHasTies) {
  request.policy.dispatch = DispatchMode::kEven;
  for (const unsigned warps : {8u, 20u}) {  // four fit on an SM, and one
    PartRates any;
    request.jobs.clear();
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      const std::uint32_t tbs = name[0] == 'a' ? 10 : 100;
      Add(name, tbs, warps);
      any.alone[name] = {0.01, 0, 0, static_cast<double>(tbs)};
    }
    RunReplaySimulation(request, any, nullptr);
    ASSERT_GE(any.asked.size(), 4u);
    any.asked.resize(4);
    EXPECT_THAT(any.asked, ElementsAre("ab", "abc", "abcd", "ebcd")) << warps;
  }
}

// Where there are none, a set is measured in one order: first who needs less.
TEST_F(Replay, SetsAreInOneOrderWhereAPlanHasNoTies) {
  request.policy.dispatch = DispatchMode::kEven;
  Add("a", 10, 16);
  Add("b", 10, 8);
  rates.alone["a"] = rates.alone["b"] = {0.01, 0, 0, 10};
  rates.together["b+a"] = {{0.01, 10}, {0.01, 10}};
  Execute();
  EXPECT_THAT(rates.asked, ElementsAre("b+a"));
}

TEST_F(Replay, RefusesWhatOnlyTheCycleModelCanDo) {
  Add("a", 40);
  rates.alone["a"] = {0.04, 0, 0, 40};
  const auto refusal = [&] {
    try {
      Execute();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal(), "accepted");
  request.measure_from = 5;
  EXPECT_THAT(refusal(), HasSubstr("measures the whole run only; expected --device cycle"));
  request.measure_from = 0;
  request.until = RunUntil::kWork;
  request.jobs[0].work.warp_instructions = 1;
  EXPECT_THAT(refusal(), HasSubstr("no runs until equal work"));
  request.until = RunUntil::kDone;
  request.machine.sm.limits.threads = 4;
  EXPECT_THAT(refusal(), HasSubstr("one thread block needs more than an SM"));
  request.jobs.clear();
  EXPECT_THAT(refusal(), HasSubstr("jobs: expected at least one"));
}

}  // namespace
}  // namespace smk
