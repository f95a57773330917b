// SPDX-License-Identifier: Apache-2.0
// Where the cycles go, and that neither sleeping nor repetition changes a number.
#include <gtest/gtest.h>

#include "model/micro.h"

namespace smk {
namespace {

std::uint64_t Cycles(const RunResult& result, Stall reason) {
  std::uint64_t sum = 0;
  for (const SmStats& sm : result.sms) sum += sm.scheduler_cycles[static_cast<unsigned>(reason)];
  return sum;
}

MicroKernel Mixed() {
  MicroKernel kernel;
  kernel.threads = 96;
  kernel.tbs = 40;
  kernel.Loop(20);
  kernel.Load(0, {}, MicroKernel::kNewLine);
  kernel.Op(OpClass::kSfu, 1, {0});
  kernel.Op(OpClass::kStoreShared, -1, {1}, 4);
  kernel.Op(OpClass::kBarrier);
  kernel.Op(OpClass::kLoadShared, 2, {}, 2);
  kernel.Op(OpClass::kAlu, 3, {2});
  kernel.Op(OpClass::kBranch);
  kernel.End();
  kernel.Store({3});
  return kernel;
}

// Keeps all SMs awake: nothing may change but the speed.
class SleeplessParts : public SimpleControl {
 public:
  using SimpleControl::SimpleControl;
  SmMask awake_sms() const override { return SmMask::First(kMaxSms); }
};

void ExpectSameAccounts(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.warp_instructions, b.warp_instructions);
  for (std::size_t i = 0; i < a.sms.size(); ++i) {
    EXPECT_EQ(a.sms[i].scheduler_cycles, b.sms[i].scheduler_cycles) << "SM " << i;
    EXPECT_EQ(a.sms[i].sim_stalls, b.sms[i].sim_stalls) << "SM " << i;
    EXPECT_EQ(a.sms[i].tb_cycles, b.sms[i].tb_cycles) << "SM " << i;
  }
  for (std::size_t i = 0; i < a.kernels.size(); ++i) {
    EXPECT_EQ(a.kernels[i].stalls, b.kernels[i].stalls);
    EXPECT_EQ(a.kernels[i].tbs_completed, b.kernels[i].tbs_completed);
    EXPECT_EQ(a.kernels[i].l1_hits, b.kernels[i].l1_hits);
  }
}

TEST(SmAccounting, SleepingChangesNothing) {
  MicroRun run;
  run.request.machine.sms = 3;
  run.request.cycles = 30000;
  SimpleControl sleepy(run.Control());
  SleeplessParts sleepless(run.Control());
  ExpectSameAccounts(run.Run({Mixed()}, &sleepy), run.Run({Mixed()}, &sleepless));
}

// Pipes and the LSU are busy for many cycles, and ready warps wait for them.
MicroKernel Crowded() {
  MicroKernel kernel;
  kernel.threads = 96;
  kernel.tbs = 40;
  kernel.Loop(20);
  kernel.Op(OpClass::kSfu, 1);
  kernel.Op(OpClass::kDp, 2);
  kernel.Op(OpClass::kLoadConst, 3, {}, 3);
  kernel.Op(OpClass::kAlu, 4, {1});
  kernel.Op(OpClass::kStoreShared, -1, {2}, 32);
  kernel.Load(5, {3}, MicroKernel::kNewLine);
  kernel.Op(OpClass::kBranch);
  kernel.Store({4});
  kernel.End();
  return kernel;
}

TEST(SmAccounting, SleepingWhilePipesAreBusyChangesNothing) {
  MicroRun plain;
  plain.request.machine.sms = 2;
  plain.sm().sfu = {20, 16};
  plain.sm().dp = {40, 24};
  plain.sm().lsu_queue = 2;
  plain.sm().l1.mshrs = 3;
  MicroRun shared = plain;
  shared.sm().units = {3, 1, 1, 2, 1};
  MicroRun through_lsu = plain;
  through_lsu.sm().units.constant = 0;
  for (MicroRun run : {plain, shared, through_lsu}) {
    SimpleControl sleepy(run.Control());
    SleeplessParts sleepless(run.Control());
    const RunResult result = run.Run({Crowded(), Mixed()}, &sleepy);
    ExpectSameAccounts(result, run.Run({Crowded(), Mixed()}, &sleepless));
    EXPECT_GT(Cycles(result, Stall::kPipeline), result.cycles);
  }
}

TEST(SmAccounting, SameRunTwiceGivesTheSameNumbers) {
  MicroRun run;
  run.request.machine.sms = 3;
  run.request.cycles = 30000;
  ExpectSameAccounts(run.Run({Mixed(), Mixed()}), run.Run({Mixed(), Mixed()}));
}

TEST(SmAccounting, EverySchedulerCycleHasOneReason) {
  MicroRun run;
  run.request.machine.sms = 2;
  run.request.cycles = 12345;
  const RunResult result = run.Run({Mixed(), Mixed()});
  for (const SmStats& sm : result.sms) {
    std::uint64_t sum = 0;
    for (const std::uint64_t cycles : sm.scheduler_cycles) sum += cycles;
    EXPECT_EQ(sum, 4u * 12345);
  }
  std::uint64_t of_kernels = Cycles(result, Stall::kEmpty);
  for (const KernelStats& kernel : result.kernels) {
    for (const std::uint64_t cycles : kernel.stalls) of_kernels += cycles;
  }
  EXPECT_EQ(of_kernels, 2u * 4 * 12345) << "every cycle but the empty ones belongs to a kernel";
}

// Says that quotas are in force, of which all kernels have some left: stalls are then counted
// scheduler by scheduler, and not for all at once.
class AllHaveQuotas : public SimpleControl {
 public:
  using SimpleControl::SimpleControl;
  void StepSm(SmId sm, const SmInputs& in, SmOutputs* out) override {
    SimpleControl::StepSm(sm, in, out);
    out->gated = true;
    out->with_quota = ~std::uint32_t{0};
  }
};

// The same run counted in both ways.
RunResult CountedBothWays(MicroRun* run, const MicroKernel& kernel) {
  SimpleControl all(run->Control());
  AllHaveQuotas each(run->Control());
  RunResult result = run->Run({kernel}, &all);
  ExpectSameAccounts(result, run->Run({kernel}, &each));
  return result;
}

// With TBs of one warp and more, that exit in the same cycle and in others.
TEST(SmAccounting, CountingForAllSchedulersIsCountingForEach) {
  MicroKernel shortest;
  shortest.tbs = 50;
  MicroKernel uneven = Mixed();
  uneven.threads = 160;
  for (const MicroKernel& kernel : {Mixed(), Crowded(), shortest, uneven}) {
    MicroRun run;
    run.request.machine.sms = 2;
    run.request.cycles = 20000;
    const RunResult result = CountedBothWays(&run, kernel);
    EXPECT_GT(Cycles(result, Stall::kIssued), 1000u);
  }
}

// A TB for so long that the counts are full several times.
TEST(SmAccounting, CountsOfManyCyclesAreTaken) {
  MicroKernel kernel;
  kernel.threads = 96;
  kernel.Loop(60000);
  kernel.Op(OpClass::kAlu, 1, {1});
  kernel.End();
  MicroRun run;
  run.request.machine.sms = 1;
  run.request.cycles = 200000;
  EXPECT_GT(Cycles(CountedBothWays(&run, kernel), Stall::kIssued), 50000u);
}

TEST(SmAccounting, IdleGpuIsEmpty) {
  MicroRun run;
  run.repeat = false;
  run.request.cycles = 50000;
  MicroKernel kernel;
  kernel.Op(OpClass::kAlu, 0);
  const RunResult result = run.Run({kernel});
  EXPECT_EQ(Cycles(result, Stall::kIssued), 2u);
  EXPECT_GT(Cycles(result, Stall::kEmpty), 4u * 50000 - 100);
}

// The main reason of one warp alone, which runs on one of the four schedulers.
template <typename Body>
Stall MainReason(Body body) {
  MicroRun run;
  run.sm().sfu = {8, 4};
  MicroKernel kernel;
  kernel.threads = 32;
  kernel.Loop(30000);
  for (unsigned i = 0; i < 4; ++i) body(&kernel, i);
  kernel.End();
  run.request.cycles = 5000;
  const RunResult result = run.Run({kernel});
  unsigned best = 1;
  for (unsigned r = 1; r < kNumStalls; ++r) {
    if (r == static_cast<unsigned>(Stall::kEmpty)) continue;
    if (result.sms[0].scheduler_cycles[r] > result.sms[0].scheduler_cycles[best]) best = r;
  }
  return static_cast<Stall>(best);
}

TEST(SmAccounting, ReasonsNameWhatAWarpWaitsFor) {
  EXPECT_EQ(MainReason([](MicroKernel* k, unsigned) { k->Op(OpClass::kAlu, 0, {0}); }),
            Stall::kDataShort);
  EXPECT_EQ(MainReason([](MicroKernel* k, unsigned) { k->Op(OpClass::kLoadShared, 0, {0}); }),
            Stall::kDataShort);
  EXPECT_EQ(MainReason([](MicroKernel* k, unsigned) { k->Load(0, {0}, MicroKernel::kNewLine); }),
            Stall::kDataMemory);
  EXPECT_EQ(MainReason([](MicroKernel* k, unsigned) { k->Op(OpClass::kBranch); }), Stall::kControl);
  EXPECT_EQ(MainReason([](MicroKernel* k, unsigned) { k->Op(OpClass::kBarrier); }),
            Stall::kBarrier);
  EXPECT_EQ(MainReason([](MicroKernel* k, unsigned i) { k->Op(OpClass::kSfu, i); }),
            Stall::kPipeline);
}

// Grants nothing after a while, as if quotas were spent.
class MiserlyControl : public SimpleControl {
 public:
  explicit MiserlyControl(const ControlConfig& config) : SimpleControl(config) { Clock(); }

 protected:
  void Tamper(SmId, const SmInputs&, SmOutputs* out) override {
    if (now() >= 1000) out->grant_valid = 0;
  }
};

TEST(SmAccounting, ReadyButRefusedIsQuota) {
  MicroRun run;
  MicroKernel kernel;
  kernel.threads = 128;
  kernel.Loop(30000);
  kernel.Op(OpClass::kAlu, 0);
  kernel.End();
  run.request.cycles = 3000;
  MiserlyControl control(run.Control());
  const RunResult result = run.Run({kernel}, &control);
  EXPECT_NEAR(static_cast<double>(Cycles(result, Stall::kQuota)), 4.0 * 2000, 4 * 10);
}

TEST(SmAccounting, OldestWarpsFinishFirst) {
  MicroRun run;
  run.repeat = false;
  run.request.record_tbs = true;
  run.request.cycles = 20000;
  MicroKernel kernel;
  kernel.threads = 128;  // one warp on each scheduler
  kernel.tbs = 8;
  kernel.Loop(200);
  for (unsigned i = 0; i < 8; ++i) kernel.Op(OpClass::kAlu, i);
  kernel.End();
  const RunResult result = run.Run({kernel});
  ASSERT_EQ(result.tbs.size(), 8u);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(Index(result.tbs[i].tb), i);
}

TEST(SmAccounting, EachTbOfEachLaunchCompletesOnce) {
  MicroRun run;
  run.request.record_tbs = true;
  run.request.cycles = 100000;
  const RunResult result = run.Run({Mixed()});
  ASSERT_GT(result.kernels[0].launches_completed, 1u);
  std::vector<unsigned> times(40 * (result.kernels[0].launches_completed + 1));
  for (const TbRecord& tb : result.tbs) {
    if (tb.outcome == 'C') ++times[(tb.launch - 1) * 40 + Index(tb.tb)];
  }
  for (std::size_t i = 0; i < 40 * result.kernels[0].launches_completed; ++i) {
    EXPECT_EQ(times[i], 1u) << i;
  }
}

TEST(SmAccounting, ProgramDoesTheSameWorkInAnySlot) {
  MicroRun run;
  run.repeat = false;
  run.request.cycles = 40000;
  const RunResult alone = run.Run({Mixed()});
  MicroKernel other;
  other.name = "other";
  other.Op(OpClass::kAlu, 0);
  const RunResult second = run.Run({other, Mixed()});
  EXPECT_EQ(alone.kernels[0].warp_instructions, second.kernels[1].warp_instructions);
  EXPECT_EQ(alone.kernels[0].l1_accesses, second.kernels[1].l1_accesses);
}

}  // namespace
}  // namespace smk
