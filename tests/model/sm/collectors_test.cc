// SPDX-License-Identifier: Apache-2.0
// Operand collectors: what an instruction passes between its issue and its pipe.
#include "machine/sm/collectors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "control/reference_control.h"
#include "model/micro.h"

namespace smk {
namespace {

// Two schedulers with two collectors each; ports 1 (a pipe) and 2 (the LSU).
class CollectorsTest : public ::testing::Test {
 protected:
  static constexpr unsigned kPipe = 1, kLsu = 2;

  // The number is the instruction's name.
  void Issue(unsigned scheduler, unsigned port, unsigned number) {
    ASSERT_FALSE(collectors.Full(port, scheduler));
    collectors.Issue(port, scheduler).lane = static_cast<std::uint8_t>(number);
  }
  // One cycle; which instructions start in it.
  std::vector<unsigned> Step() {
    std::vector<unsigned> started;
    collectors.Advance(
        [&](unsigned port, unsigned) { return port == kLsu ? lsu_takes-- > 0 : pipe_free; },
        [&](const Collectors::Entry& entry) { started.push_back(entry.lane); });
    return started;
  }
  using Numbers = std::vector<unsigned>;

  Collectors collectors{2, 2, 3};
  bool pipe_free = true;
  int lsu_takes = 1;  // from here on
};

TEST_F(CollectorsTest, ThreeCyclesToThePipe) {
  Issue(0, kPipe, 7);
  EXPECT_EQ(Step(), Numbers{});
  EXPECT_EQ(Step(), Numbers{});
  EXPECT_EQ(Step(), Numbers{7});
  EXPECT_TRUE(collectors.empty());
  static_assert(kCollectorCycles == 3);
}

TEST_F(CollectorsTest, OnePerCycleFollowEachOther) {
  for (unsigned i = 0; i < 6; ++i) {
    Issue(0, kPipe, i);
    const Numbers started = Step();
    EXPECT_EQ(started, i < 2 ? Numbers{} : Numbers{i - 2});
  }
}

// An operand register, two collectors, an issue register: then nothing goes in.
TEST_F(CollectorsTest, HoldFourOfOneSchedulerAndPipe) {
  pipe_free = false;
  for (unsigned i = 0; i < 4; ++i) {
    Issue(0, kPipe, i);
    Step();
    Step();
  }
  EXPECT_TRUE(collectors.Full(kPipe, 0));
  EXPECT_FALSE(collectors.Full(kPipe, 1)) << "the other scheduler has its own";
  EXPECT_FALSE(collectors.Full(kLsu, 0)) << "the issue register of another pipe";
}

// The older instruction is in collector 1. It starts when collector 0 is empty.
TEST_F(CollectorsTest, TheLowestCollectorGoesFirst) {
  pipe_free = false;
  for (unsigned i = 0; i < 3; ++i) {
    Issue(0, kPipe, i);
    Step();
    Step();
  }
  Issue(0, kPipe, 3);  // 0 in the operand register, 1 and 2 in the collectors, 3 before them
  pipe_free = true;
  EXPECT_EQ(Step(), Numbers{0});
  EXPECT_EQ(Step(), Numbers{1});
  EXPECT_EQ(Step(), Numbers{3}) << "it has taken the place of 1";
  EXPECT_EQ(Step(), Numbers{2});
}

// Two memory instructions in the collectors keep out one for a free pipe.
TEST_F(CollectorsTest, AreSharedByThePipes) {
  lsu_takes = 0;
  for (unsigned i = 0; i < 3; ++i) {
    Issue(0, kLsu, i);
    Step();
    Step();
    lsu_takes = 0;
  }
  Issue(0, kPipe, 9);
  for (unsigned i = 0; i < 10; ++i) {
    EXPECT_EQ(Step(), Numbers{});
    lsu_takes = 0;
  }
  lsu_takes = 1;
  EXPECT_EQ(Step(), Numbers{0});
  EXPECT_EQ(Step(), Numbers{}) << "into the collector that is free now";
  EXPECT_EQ(Step(), Numbers{9});
}

TEST_F(CollectorsTest, TheLsuTakesTheOldestOfAllSchedulers) {
  lsu_takes = 0;
  Issue(1, kLsu, 0);
  Step();
  Issue(0, kLsu, 1);
  for (unsigned i = 0; i < 5; ++i) {
    lsu_takes = 0;
    EXPECT_EQ(Step(), Numbers{});
  }
  lsu_takes = 1;
  EXPECT_EQ(Step(), Numbers{0});
  lsu_takes = 3;
  EXPECT_EQ(Step(), Numbers{1});
}

// What is told of the issue registers before a cycle is what it leaves.
TEST(Collectors, TellWhichIssueRegistersWillBeFull) {
  constexpr unsigned kSchedulers = 4, kPorts = 6, kLsu = 5;
  std::mt19937_64 random(7);
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  unsigned full = 0;
  for (unsigned units = 1; units <= kMaxCollectors; ++units) {
    Collectors collectors(units, kSchedulers, kPorts);
    for (unsigned cycle = 0; cycle < 3000; ++cycle) {
      const auto busy = static_cast<unsigned>(random());  // pipes
      unsigned room = below(4) == 0 ? below(3) : 0;
      const auto may_start = [&](unsigned port, unsigned scheduler) {
        return port == kLsu ? room != 0 : (busy >> (port + 5 * scheduler) & 3) != 0;
      };
      const auto dropped = [](const Collectors::Entry& entry) { return entry.lane == 1; };
      const auto told = collectors.FullLater(may_start, room, dropped);
      collectors.Advance(may_start, [&](const Collectors::Entry& entry) {
        if (entry.port == kLsu && !dropped(entry)) --room;
      });
      for (unsigned s = 0; s < kSchedulers; ++s) {
        ASSERT_EQ(told[s], collectors.Full(s)) << units << " units, cycle " << cycle;
        const unsigned port = 1 + below(kPorts - 1);
        if (collectors.Full(port, s)) {
          ++full;
        } else if (below(3) != 0) {
          collectors.Issue(port, s).lane = static_cast<std::uint8_t>(below(8));
        }
      }
    }
  }
  EXPECT_GT(full, 1000u);
}

MicroRun WithCollectors() {
  MicroRun run;
  run.sm().collectors = 2;
  run.sm().operand_latency = 2;
  run.sm().lsu_queue = 1;
  run.sm().alu = {4, 1};
  run.sm().sfu = {20, 4};
  return run;
}

TEST(SmCollectors, ADependentInstructionFollowsFiveCyclesAfterThePipe) {
  const MicroRun run = WithCollectors();
  EXPECT_EQ(CyclesEach(run, [](MicroKernel* k) { k->Op(OpClass::kAlu, 0, {0}); }), 9);
  EXPECT_EQ(CyclesEach(run, [](MicroKernel* k) { k->Op(OpClass::kSfu, 0, {0}); }), 25);
  EXPECT_EQ(CyclesEach(run, [n = 0](MicroKernel* k) mutable { k->Op(OpClass::kAlu, n++ % 16); }),
            1);
}

// Eight results in turn would keep the pipe full, 4 cycles each; but one of the eight waits in
// collector 1 until the others can go no further, and then all wait for it.
TEST(SmCollectors, IndependentInstructionsStarveOneOfThem) {
  const auto body = [n = 0](MicroKernel* k) mutable { k->Op(OpClass::kSfu, n++ % 8); };
  const MicroRun with = WithCollectors();
  MicroRun without = with;
  without.sm().collectors = 0;
  EXPECT_NEAR(CyclesEach(without, body, 44, 220), 4, 0.05);
  EXPECT_NEAR(CyclesEach(with, body, 44, 220), 5.93, 0.1) << "3038 cycles for 512 in the simulator";
}

// The fewest and the most that a machine may have.
TEST(SmCollectors, WorkAtTheirLimits) {
  const auto alu = [n = 0](MicroKernel* k) mutable { k->Op(OpClass::kAlu, n++ % 16); };
  const auto sfu = [n = 0](MicroKernel* k) mutable { k->Op(OpClass::kSfu, n++ % 8); };
  MicroRun run = WithCollectors();
  for (const unsigned units : {1u, kMaxCollectors}) {
    run.sm().collectors = units;
    EXPECT_EQ(CyclesEach(run, alu), 1) << units;
    EXPECT_GE(CyclesEach(run, sfu, 44, 220), 3.95) << units;
  }
  run.sm().collectors = 1;
  EXPECT_NEAR(CyclesEach(run, sfu, 44, 220), 4, 0.05) << "no upper one to starve in";
}

// A TB is quiet, and finishes, only when nothing of it waits in the collectors.
TEST(SmCollectors, TheTbEndsAfterTheLastThatWaited) {
  MicroRun run = WithCollectors();
  run.repeat = false;
  run.request.record_tbs = true;
  run.sm().sfu = {20, 50};
  MicroKernel kernel;
  for (unsigned i = 0; i < 5; ++i) kernel.Op(OpClass::kSfu, static_cast<int>(i));
  const RunResult result = run.Run({kernel});
  ASSERT_EQ(result.tbs.size(), 1u);
  EXPECT_GE(result.tbs[0].end - result.tbs[0].start, 4 * 50u + 20 + 5);
}

// A kernel with every kind of instruction, of operands that are near and far.
MicroKernel RandomKernel(std::mt19937_64* random, const char* name) {
  constexpr OpClass kOps[] = {OpClass::kAlu,       OpClass::kAlu,        OpClass::kAlu,
                              OpClass::kSfu,       OpClass::kDp,         OpClass::kLoadConst,
                              OpClass::kLoadConst, OpClass::kLoadShared, OpClass::kBranch};
  const auto below = [random](unsigned n) { return static_cast<int>((*random)() % n); };
  MicroKernel kernel;
  kernel.name = name;
  kernel.threads = static_cast<unsigned>(32 + 32 * below(6));
  kernel.tbs = 200;
  kernel.idempotence = Idempotence::kUntilStore;
  kernel.Loop(static_cast<unsigned>(2 + below(20)));
  const int registers = 3 + below(12);
  for (int i = 0; i < 24; ++i) {
    const int src = below(registers), dst = below(registers);
    switch (below(12)) {
      case 0:
        kernel.Load(dst, {src}, below(2) == 0 ? MicroKernel::kSameLine : MicroKernel::kNewLine);
        break;
      case 1:
        kernel.Op(OpClass::kBarrier);
        break;
      default:
        const OpClass op = kOps[below(std::size(kOps))];
        kernel.Op(op, op == OpClass::kBranch ? -1 : dst, {src, below(registers)});
    }
  }
  kernel.End();
  kernel.Store({0});
  return kernel;
}

// Drops TBs from one cycle to the next: what they have issued is in the collectors.
class Flusher : public SimpleControl {
 public:
  using SimpleControl::SimpleControl;

 private:
  void Tamper(SmId, const SmInputs&, SmOutputs* out) override {
    if (out->release_valid) out->grant_valid = 0;  // perhaps to it
  }
};

RunResult RunRandom(std::uint64_t seed, bool passing) {
  std::mt19937_64 random(seed);
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  MicroRun run;
  SmConfig& sm = run.sm();
  run.request.machine.sms = 2;
  sm.collectors = 1 + below(3);
  sm.operand_latency = below(4);
  sm.fetch_warps = 1u << below(4);
  sm.fetch_latency = sm.branch_latency = 1 + below(8);
  sm.barrier_latency = 1 + below(16);
  sm.alu = {below(8), 1 + below(2)};
  sm.sfu = {4 + below(20), 1 + below(8)};
  sm.dp = {4 + below(20), 1 + below(2)};
  sm.constant = {below(9), 1};
  if (below(3) == 0) sm.units.dp = 1;
  PolicyConfig policy;
  policy.epoch_length = 500;
  policy.dispatch = below(2) == 0 ? DispatchMode::kOnDemand : DispatchMode::kSpatial;
  policy.preempt = static_cast<PreemptMode>(below(4));
  policy.quota_enable = policy.dispatch == DispatchMode::kOnDemand && below(2) == 0;
  run.request.cycles = 8000;
  run.request.policy = policy;
  run.request.passing = passing;
  run.request.record_tbs = true;
  run.arrivals = {0, 300 + below(3000), 300 + below(3000)};
  std::unique_ptr<ControlPlane> control = MakeReferenceControl(run.Control(), policy);
  std::vector<MicroKernel> kernels = {RandomKernel(&random, "a"), RandomKernel(&random, "b"),
                                      RandomKernel(&random, "c")};
  if (below(3) == 0) {
    std::vector<SimpleControl::Script> scripts;
    for (unsigned i = 0; i < 200; ++i) {
      scripts.push_back({below(8000), SmId{static_cast<std::uint8_t>(below(2))},
                         TbSlot{static_cast<std::uint8_t>(below(4))}, below(50), true});
    }
    control = std::make_unique<Flusher>(run.Control(), scripts);
    for (MicroKernel& kernel : kernels) kernel.idempotence = Idempotence::kYes;
  }
  return run.Run(kernels, control.get());
}

// What nothing holds up has its time at once: that must not be seen, by whatever is counted.
TEST(SmCollectors, WhatPassesIsCountedAsWhatWaits) {
  const char* const given = std::getenv("SMK_SEED");
  const std::uint64_t seed = given == nullptr ? 1 : std::stoull(given);
  std::cout << "seed " << seed << "\n";
  std::uint64_t flushes = 0;
  for (std::uint64_t run = 0; run < 60; ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    const RunResult passes = RunRandom(seed * 1000 + run, true);
    const RunResult waits = RunRandom(seed * 1000 + run, false);
    EXPECT_GT(waits.warp_instructions, 2000u);
    EXPECT_EQ(passes.warp_instructions, waits.warp_instructions);
    EXPECT_EQ(passes.checks, waits.checks);
    for (std::size_t k = 0; k < waits.kernels.size(); ++k) {
      const KernelStats &is = passes.kernels[k], &want = waits.kernels[k];
      EXPECT_EQ(is.stalls, want.stalls) << "kernel " << k;
      EXPECT_EQ(is.tbs_completed, want.tbs_completed);
      EXPECT_EQ(is.preemptions, want.preemptions);
      EXPECT_EQ(is.flushes, want.flushes);
      EXPECT_EQ(is.preemption_cycles, want.preemption_cycles);
      EXPECT_EQ(is.lsu_busy, want.lsu_busy);
      flushes += want.flushes;
    }
    for (std::size_t i = 0; i < waits.sms.size(); ++i) {
      EXPECT_EQ(passes.sms[i].scheduler_cycles, waits.sms[i].scheduler_cycles) << "SM " << i;
      EXPECT_EQ(passes.sms[i].sim_stalls, waits.sms[i].sim_stalls) << "SM " << i;
    }
    ASSERT_EQ(passes.tbs.size(), waits.tbs.size());
    for (std::size_t i = 0; i < waits.tbs.size(); ++i) {
      EXPECT_EQ(passes.tbs[i].start, waits.tbs[i].start) << "TB " << i;
      EXPECT_EQ(passes.tbs[i].end, waits.tbs[i].end) << "TB " << i;
    }
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(flushes, 20u);
}

}  // namespace
}  // namespace smk
