// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "control/sm/preempt_engine.h"
#include "preempt_engine/bench.h"

namespace smk {
namespace {

using Bench = PreemptEngineBench;
using Step = PreemptEngine::Step;
constexpr unsigned kLines = Bench::kLines;

TEST(PreemptEngineTest, AsksForABufferThreeCyclesAfterTheTbHasToLeave) {
  Bench bench;
  bench.wires.running = 0b100;
  bench.wires.leave = 0b100;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(bench.Step().buffer_request) << "earlier than the contract: " << i;
  }
  EXPECT_TRUE(bench.Look().buffer_request) << "later than the contract";
  EXPECT_EQ(bench.Look().buffer_kernel, KernelId{1});
  EXPECT_TRUE(bench.Step().buffer_request);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(bench.Step().buffer_request) << "asks once";
  bench.GiveBuffer(0);
  EXPECT_FALSE(bench.Look().buffer_request);
}

TEST(PreemptEngineTest, TheTbRunsOnUntilItHasABuffer) {
  Bench bench;
  bench.wires.running = 0b110;
  bench.Leave(0b100);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(bench.Step().stop, 0u);
  bench.GiveBuffer(0);
  EXPECT_EQ(bench.Look().stop, 0b100u) << "only this TB stops";
}

TEST(PreemptEngineTest, DrainsUntilTheTbIsQuietForTwoCycles) {
  Bench bench;
  bench.wires.running = 1;
  bench.Leave(1);
  bench.GiveBuffer(0);
  for (int i = 0; i < 30; ++i) bench.Step();
  EXPECT_EQ(bench.step(), Step::kDrain);
  bench.wires.quiet = 1;
  bench.Step();
  bench.wires.quiet = 0;
  bench.Step();
  bench.wires.quiet = 1;
  bench.Step();
  EXPECT_FALSE(bench.Look().context.valid) << "quiet for one cycle only";
  bench.Step();
  EXPECT_TRUE(bench.Look().context.valid);
}

TEST(PreemptEngineTest, StoresEveryLineOnceInOrderInItsBuffer) {
  Bench bench;
  bench.wires.running = 0b1000;
  bench.Leave(0b1000);
  bench.Drain(3);
  for (unsigned line = 0; line < kLines; ++line) {
    const ContextRequest request = bench.Step().context;
    EXPECT_TRUE(request.valid);
    EXPECT_TRUE(request.store);
    EXPECT_EQ(request.tb_slot, TbSlot{3});
    EXPECT_EQ(request.line, line);
    EXPECT_EQ(request.address, 0x10003000u + line * 128u);
  }
  EXPECT_FALSE(bench.Look().context.valid);
}

TEST(PreemptEngineTest, HoldsALineUntilItIsTaken) {
  Bench bench;
  bench.wires.running = 1;
  bench.Leave(1);
  bench.Drain(0);
  bench.Step();
  bench.wires.context_ready = false;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(bench.Step().context.line, 1);
  bench.wires.context_ready = true;
  EXPECT_EQ(bench.Step().context.line, 1);
  EXPECT_EQ(bench.Look().context.line, 2);
}

TEST(PreemptEngineTest, TheTbLeavesWithItsLastLineStored) {
  Bench bench;
  bench.wires.running = 0b10;
  bench.Leave(0b10);
  bench.Drain(0);
  for (unsigned i = 0; i < kLines; ++i) bench.Step();
  bench.wires.context_done = kLines - 1;
  EXPECT_FALSE(bench.Step().release_valid) << "earlier than the contract";
  EXPECT_EQ(bench.Look().stop, 0b10u);
  bench.wires.context_done = 1;
  const PreemptEngine::Outputs out = bench.Step();
  EXPECT_TRUE(out.release_valid) << "later than the contract";
  EXPECT_EQ(out.release_slot, TbSlot{1});
  EXPECT_EQ(out.release_kind, TbRelease::kSaved);
  bench.Step();
  EXPECT_EQ(bench.Look().stop, 0u);
}

TEST(PreemptEngineTest, ReportsTheSavedTbAndWaitsForTheDriver) {
  Bench bench;
  bench.wires.running = 0b10;
  bench.Leave(0b10, true);
  bench.Drain(9);
  bench.Transfer();
  bench.take_events = false;
  for (int i = 0; i < 5; ++i) {
    const PreemptEngine::Outputs out = bench.Step();
    EXPECT_TRUE(out.event_valid) << "held until it is sent";
    EXPECT_EQ(out.event.kind, EventKind::kSaved);
    EXPECT_EQ(out.event.kernel, KernelId{1});
    EXPECT_EQ(out.event.tb, TbId{51});
    EXPECT_EQ(out.event.buffer, 9);
    EXPECT_TRUE(out.event.counted);
  }
  bench.take_events = true;
  bench.Step();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(bench.Step().event_valid) << "once";
  EXPECT_FALSE(bench.engine.settled());
  bench.wires.event_ack = true;
  bench.Step();
  EXPECT_TRUE(bench.engine.settled());
  EXPECT_FALSE(bench.engine.busy());
}

TEST(PreemptEngineTest, LoadsTheMirrorImage) {
  Bench bench;
  bench.wires.load = 0b100;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(bench.Step().context.valid) << "earlier than the contract: " << i;
  }
  for (unsigned line = 0; line < kLines; ++line) {
    const PreemptEngine::Outputs out = bench.Step();
    EXPECT_TRUE(out.context.valid);
    EXPECT_FALSE(out.context.store);
    EXPECT_EQ(out.context.address, Bench::kBase + 9 * 4096 + line * 128) << "buffer of slot 2";
    EXPECT_EQ(out.stop, 0u);
  }
  bench.wires.context_done = kLines - 1;
  EXPECT_FALSE(bench.Step().loaded_valid);
  bench.wires.context_done = 1;
  const PreemptEngine::Outputs out = bench.Step();
  EXPECT_TRUE(out.loaded_valid);
  EXPECT_EQ(out.loaded_slot, TbSlot{2});
  EXPECT_FALSE(out.release_valid);
  const SmEvent event = bench.Report();
  EXPECT_EQ(event.kind, EventKind::kBufferFree);
  EXPECT_EQ(event.buffer, 9);
}

TEST(PreemptEngineTest, ATbThatFinishesWhileItDrainsGivesItsBufferBack) {
  Bench bench;
  bench.wires.running = 1;
  bench.Leave(1);
  bench.GiveBuffer(4);
  bench.wires.finished = 1;
  bench.Step();
  const SmEvent event = bench.Report();
  EXPECT_EQ(event.kind, EventKind::kBufferFree);
  EXPECT_EQ(event.buffer, 4);
  EXPECT_EQ(bench.Look().stop, 0u);
  EXPECT_TRUE(bench.engine.settled());
}

TEST(PreemptEngineTest, ATbThatFinishesInItsLastCycleOfDrainIsNotSaved) {
  Bench bench;
  bench.wires.running = 1;
  bench.Leave(1);
  bench.GiveBuffer(4);
  bench.wires.quiet = 1;
  bench.Step();
  bench.wires.finished = 1;
  EXPECT_FALSE(bench.Step().release_valid);
  EXPECT_EQ(bench.Report().kind, EventKind::kBufferFree);
}

TEST(PreemptEngineTest, ATbThatFinishesBeforeTheRequestNeedsNoBuffer) {
  for (const int cycle : {1, 2}) {
    Bench bench;
    bench.wires.running = bench.wires.leave = 1;
    for (int i = 0; i < 6; ++i) {
      if (i == cycle) bench.wires.finished = 1;
      EXPECT_FALSE(bench.Step().buffer_request) << cycle;
    }
    EXPECT_TRUE(bench.engine.settled());
    EXPECT_FALSE(bench.engine.busy());
  }
}

TEST(PreemptEngineTest, ATbThatFinishesWhileItsAddressIsComputedGivesItsBufferBack) {
  for (const int cycle : {1, 2}) {
    Bench bench;
    bench.wires.running = 1;
    bench.Leave(1);
    bench.wires.buffer_valid = true;
    bench.wires.buffer = 4;
    for (int i = 0; i < 4; ++i) {
      if (i == cycle) bench.wires.finished = 1;
      EXPECT_EQ(bench.Step().stop, 0u);
    }
    const SmEvent event = bench.Report();
    EXPECT_EQ(event.kind, EventKind::kBufferFree);
    EXPECT_EQ(event.buffer, 4);
  }
}

TEST(PreemptEngineTest, ATbThatFinishesBeforeItHasABufferWithdrawsTheRequest) {
  Bench bench;
  bench.wires.running = 1;
  bench.Leave(1);
  bench.wires.finished = 1;
  bench.Step();
  EXPECT_TRUE(bench.Step().buffer_withdraw);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(bench.Look().buffer_withdraw) << "once";
    EXPECT_FALSE(bench.Step().buffer_request) << "asked for already";
    EXPECT_FALSE(bench.engine.settled()) << "a buffer may be on its way";
  }
  bench.wires.buffer_none = true;
  bench.Step();
  EXPECT_TRUE(bench.engine.settled());
}

TEST(PreemptEngineTest, ABufferThatComesTooLateIsGivenBack) {
  Bench bench;
  bench.wires.running = 1;
  bench.Leave(1);
  bench.wires.finished = 1;
  bench.Step();
  bench.wires.buffer_valid = true;
  bench.wires.buffer = 6;
  bench.Step();
  const SmEvent event = bench.Report();
  EXPECT_EQ(event.kind, EventKind::kBufferFree);
  EXPECT_EQ(event.buffer, 6);
}

TEST(PreemptEngineTest, SavesTheHighestSlotFirst) {
  Bench bench;
  bench.wires.running = 0b10110;
  bench.Leave(0b10110);
  for (unsigned slot : {4u, 2u, 1u}) {
    bench.Drain(slot);
    EXPECT_EQ(bench.Look().context.tb_slot, static_cast<TbSlot>(slot));
    EXPECT_EQ(bench.Look().stop, 1u << slot) << "one TB at a time";
    bench.Transfer();
    bench.Report();
    EXPECT_EQ(bench.engine.settled(), slot == 1);
  }
}

TEST(PreemptEngineTest, LoadsTheLowestSlotFirstAndSavesBeforeLoads) {
  Bench bench;
  bench.wires.running = 1;
  bench.wires.load = 0b1100;
  bench.wires.leave = 1;
  bench.Run(3);
  EXPECT_TRUE(bench.Look().buffer_request);
  bench.Drain(0);
  bench.Transfer();
  bench.Report();
  for (unsigned slot : {2u, 3u}) {
    bench.Run(2);
    EXPECT_EQ(bench.Look().context.tb_slot, static_cast<TbSlot>(slot));
    EXPECT_FALSE(bench.Look().context.store);
    bench.Transfer();
    bench.Report();
  }
  EXPECT_FALSE(bench.engine.busy());
}

TEST(PreemptEngineTest, ATbThatWaitsForItsContextIsLoadedBeforeItIsSaved) {
  Bench bench;
  bench.wires.load = 1;
  bench.wires.leave = 1;
  bench.Run(5);
  EXPECT_TRUE(bench.Look().context.valid);
  EXPECT_FALSE(bench.Look().context.store);
  bench.Transfer();
  EXPECT_FALSE(bench.engine.settled());
  bench.Report();
  EXPECT_TRUE(bench.Look().buffer_request);
  bench.Drain(2);
  EXPECT_TRUE(bench.Look().context.store);
}

TEST(PreemptEngineTest, NothingChangesWhenIdle) {
  Bench bench;
  bench.wires.running = ~0u;
  bench.wires.quiet = ~0u;
  bench.wires.flushable = ~0u;
  for (int i = 0; i < 10; ++i) {
    const PreemptEngine::Outputs out = bench.Step();
    EXPECT_EQ(out.stop, 0u);
    EXPECT_FALSE(out.context.valid || out.buffer_request || out.release_valid || out.event_valid);
    EXPECT_FALSE(bench.engine.busy());
  }
}

// The example of docs/blocks/preempt_engine.md, cycle by cycle. Memory completes a line after 10
// cycles; the last instruction of the TB completes in cycle 12.
TEST(PreemptEngineTest, SavesAsInTheExampleOfItsPage) {
  Bench bench;
  bench.wires.running = 1 << 6;
  for (unsigned cycle = 0; cycle <= 50; ++cycle) {
    auto& in = bench.wires;
    if (cycle == 0) in.leave = 1 << 6;
    in.buffer_valid = cycle == 4;
    in.buffer = 3;
    in.quiet = cycle >= 13 ? 1 << 6 : 0;
    in.context_done = cycle >= 25 && cycle <= 45 ? 1 : 0;
    in.event_ack = cycle == 49;
    const PreemptEngine::Outputs out = bench.Step();
    SCOPED_TRACE(testing::Message() << "cycle " << cycle);
    EXPECT_EQ(out.buffer_request, cycle == 3);
    EXPECT_EQ(out.stop, cycle >= 8 && cycle <= 46 ? 1u << 6 : 0u);
    EXPECT_EQ(out.context.valid, cycle >= 15 && cycle <= 35);
    if (out.context.valid) {
      EXPECT_EQ(out.context.address, 0x10003000u + (cycle - 15) * 128);
    }
    EXPECT_EQ(out.release_valid, cycle == 45);
    EXPECT_EQ(out.event_valid, cycle == 46);
    EXPECT_EQ(bench.engine.settled(), cycle >= 49);
  }
}

}  // namespace
}  // namespace smk
