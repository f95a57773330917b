// SPDX-License-Identifier: Apache-2.0
// smk_sm_control against SmControl: every output, every cycle.
#include <Vfermi_sm_control.h>
#include <Vfermi_sm_control_smk_pkg.h>
#include <Vsmk_sm_control.h>
#include <Vsmk_sm_control_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "sm_control/bench.h"
#include "sm_control/pair.h"
#include "sm_control/traffic.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_sm_control_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_sm_control_smk_pkg>(), "rtl and model disagree");

using Gtx980 = SmControlPair<Vsmk_sm_control, Vsmk_sm_control_smk_pkg>;
using Fermi = SmControlPair<Vfermi_sm_control, Vfermi_sm_control_smk_pkg>;

// All that can happen must have happened often.
void ExpectAllSeen(const SmControlTally& t) {
  for (const unsigned n : t.commands) EXPECT_GT(n, 100u);
  for (const unsigned n : t.events) EXPECT_GT(n, 100u);
  for (const unsigned n : t.evicted) EXPECT_GT(n, 50u);
  EXPECT_GT(t.counted_finishes, 40u);
  EXPECT_GT(t.shortfalls, 100u);
  EXPECT_GT(t.held_commands, 1000u);
  EXPECT_GT(t.late_buffers, 20u);
  EXPECT_GT(t.waits, 20u);
  EXPECT_GT(t.reloads, 100u);
  EXPECT_GT(t.windows, 500u);
  EXPECT_GT(t.instructions, 1000u);
  EXPECT_GT(t.stalls, 1000u);
  EXPECT_GT(t.silent_cycles, 10'000u);
  EXPECT_GT(t.ready_only_cycles, 2'000u);
}

template <typename Sm>
void RunSeeds(unsigned seeds, unsigned cycles) {
  SmControlTally tally;
  for (unsigned n = 0; n < seeds; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    PolicyConfig policy;
    policy.warp_policy = n % 3 == 2 ? WarpPolicy::kLrr : WarpPolicy::kGto;
    policy.epoch_end = n % 2 == 1 ? EpochEnd::kTick : EpochEnd::kSpent;
    if (n % 3 == 1) policy.preempt = PreemptMode::kChimera;
    policy.chimera_limit = n % 2 == 1 ? 600 : 18'240;
    Sm sm(policy, seed);
    SmControlTraffic<Sm>(&sm, seed, &tally).Run(cycles);
    ASSERT_TRUE(sm.lockstep().ok()) << sm.lockstep().mismatch();
  }
  ExpectAllSeen(tally);
}

TEST(SmControlLockstep, EqualsTheReferenceUnderRandomStimulus) { RunSeeds<Gtx980>(9, 90'000); }

TEST(SmControlLockstep, EqualsTheReferenceInConfigurationFermi) { RunSeeds<Fermi>(12, 60'000); }

TEST(SmControlLockstep, EqualsTheReferenceEvaluatedAndTickedApart) {
  SmControlTally tally;
  Gtx980 sm({}, GetTestOptions().seed);
  sm.apart = true;
  SmControlTraffic<Gtx980>(&sm, GetTestOptions().seed, &tally).Run(20'000);
  EXPECT_TRUE(sm.lockstep().ok()) << sm.lockstep().mismatch();
  EXPECT_GT(tally.reloads, 10u);
}

// The rules of the wiring, one by one; a TB has four warps.
class Bench : public SmControlBench<Gtx980> {
 public:
  explicit Bench(const PolicyConfig& policy = {}) : SmControlBench(policy) {}
  ~Bench() { EXPECT_TRUE(control().lockstep().ok()) << control().lockstep().mismatch(); }
  const Vsmk_sm_control& dut() { return control().lockstep().dut(); }
  std::uint32_t valid() { return control().model().tb_table().state().valid; }
  // True when an event of this kind comes.
  bool RunUntil(EventKind kind) {
    for (unsigned n = 0; n < 1000; ++n) {
      Step();
      if (to_driver.event.valid && to_driver.event.kind == kind) return true;
    }
    return false;
  }
  std::vector<EventKind> Kinds() const {
    std::vector<EventKind> kinds;
    for (const SmEvent& event : events) kinds.push_back(event.kind);
    return kinds;
  }
};

using testing::ElementsAre;

TEST(SmControlLockstep, TheCreditOfADispatchComesExactlyWhenTheTbIsPlaced) {
  Bench bench;
  bench.Dispatch(0, 1);
  for (unsigned cycle = 0; cycle < 12; ++cycle) {
    EXPECT_EQ(bench.dut().command_credit_o, cycle == 9) << cycle;
    bench.Step();
  }
}

TEST(SmControlLockstep, AFinishedTbIsReportedAfterExactlyTwoCycles) {
  Bench bench;
  bench.Place(3, 17);
  bench.in.tb_finished = 1;
  for (unsigned cycle = 0; cycle < 2; ++cycle) {
    bench.Step();
    EXPECT_FALSE(bench.to_driver.event.valid) << "earlier than the contract: " << cycle;
  }
  bench.Step();
  EXPECT_TRUE(bench.to_driver.event.valid) << "later than the contract";
  EXPECT_EQ(bench.to_driver.event.tb, TbId{17});
}

// Every kernel issues on a scheduler of its own, for longer than a counter counts.
TEST(SmControlLockstep, AReportHasAllThatAnIntervalCanHave) {
  constexpr unsigned kLong = 62'000, kMost = ProfileCounters::kFull;
  Bench bench;
  for (unsigned k = 0; k < kNumKernels; ++k) bench.Place(k, k);
  const auto report = [&](unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) {
      for (unsigned s = 0; s < kNumKernels; ++s) {
        bench.in.ready[s] = static_cast<std::uint16_t>(1u << s);
      }
      bench.Step();
    }
    bench.from_driver.tick = true;
    bench.Step();
    EXPECT_TRUE(bench.to_driver.profile_valid);
    return bench.to_driver.profile_issued;
  };
  report(0);
  const auto some = report(1000);
  for (unsigned k = 0; k < kNumKernels; ++k) EXPECT_EQ(some[k], 1000) << k;
  const auto all = report(kLong);
  for (unsigned k = 0; k < kNumKernels; ++k) EXPECT_EQ(all[k], kMost) << k;
  EXPECT_EQ(report(0)[0], 0);
}

// Two TBs finish before the slot of a third one is chosen, 2 cycles after its dispatch.
TEST(SmControlLockstep, ASlotIsTakenAgainInTheCycleAfterItsReportAndNotBefore) {
  for (const unsigned before : {1u, 2u}) {
    Bench bench;
    bench.Place(0, 10);
    bench.Place(0, 11);
    if (before == 2) bench.in.tb_finished = 0b11;
    bench.Dispatch(2, 99);
    if (before == 1) bench.in.tb_finished = 0b11;
    bench.Run(15);
    EXPECT_EQ(bench.valid(), before == 1 ? 0b100u : 0b001u) << before;
    EXPECT_EQ(bench.events[0].tb, TbId{10});
    EXPECT_EQ(bench.events[1].tb, TbId{11});
  }
}

TEST(SmControlLockstep, TheBufferIsRequestedInTheFourthCycleAfterTheCommand) {
  Bench bench;
  bench.Place(2, 5);
  bench.Preempt(2, 1);
  for (unsigned cycle = 1; cycle < 4; ++cycle) {
    EXPECT_EQ(bench.dut().buffer_request_o, 0) << "earlier than the contract: " << cycle;
    bench.Step();
  }
  EXPECT_EQ(bench.dut().buffer_request_o, 1);
  EXPECT_EQ(bench.dut().buffer_kernel_o, 2);
}

// Every number of victims, of TBs in every second slot.
TEST(SmControlLockstep, VictimsAreTheHighestSlotsOfTheKernel) {
  for (unsigned count = 0; count <= 17; ++count) {
    Bench bench;
    for (KernelView& view : bench.views) view.need.threads = 2;
    for (unsigned tb = 0; tb < 32; ++tb) bench.Place(tb % 2, tb);
    bench.Preempt(1, count);
    std::uint32_t highest = 0;
    for (unsigned n = 0; n < std::min(count, 16u); ++n) highest |= 1u << (31 - 2 * n);
    bench.Run(count);  // one per cycle, sooner than one can leave
    EXPECT_EQ(bench.control().model().preempt_engine().state().leaving, highest) << count;
    EXPECT_TRUE(bench.RunUntil(EventKind::kSettled));
    EXPECT_EQ(bench.to_driver.event.shortfall, count == 17 ? 1 : 0);
  }
}

// A full SM of which all TBs must go, with contexts of a line, and buffers, answers and memory that
// are there in the next cycle: the first has left before the last is chosen.
class FullBench : public Bench {
 public:
  explicit FullBench(PreemptMode preempt) : Bench(PolicyWith(preempt)) {
    for (KernelView& view : views) {
      view.need.threads = 2;
      view.context_lines = 1;
      view.context_log2_lines = 0;
    }
    for (unsigned tb = 0; tb < kMaxTbSlots; ++tb) Place(0, tb);
  }
  // All have left, each once, when the SM says that it has settled.
  void ExpectAllLeaveOnce(EventKind kind) {
    for (unsigned n = 0; n < 3000 && !Settled(); ++n) {
      in.tb_quiet = ~0u;
      in.tb_flushable = kind == EventKind::kFlushed ? ~0u : 0;
      Step();
    }
    ASSERT_TRUE(Settled()) << "somebody who was chosen never leaves";
    EXPECT_EQ(events.back().shortfall, 0);
    std::array<unsigned, kMaxTbSlots> left{};
    for (const SmEvent& event : events) left[Index(event.tb)] += event.kind == kind;
    EXPECT_THAT(left, testing::Each(1u));
    EXPECT_EQ(valid(), 0u);
  }

 private:
  static PolicyConfig PolicyWith(PreemptMode preempt) {
    PolicyConfig policy;
    policy.preempt = preempt;
    return policy;
  }
  bool Settled() const { return !events.empty() && events.back().kind == EventKind::kSettled; }
};

TEST(SmControlLockstep, NoSlotIsChosenTwiceHoweverFastTheMemoryIs) {
  for (const PreemptMode mode :
       {PreemptMode::kSwitch, PreemptMode::kFlush, PreemptMode::kChimera}) {
    FullBench bench(mode);
    bench.Preempt(0, kMaxTbSlots);
    bench.ExpectAllLeaveOnce(EventKind::kSaved);
  }
}

// All at once, or those of a kernel in one cycle.
TEST(SmControlLockstep, NoSlotIsEvictedNorOutOfPlaceTwice) {
  const std::pair<PreemptMode, EventKind> ways[] = {{PreemptMode::kSwitch, EventKind::kSaved},
                                                    {PreemptMode::kFlush, EventKind::kFlushed},
                                                    {PreemptMode::kChimera, EventKind::kFlushed},
                                                    {PreemptMode::kChimera, EventKind::kSaved}};
  for (const auto& [mode, kind] : ways) {
    FullBench evicted(mode);
    evicted.Evict(mode);
    evicted.ExpectAllLeaveOnce(kind);
    if (mode == PreemptMode::kFlush) continue;  // of whole SMs only
    FullBench planned(mode);
    planned.Partition(0, 0, 32, true, true, mode);
    planned.ExpectAllLeaveOnce(kind);
  }
}

TEST(SmControlLockstep, AVictimThatFinishesIsCountedAndOthersAreNot) {
  Bench bench;
  for (unsigned tb = 0; tb < 3; ++tb) bench.Place(0, tb);
  bench.Preempt(0, 1);
  bench.in.tb_finished = 0b101;  // as it is chosen
  bench.Step();
  bench.Run(10);
  ASSERT_THAT(bench.Kinds(), testing::Contains(EventKind::kSettled));
  EXPECT_FALSE(bench.events[0].counted);
  EXPECT_TRUE(bench.events[1].counted);
}

TEST(SmControlLockstep, OnlyTheLastRangeOfAPlanMovesTbs) {
  Bench bench;
  for (unsigned tb = 0; tb < 2; ++tb) bench.Place(0, tb);
  bench.Quota(0, 5, true, true);
  bench.Partition(0, 0, 4, true, false);
  EXPECT_EQ(bench.control().model().preempt_engine().state().leaving, 0u);
  EXPECT_EQ(bench.dut().gated_o, 1);
  bench.Partition(1, 4, 4, false, true);
  EXPECT_EQ(bench.dut().gated_o, 0) << "a new plan lifts the quotas";
  bench.Run(2);
  EXPECT_EQ(bench.control().model().preempt_engine().state().leaving, 0u);
  bench.Step();
  EXPECT_EQ(bench.control().model().preempt_engine().state().leaving, 0b11u);
  EXPECT_TRUE(bench.RunUntil(EventKind::kSettled));
  EXPECT_THAT(bench.Kinds(),
              ElementsAre(EventKind::kSaved, EventKind::kSaved, EventKind::kSettled));
  EXPECT_FALSE(bench.events[0].counted) << "nobody asked for TBs of this kernel";
}

TEST(SmControlLockstep, AnEvictionTakesAllTbsInItsMode) {
  const EventKind left[] = {EventKind::kSaved, EventKind::kFinished, EventKind::kFlushed};
  for (const PreemptMode mode : {PreemptMode::kSwitch, PreemptMode::kDrain, PreemptMode::kFlush}) {
    Bench bench;
    for (unsigned tb = 0; tb < 3; ++tb) bench.Place(tb, tb);
    bench.Evict(mode);
    for (unsigned cycle = 0; cycle < 300; ++cycle) {
      bench.in.tb_flushable = ~0u;
      if (mode == PreemptMode::kDrain && cycle == 20) bench.in.tb_finished = 0b111;
      bench.Step();
    }
    const EventKind kind = left[static_cast<unsigned>(mode)];
    EXPECT_THAT(bench.Kinds(), ElementsAre(kind, kind, kind, EventKind::kSettled));
    EXPECT_EQ(bench.valid(), 0u);
  }
}

TEST(SmControlLockstep, QuotasAreLoadedAtOnceOnlyWhenTheyComeIntoForce) {
  Bench bench;
  bench.Place(0, 0);
  bench.Quota(0, 7, true, false);
  EXPECT_EQ(bench.dut().gated_o, 0);
  bench.Quota(0, 7, false, true);
  EXPECT_EQ(bench.out.quota_left[0], 0) << "earlier than the contract";
  bench.Step();
  EXPECT_EQ(bench.out.quota_left[0], 7);
  bench.Quota(0, 20, true, true);
  EXPECT_EQ(bench.out.quota_left[0], 7) << "taken at the next reload";
  for (unsigned grant = 0; grant < 7; ++grant) {
    bench.in.ready[0] = 1;
    bench.Step();
  }
  EXPECT_EQ(bench.out.quota_left[0], 20);
}

// The events when a TB is saved while another finishes in a chosen cycle.
std::vector<EventKind> SaveWhileAnotherFinishes(unsigned finish_at, unsigned* released) {
  Bench bench;
  bench.Place(0, 0);
  bench.Place(1, 1);
  bench.Preempt(1, 1);
  for (unsigned cycle = 0; cycle < 100; ++cycle) {
    if (cycle == finish_at) bench.in.tb_finished = 1;
    bench.Step();
    if (bench.out.release_valid) *released = cycle;
  }
  return bench.Kinds();
}

TEST(SmControlLockstep, ATbThatLeftGoesBeforeOneThatFinishedAndSettledIsLast) {
  unsigned released = 0;
  SaveWhileAnotherFinishes(0, &released);
  ASSERT_GT(released, 20u);
  EXPECT_THAT(SaveWhileAnotherFinishes(released, &released),
              ElementsAre(EventKind::kSaved, EventKind::kFinished, EventKind::kSettled));
  EXPECT_THAT(SaveWhileAnotherFinishes(released - 1, &released),
              ElementsAre(EventKind::kFinished, EventKind::kSaved, EventKind::kSettled));
}

TEST(SmControlLockstep, SettledWaitsForTbsThatFinishMeanwhile) {
  Bench bench;
  bench.Place(0, 0);
  bench.Preempt(1, 1);
  bench.in.tb_finished = 1;
  bench.Step();
  EXPECT_FALSE(bench.to_driver.event.valid);
  bench.Run(3);
  EXPECT_THAT(bench.Kinds(), ElementsAre(EventKind::kFinished, EventKind::kSettled));
}

TEST(SmControlLockstep, AwakeUntilNothingIsLeftToSay) {
  Bench bench;
  EXPECT_EQ(bench.dut().awake_o, 0);
  bench.Place(0, 0);
  EXPECT_EQ(bench.dut().awake_o, 0);
  bench.from_driver.tick = true;
  bench.Step();
  EXPECT_EQ(bench.dut().awake_o, 1) << "the profile is reported";
  EXPECT_EQ(bench.dut().profile_valid_o, 1);
  bench.Step();
  EXPECT_EQ(bench.dut().awake_o, 0);
}

TEST(SmControlLockstep, FindsEachBrokenRule) {
  const std::function<void(SmInputs*, DriverToSm*)> broken[] = {
      [](SmInputs* in, DriverToSm*) { in->context_ready = true; },
      [](SmInputs* in, DriverToSm*) { in->tb_finished &= ~2u; },
      [](SmInputs* in, DriverToSm*) { in->tb_flushable = 0; },
      [](SmInputs* in, DriverToSm*) { in->ready[3] &= 0x7fff; },
      [](SmInputs*, DriverToSm* driver) { driver->tick = false; },
      [](SmInputs*, DriverToSm* driver) { driver->event_ack = true; },
      [](SmInputs*, DriverToSm* driver) { driver->buffer ^= 1; },
      [](SmInputs*, DriverToSm* driver) { driver->command.count ^= 1; },
      [](SmInputs*, DriverToSm* driver) { driver->command.mode = PreemptMode::kSwitch; },
      [](SmInputs*, DriverToSm* driver) { driver->command.restore = false; },
      [](SmInputs*, DriverToSm* driver) { driver->command.quota |= 1; },
      [](SmInputs*, DriverToSm* driver) { driver->command.range.tb_count = 1; },
      [](SmInputs* in, DriverToSm*) { in->memory = {}; },
      [](SmInputs*, DriverToSm* driver) { driver->sample_stalls = true; },
      [](SmInputs*, DriverToSm* driver) { driver->sample_kernel = KernelId{0}; }};
  for (const auto& rule : broken) {
    std::string mismatch;
    for (unsigned n = 0; n < 5 && mismatch.empty(); ++n) {
      const std::uint64_t seed = GetTestOptions().seed + n;
      Gtx980 sm({}, seed);
      sm.distort = rule;
      SmControlTally tally;
      SmControlTraffic<Gtx980>(&sm, seed, &tally).Run(50'000);
      mismatch = sm.lockstep().mismatch();
    }
    EXPECT_THAT(mismatch, testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
