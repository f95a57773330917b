// SPDX-License-Identifier: Apache-2.0
// The preemption engine when a whole SM changes hands: switch, drain and flush.
#include <gtest/gtest.h>

#include "preempt_engine/bench.h"

namespace smk {
namespace {

using Bench = PreemptEngineBench;
using Step = PreemptEngine::Step;

TEST(PreemptEngineWholeSm, ASwitchStopsAllTbsAtOnce) {
  Bench bench;
  bench.wires.running = 0b111;
  bench.Evict(0b111, PreemptMode::kSwitch);
  EXPECT_EQ(bench.Look().stop, 0b111u);
  for (unsigned slot : {2u, 1u, 0u}) {
    bench.Drain(slot);
    EXPECT_EQ(bench.Look().context.tb_slot, static_cast<TbSlot>(slot));
    EXPECT_EQ(bench.Look().stop, (2u << slot) - 1) << "those that are still here";
    bench.Transfer();
    EXPECT_EQ(bench.Report().kind, EventKind::kSaved);
  }
  EXPECT_EQ(bench.Look().stop, 0u);
  EXPECT_TRUE(bench.engine.settled());
}

TEST(PreemptEngineWholeSm, AnSmThatWaitsForABufferTooLongRunsOn) {
  Bench bench;
  bench.wires.running = 0b11;
  bench.Evict(0b11, PreemptMode::kSwitch);
  for (unsigned i = 0; i <= PreemptEngine::kBufferPatience; ++i) {
    EXPECT_EQ(bench.Step().stop, 0b11u) << "cycle " << i;
  }
  EXPECT_EQ(bench.Step().stop, 0u);
  EXPECT_EQ(bench.step(), PreemptEngine::Step::kBuffer) << "it still waits for one";
  bench.GiveBuffer(0);
  EXPECT_EQ(bench.Look().stop, 0b11u);
}

TEST(PreemptEngineWholeSm, ADrainLetsTbsFinish) {
  Bench bench;
  bench.wires.running = 0b11;
  bench.Evict(0b11, PreemptMode::kDrain);
  for (int i = 0; i < 100; ++i) {
    const PreemptEngine::Outputs out = bench.Step();
    EXPECT_EQ(out.stop, 0u);
    EXPECT_FALSE(out.buffer_request);
  }
  bench.wires.finished = 0b01;
  bench.Step();
  EXPECT_FALSE(bench.engine.settled());
  bench.wires.finished = 0b10;
  bench.Step();
  EXPECT_TRUE(bench.engine.settled());
}

TEST(PreemptEngineWholeSm, ADrainLoadsContextsSoThatTheirTbsCanFinish) {
  Bench bench;
  bench.wires.load = 0b10;
  bench.Evict(0b10, PreemptMode::kDrain);
  bench.Run(2);
  bench.Transfer();
  EXPECT_EQ(bench.Report().kind, EventKind::kBufferFree);
  EXPECT_FALSE(bench.engine.settled());
  bench.wires.finished = 0b10;
  bench.Step();
  EXPECT_TRUE(bench.engine.settled());
}

TEST(PreemptEngineWholeSm, AFlushDropsTbsThatSaySo) {
  Bench bench;
  bench.wires.running = 0b10;
  bench.Evict(0b10, PreemptMode::kFlush);
  EXPECT_EQ(bench.Look().stop, 0b10u);
  bench.wires.flushable = 0b10;
  bench.GiveBuffer(5);
  bench.wires.quiet = 0b10;
  EXPECT_FALSE(bench.Step().release_valid) << "earlier than the contract";
  const PreemptEngine::Outputs out = bench.Step();
  EXPECT_TRUE(out.release_valid) << "later than the contract";
  EXPECT_EQ(out.release_kind, TbRelease::kFlushed);
  EXPECT_FALSE(bench.Look().context.valid);
  const SmEvent event = bench.Report();
  EXPECT_EQ(event.kind, EventKind::kFlushed);
  EXPECT_EQ(event.buffer, 5) << "its place in the queue";
  EXPECT_TRUE(bench.engine.settled());
}

TEST(PreemptEngineWholeSm, AFlushSavesTheOthers) {
  Bench bench;
  bench.wires.running = 0b11;
  bench.Evict(0b11, PreemptMode::kFlush);
  bench.wires.flushable = 0b01;
  bench.Drain(1);
  EXPECT_TRUE(bench.Look().context.valid);
  bench.Transfer();
  EXPECT_EQ(bench.Report().kind, EventKind::kSaved);
  bench.Drain(2);
  EXPECT_EQ(bench.Report().kind, EventKind::kFlushed);
}

TEST(PreemptEngineWholeSm, ATbThatFinishesInTheLastCycleIsNotFlushed) {
  Bench bench;
  bench.wires.running = 1;
  bench.Evict(1, PreemptMode::kFlush);
  bench.wires.flushable = 1;
  bench.GiveBuffer(5);
  bench.wires.quiet = 1;
  bench.Step();
  bench.wires.finished = 1;
  EXPECT_FALSE(bench.Step().release_valid);
  EXPECT_EQ(bench.Report().kind, EventKind::kBufferFree);
}

TEST(PreemptEngineWholeSm, PartialSwitchingNeverFlushes) {
  Bench bench;
  bench.wires.running = 1;
  bench.wires.flushable = 1;
  bench.wires.mode = PreemptMode::kFlush;
  bench.Leave(1);
  bench.Drain(0);
  EXPECT_TRUE(bench.Look().context.store);
  EXPECT_EQ(bench.step(), Step::kTransfer);
}

}  // namespace
}  // namespace smk
