// SPDX-License-Identifier: Apache-2.0
// Micro-benchmarks of the SM with answers in closed form: what one more instruction costs, and how
// many instructions a unit takes.
#include <gtest/gtest.h>

#include "model/micro.h"

namespace smk {
namespace {

TEST(SmLatency, DependentAluIssuesExactlyAfterItsLatency) {
  MicroRun run;
  const auto chain = [](MicroKernel* k) { k->Op(OpClass::kAlu, 0, {0}); };
  for (const unsigned latency : {4u, 6u, 11u}) {
    run.sm().alu.latency = latency;
    EXPECT_EQ(CyclesEach(run, chain), latency);
  }
}

TEST(SmLatency, WarpWaitsForAFetchWhenItsBufferIsEmpty) {
  MicroRun run;
  const auto alternate = [n = 0](MicroKernel* k) mutable { k->Op(OpClass::kAlu, n++ % 16); };
  for (const unsigned width : {1u, 2u, 4u}) {
    for (const unsigned latency : {1u, 3u}) {
      run.sm().fetch_width = width;
      run.sm().fetch_latency = latency;
      EXPECT_EQ(CyclesEach(run, alternate), (width - 1.0 + latency) / width) << width << latency;
    }
  }
}

TEST(SmLatency, FetchEndsWithTheLineOfCode) {
  // Buffers of 4 in lines of 10 instructions: 4 + 4 + 2, three fetches for ten instructions.
  MicroRun run;
  run.sm().fetch_width = 4;
  run.sm().fetch_line = 10;
  run.sm().fetch_latency = 5;
  const auto alternate = [n = 0](MicroKernel* k) mutable { k->Op(OpClass::kAlu, n++ % 16); };
  EXPECT_EQ(CyclesEach(run, alternate), (7 + 3 * 5) / 10.0);
}

TEST(SmLatency, OutputWaitsForTheOutputBefore) {
  MicroRun run;
  EXPECT_EQ(CyclesEach(run, [](MicroKernel* k) { k->Op(OpClass::kAlu, 0); }), run.sm().alu.latency);
}

TEST(SmLatency, EveryPipeHasItsLatency) {
  MicroRun run;
  run.sm().imul.latency = 7;
  run.sm().sfu.latency = 21;
  run.sm().dp.latency = 33;
  run.sm().constant.latency = 9;
  const auto chain = [](OpClass op) { return [op](MicroKernel* k) { k->Op(op, 0, {0}); }; };
  EXPECT_EQ(CyclesEach(run, chain(OpClass::kImul)), 7);
  EXPECT_EQ(CyclesEach(run, chain(OpClass::kSfu)), 21);
  EXPECT_EQ(CyclesEach(run, chain(OpClass::kDp)), 33);
  EXPECT_EQ(CyclesEach(run, chain(OpClass::kLoadConst)), 9);
}

TEST(SmLatency, TakenBranchFetchesAnew) {
  MicroRun run;
  run.repeat = false;
  run.request.record_tbs = true;
  const auto duration = [&run](unsigned trips) {
    MicroKernel kernel;
    kernel.Loop(trips);
    kernel.Op(OpClass::kBranch);
    kernel.End();
    return run.Run({kernel}).tbs.at(0);
  };
  for (const unsigned latency : {2u, 9u}) {
    run.sm().branch_latency = latency;
    EXPECT_EQ(duration(90).end - duration(10).end, 80u * latency);
  }
}

TEST(SmLatency, TakenBranchThrowsAwayWhatIsInTheBuffer) {
  // Three instructions of a buffer of eight, then the new fetch; nothing of the other five.
  MicroRun run;
  run.sm().fetch_width = 8;
  run.sm().fetch_latency = 50;
  run.sm().branch_latency = 9;
  run.repeat = false;
  run.request.record_tbs = true;
  const auto end = [&run](unsigned trips) {
    MicroKernel kernel;
    kernel.Loop(trips);
    kernel.Op(OpClass::kAlu, 0);
    kernel.Op(OpClass::kAlu, 1);
    kernel.Op(OpClass::kBranch);
    kernel.End();
    return run.Run({kernel}).tbs.at(0).end;
  };
  EXPECT_EQ(end(90) - end(10), 80u * (2 + 9));
}

TEST(SmLatency, BranchThatIsNotTakenCostsAnIssue) {
  MicroRun run;
  run.sm().branch_latency = 9;
  EXPECT_EQ(CyclesEach(run, [](MicroKernel* k) { k->Op(OpClass::kBranch); }), 1);
}

TEST(SmLatency, BankConflictsAddOneCycleEach) {
  MicroRun run;
  for (const unsigned ways : {1u, 2u, 3u, 8u, 16u, 32u}) {
    const auto load = [ways](MicroKernel* k) { k->Op(OpClass::kLoadShared, 0, {0}, ways); };
    EXPECT_EQ(CyclesEach(run, load), run.sm().shared.latency + ways - 1) << ways;
  }
}

TEST(SmLatency, ConstantAddressesAddOneCycleEach) {
  MicroRun run;
  const auto load = [](MicroKernel* k) { k->Op(OpClass::kLoadConst, 0, {0}, 5); };
  EXPECT_EQ(CyclesEach(run, load), run.sm().constant.latency + 4);
}

TEST(SmLatency, L1HitTakesTheConfiguredLatency) {
  MicroRun run;
  for (const unsigned latency : {20u, 35u}) {
    run.sm().l1.latency = latency;
    const auto load = [](MicroKernel* k) { k->Load(0, {0}, MicroKernel::kSameLine); };
    EXPECT_EQ(CyclesEach(run, load), latency);
  }
}

TEST(SmLatency, L1MissTakesTheMemoryLatency) {
  MicroRun run;
  run.memory.latency = 411;
  const auto load = [](MicroKernel* k) { k->Load(0, {0}, MicroKernel::kNewLine); };
  EXPECT_EQ(CyclesEach(run, load), 411);
}

TEST(SmLatency, BarrierOfOneWarpCostsItsLatency) {
  MicroRun run;
  for (const unsigned latency : {4u, 13u}) {
    run.sm().barrier_latency = latency;
    EXPECT_EQ(CyclesEach(run, [](MicroKernel* k) { k->Op(OpClass::kBarrier); }), latency);
  }
}

TEST(SmLatency, BarrierWaitsForTheLastWarpToIssue) {
  // 16 warps on 4 schedulers: the last of 4 on a scheduler arrives 3 cycles after the first.
  MicroRun run;
  const auto barrier = [](MicroKernel* k) {
    k->threads = 512;
    k->Op(OpClass::kBarrier);
  };
  EXPECT_EQ(CyclesEach(run, barrier), run.sm().barrier_latency + 3);
}

TEST(SmLatency, ExitedWarpsDoNotHoldABarrier) {
  MicroRun run;
  MicroKernel kernel;
  kernel.threads = 64;
  kernel.BarrierOfFirstWarpOnly();
  run.repeat = false;
  run.request.cycles = 2000;
  EXPECT_EQ(run.Run({kernel}).kernels[0].tbs_completed, 1u);
}

// Warp instructions per cycle of one SM full of endless warps, 64, each repeating `body`.
template <typename Body>
double Rate(MicroRun run, Body body, Cycle cycles = 8000) {
  MicroKernel kernel;
  kernel.threads = 256;
  kernel.tbs = 8;
  kernel.Loop(30000);
  for (unsigned i = 0; i < 16; ++i) body(&kernel, i);
  kernel.End();
  run.request.cycles = 4000;
  const std::uint64_t before = run.Run({kernel}).warp_instructions;
  run.request.cycles = 4000 + cycles;
  return static_cast<double>(run.Run({kernel}).warp_instructions - before) /
         static_cast<double>(cycles);
}

TEST(SmThroughput, FourSchedulersIssueFourIndependentAluPerCycle) {
  EXPECT_EQ(Rate(MicroRun(), [](MicroKernel* k, unsigned i) { k->Op(OpClass::kAlu, i); }), 4.0);
}

TEST(SmThroughput, FetchBoundsTheIssueOfTheSm) {
  MicroRun run;
  const auto alu = [](MicroKernel* k, unsigned i) { k->Op(OpClass::kAlu, i); };
  run.sm().fetch_warps = 1;
  EXPECT_EQ(Rate(run, alu), 2.0);
  run.sm().fetch_width = 1;
  EXPECT_EQ(Rate(run, alu), 1.0);
  run.sm().fetch_warps = 2;
  EXPECT_EQ(Rate(run, alu), 2.0);
}

// The default front end.
MicroRun DefaultFetch() {
  MicroRun run;
  const SmConfig sm;
  run.sm().fetch_warps = sm.fetch_warps;
  run.sm().fetch_width = sm.fetch_width;
  run.sm().fetch_line = sm.fetch_line;
  run.sm().fetch_latency = sm.fetch_latency;
  run.sm().branch_latency = sm.branch_latency;
  return run;
}

TEST(SmThroughput, DefaultFrontEndFeedsTwoInstructionsPerCycle) {
  EXPECT_EQ(Rate(DefaultFetch(), [](MicroKernel* k, unsigned i) { k->Op(OpClass::kAlu, i); }), 2.0);
}

TEST(SmThroughput, CodeAcrossLinesNeedsMoreFetches) {
  // 16 instructions in lines of 5 are 2 + 2 + 1 three times and a last one: ten fetches, not eight.
  MicroRun run = DefaultFetch();
  run.sm().fetch_line = 5;
  const auto alu = [](MicroKernel* k, unsigned i) { k->Op(OpClass::kAlu, i); };
  constexpr Cycle kCycles = 10 * 64 * 10;
  EXPECT_NEAR(Rate(run, alu, kCycles), 16.0 / 10, 1.01 / kCycles);
}

TEST(SmThroughput, TakenBranchesWasteHalfOfAFetch) {
  // 17 instructions in a row are 8 fetches and one for the branch, whose other half is lost.
  const auto alu = [](MicroKernel* k, unsigned i) {
    if (i == 0) k->Op(OpClass::kAlu, 15);
    k->Op(i == 15 ? OpClass::kBranch : OpClass::kAlu, i == 15 ? -1 : static_cast<int>(i));
  };
  MicroRun run = DefaultFetch();
  run.sm().fetch_line = 1024;
  constexpr Cycle kCycles = 9 * 64 * 10;
  EXPECT_NEAR(Rate(run, alu, kCycles), 17.0 / 9, 1.01 / kCycles);
}

TEST(SmThroughput, WarpsTakeTurnsAtTheFetch) {
  // Of 32 warps that could all issue, the 8 of one kernel get a quarter of the instructions,
  // whether they are the first or the last that were placed.
  for (const auto& [first, second] : {std::pair{8u, 24u}, {24u, 8u}}) {
    MicroRun run = DefaultFetch();
    std::vector<MicroKernel> kernels(2);
    kernels[0].tbs = first;
    kernels[1].tbs = second;
    for (MicroKernel& kernel : kernels) {
      kernel.Loop(30000);
      for (int i = 0; i < 16; ++i) kernel.Op(OpClass::kAlu, i);
      kernel.End();
    }
    const auto issued = [&](Cycle cycles) {
      run.request.cycles = cycles;
      const RunResult result = run.Run(kernels);
      return std::pair{result.kernels[0].warp_instructions, result.kernels[1].warp_instructions};
    };
    const auto before = issued(4000);
    const auto after = issued(4000 + 32 * 200);
    EXPECT_EQ(after.first - before.first, 2u * 200 * first);
    EXPECT_EQ(after.second - before.second, 2u * 200 * second);
  }
}

TEST(SmThroughput, SfuTakesOneInstructionPerSchedulerAndInitiation) {
  MicroRun run;
  run.sm().sfu.initiation = 4;
  const auto sfu = [](MicroKernel* k, unsigned i) { k->Op(OpClass::kSfu, i); };
  EXPECT_EQ(Rate(run, sfu), 1.0);
  run.sm().sfu.initiation = 8;
  EXPECT_EQ(Rate(run, sfu), 0.5);
}

TEST(SmThroughput, ImulSharesThePortOfSfu) {
  MicroRun run;
  run.sm().imul.initiation = 2;
  run.sm().sfu.initiation = 6;
  const auto both = [](MicroKernel* k, unsigned i) {
    k->Op(i % 2 == 0 ? OpClass::kImul : OpClass::kSfu, i);
  };
  EXPECT_EQ(Rate(run, both), 1.0);
}

TEST(SmThroughput, OneLsuTakesOneSharedInstructionPerCycle) {
  EXPECT_EQ(Rate(MicroRun(), [](MicroKernel* k, unsigned i) { k->Op(OpClass::kLoadShared, i); }),
            1.0);
}

TEST(SmThroughput, BankConflictsDivideSharedThroughput) {
  for (const unsigned ways : {2u, 4u, 32u}) {
    const auto load = [ways](MicroKernel* k, unsigned i) {
      k->Op(OpClass::kLoadShared, i, {}, ways);
    };
    EXPECT_NEAR(Rate(MicroRun(), load), 1.0 / ways, 4.0 / 8000) << ways;
  }
}

TEST(SmThroughput, L1HitsComeAtOneLinePerCycle) {
  const auto load = [](MicroKernel* k, unsigned i) { k->Load(i, {}, MicroKernel::kSameLine); };
  EXPECT_EQ(Rate(MicroRun(), load), 1.0);
}

TEST(SmThroughput, MshrsBoundTheMissesInFlight) {
  MicroRun run;
  run.memory.latency = 400;
  for (const unsigned mshrs : {8u, 32u}) {
    run.sm().l1.mshrs = mshrs;
    const auto load = [](MicroKernel* k, unsigned i) { k->Load(i, {}, MicroKernel::kNewLine); };
    EXPECT_NEAR(Rate(run, load), mshrs / 400.0, mshrs / 8000.0) << mshrs;
  }
}

TEST(SmThroughput, AluAndLsuWorkSideBySide) {
  // One shared load in four instructions: the LSU and all four schedulers are busy in every cycle.
  const auto mix = [](MicroKernel* k, unsigned i) {
    k->Op(i % 4 == 0 ? OpClass::kLoadShared : OpClass::kAlu, i);
  };
  EXPECT_GT(Rate(MicroRun(), mix), 3.8);
}

// Cycles per instruction of a kernel of independent instructions, with 16 warps on four schedulers.
double CyclesPerInstruction(MicroRun run, OpClass op) {
  run.repeat = false;
  run.request.cycles = 100000;
  run.request.record_tbs = true;
  const auto duration = [&](unsigned n) {
    MicroKernel kernel;
    kernel.threads = 16 * 32;
    for (unsigned i = 0; i < n; ++i) kernel.Op(op, static_cast<int>(i % 32));
    const RunResult result = run.Run({kernel});
    return result.tbs.at(0).end - result.tbs.at(0).start;
  };
  return static_cast<double>(duration(140) - duration(40)) / (100 * 16);
}

// A shared pipe takes `units` instructions in `initiation` cycles, however many schedulers issue.
TEST(SmUnits, FewerPipesThanSchedulersAreShared) {
  for (const unsigned units : {1u, 2u, 3u, 4u}) {
    for (const unsigned initiation : {1u, 4u}) {
      MicroRun run;
      run.sm().fetch_warps = 8;
      run.sm().units = {units, units, units, 4, 4};
      run.sm().alu = run.sm().sfu = run.sm().dp = {6, initiation};
      const double each = static_cast<double>(initiation) / units;
      EXPECT_NEAR(CyclesPerInstruction(run, OpClass::kAlu), each, 0.01) << units << initiation;
      EXPECT_NEAR(CyclesPerInstruction(run, OpClass::kSfu), each, 0.01) << units << initiation;
      EXPECT_NEAR(CyclesPerInstruction(run, OpClass::kDp), each, 0.01) << units << initiation;
    }
  }
}

TEST(SmUnits, ConstantsTakeTheirOwnPipesOrTheMemoryPipe) {
  MicroRun run;
  run.sm().fetch_warps = 8;
  run.sm().constant = {8, 1};
  EXPECT_NEAR(CyclesPerInstruction(run, OpClass::kLoadConst), 0.25, 0.01);
  run.sm().units.constant = 2;
  EXPECT_NEAR(CyclesPerInstruction(run, OpClass::kLoadConst), 0.5, 0.01);
  run.sm().units.constant = 0;
  EXPECT_NEAR(CyclesPerInstruction(run, OpClass::kLoadConst), 1, 0.01);
}

// An instruction of a warp that has the pipe to itself starts at once.
TEST(SmUnits, AFreeSharedPipeCostsNothing) {
  MicroRun run;
  run.sm().units = {1, 1, 1, 1, 1};
  run.sm().alu.latency = 7;
  EXPECT_EQ(CyclesEach(run, [](MicroKernel* k) { k->Op(OpClass::kAlu, 0, {0}); }), 7);
}

// The second of two that issue in one cycle starts when the first lets it.
TEST(SmUnits, TheLaterOnesStartWhenAPipeIsFree) {
  MicroRun run;
  run.sm().sfu = {20, 8};
  run.repeat = false;
  run.request.record_tbs = true;
  const auto end = [&](unsigned units) {
    run.sm().units.sfu = units;
    MicroKernel kernel;
    kernel.threads = 4 * 32;
    kernel.Op(OpClass::kSfu, 0);
    kernel.Op(OpClass::kAlu, 1, {0});
    return run.Run({kernel}).tbs.at(0).end;
  };
  // The last of four waits for three before it, or with two pipes for one.
  EXPECT_EQ(end(1) - end(4), 3u * 8);
  EXPECT_EQ(end(2) - end(4), 8u);
}

TEST(SmLatency, OperandLatencyComesOnTop) {
  MicroRun run;
  run.sm().alu.latency = 4;
  run.sm().operand_latency = 5;
  EXPECT_EQ(CyclesEach(run, [](MicroKernel* k) { k->Op(OpClass::kAlu, 0, {0}); }), 9);
}

}  // namespace
}  // namespace smk
