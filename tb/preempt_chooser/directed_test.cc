// SPDX-License-Identifier: Apache-2.0
// The rules of PreemptChooser, one by one. Times are in units of 16 cycles, a line takes one unit.
#include <gtest/gtest.h>

#include "control/sm/preempt_chooser.h"

namespace smk {
namespace {

using Inputs = PreemptChooser::Inputs;

// TBs of kernel 0 in every slot; a context has 100 lines: a save takes 100 units, a switch 200.
class Bench {
 public:
  explicit Bench(std::uint32_t limit_units = 1000) {
    in.chimera = {true, limit_units << kTimeUnitLog2, kTimeUnitLog2};
    in.slot_kernel = &kernel;
    in.kernels = &views;
    in.time = 100'000;
    for (KernelView& view : views) view.context_lines = 100;
  }
  void Cycle() {
    chooser.Tick(in);
    in.activate = in.loaded = 0;
    in.ended = in.order = false;
  }
  void Cycles(unsigned n) {
    for (unsigned i = 0; i < n; ++i) Cycle();
  }
  void Activate(std::uint32_t slots, std::uint32_t loaded = 0) {
    in.activate = slots;
    in.loaded = loaded;
    Cycle();
    in.running |= slots;
  }
  // A TB in `slot` runs for so long and ends.
  void RunTb(unsigned slot, std::uint32_t units, bool loaded = false) {
    Activate(1u << slot, loaded ? 1u << slot : 0);
    in.time += units;
    in.running &= ~(1u << slot);
    in.ended = true;
    in.ended_slot = static_cast<std::uint8_t>(slot);
    Cycles(5);
  }
  void Order(std::uint32_t slots, PreemptMode mode = PreemptMode::kChimera) {
    in.order = true;
    in.mode = mode;
    Cycle();
    in.leaving = slots;
  }
  // One TB that has run for `age` must go: "drain", "flush" or "switch".
  std::string Way(std::uint32_t age, bool flushable, bool loaded = false) {
    Activate(1, loaded);
    in.time += age;
    in.flushable = flushable ? 1 : 0;
    Order(1);
    Cycles(7);
    return Of(0);
  }
  std::string Of(unsigned slot) const {
    const PreemptChooser::State& s = chooser.state();
    if ((s.judged >> slot & 1) == 0) return "not judged";
    if ((s.go >> slot & 1) == 0) return "drain";
    return (s.flush >> slot & 1) != 0 ? "flush" : "switch";
  }

  PreemptChooser chooser;
  Inputs in;
  std::array<KernelId, kMaxTbSlots> kernel{};
  KernelViews views{};
};

// After a TB that ran for 500 units, `age` into the next one.
std::string After500(std::uint32_t age, bool flushable, std::uint32_t limit = 1000) {
  Bench bench(limit);
  bench.RunTb(0, 500);
  return bench.Way(age, flushable);
}

// A switch costs 200, a flush the age, a drain the rest of 500.
TEST(PreemptChooserTest, TheCheapestOfTheThreeIsTaken) {
  EXPECT_EQ(After500(50, true), "flush");
  EXPECT_EQ(After500(50, false), "switch") << "it cannot be dropped";
  EXPECT_EQ(After500(199, true), "flush");
  EXPECT_EQ(After500(201, true), "switch") << "299 to its end";
  EXPECT_EQ(After500(299, true), "switch");
  EXPECT_EQ(After500(301, true), "drain");
  EXPECT_EQ(After500(499, false), "drain");
}

TEST(PreemptChooserTest, OfEqualsADrainGoesBeforeAFlushBeforeASwitch) {
  EXPECT_EQ(After500(200, true), "flush") << "200 and 200 of a switch";
  EXPECT_EQ(After500(300, false), "drain") << "200 and 200 of a switch";
  Bench bench;
  bench.RunTb(0, 300);
  EXPECT_EQ(bench.Way(150, true), "drain") << "150 and 150 of a flush";
}

TEST(PreemptChooserTest, WithoutAMeanNobodyIsDrained) {
  Bench bench;
  EXPECT_EQ(bench.Way(0, false), "switch");
  Bench other;
  other.RunTb(0, 10);
  other.kernel.fill(KernelId{1});
  EXPECT_EQ(other.Way(10, false), "switch") << "the mean is that of another kernel";
}

// [D86]: it stays as long as it has overstayed.
TEST(PreemptChooserTest, ATbPastTheMeanIsSaidToRunForAsLongAsItIsPast) {
  EXPECT_EQ(After500(650, false), "drain");
  EXPECT_EQ(After500(700, false), "drain");
  EXPECT_EQ(After500(701, false), "switch");
}

TEST(PreemptChooserTest, WhatIsNotInTimeIsNotTaken) {
  EXPECT_EQ(After500(350, false, 150), "drain") << "150 to its end";
  EXPECT_EQ(After500(349, false, 150), "switch") << "151 to its end, a save takes 100";
  EXPECT_EQ(After500(450, true, 99), "drain") << "50 to its end";
  EXPECT_EQ(After500(400, true, 99), "flush")
      << "only a flush is over at once, though it costs 400";
}

TEST(PreemptChooserTest, IfNothingIsInTimeWhatIsOverFirstIsTaken) {
  EXPECT_EQ(After500(401, false, 50), "drain") << "99, and 100 of a save";
  EXPECT_EQ(After500(400, false, 50), "switch") << "100 and 100";
  EXPECT_EQ(After500(350, false, 50), "switch");
}

// The second save ends after 200, the third after 300.
TEST(PreemptChooserTest, SavesGoOneAfterTheOther) {
  Bench bench(250);
  bench.RunTb(0, 1000);
  bench.Activate(0b111);
  bench.in.time += 740;
  bench.Order(0b111);
  bench.Cycles(21);
  EXPECT_EQ(bench.Of(2), "switch") << "the highest first";
  EXPECT_EQ(bench.Of(1), "switch");
  EXPECT_EQ(bench.Of(0), "drain") << "260, sooner than 300; nothing is in time";
  EXPECT_EQ(bench.chooser.state().saves, 200u);
}

TEST(PreemptChooserTest, ATbThatRanElsewhereBeforeIsNeitherFlushedNorMeasured) {
  Bench bench;
  EXPECT_EQ(bench.Way(5, true, true), "switch");
  Bench other;
  other.RunTb(0, 10, true);
  EXPECT_EQ(other.chooser.state().known, 0u);
  other.RunTb(0, 20);
  EXPECT_EQ(other.chooser.state().mean[0], 20u) << "the slot's next TB is a new one";
}

TEST(PreemptChooserTest, TheMeanMovesByAnEighth) {
  Bench bench;
  bench.RunTb(3, 100);
  EXPECT_EQ(bench.chooser.state().mean[0], 100u) << "the first one";
  bench.RunTb(3, 180);
  EXPECT_EQ(bench.chooser.state().mean[0], 110u);
  bench.RunTb(3, 100);
  EXPECT_EQ(bench.chooser.state().mean[0], 108u) << "-10/8 rounded down: -2";
  bench.RunTb(3, 115);
  EXPECT_EQ(bench.chooser.state().mean[0], 108u) << "7/8 rounded down";
}

TEST(PreemptChooserTest, ATbThatEndsWhileAnotherIsAtHandIsNotMeasured) {
  Bench bench;
  bench.Activate(0b11);
  bench.in.time += 40;
  bench.in.ended = true;
  bench.Cycle();
  bench.in.ended = true;
  bench.in.ended_slot = 1;
  bench.in.time += 40;
  bench.Cycles(6);
  EXPECT_EQ(bench.chooser.state().mean[0], 80u) << "as read two cycles after the report";
  EXPECT_FALSE(bench.chooser.state().busy());
}

// A drain that takes longer than the limit allows becomes a switch, and not a flush.
TEST(PreemptChooserTest, WhoDrainsForTooLongIsSaved) {
  Bench bench(100);
  bench.RunTb(0, 500);
  ASSERT_EQ(bench.Way(450, true), "drain");
  bench.in.time += 100;
  bench.Cycles(3);
  EXPECT_EQ(bench.Of(0), "drain") << "not later than the limit";
  bench.in.time += 1;
  bench.Cycles(2);
  EXPECT_EQ(bench.Of(0), "drain");
  bench.Cycle();
  EXPECT_EQ(bench.Of(0), "switch");
}

TEST(PreemptChooserTest, OnlyWhoRunsIsJudged) {
  Bench bench;
  bench.Activate(0b01);
  bench.Order(0b11);
  bench.Cycles(20);
  EXPECT_EQ(bench.Of(0), "switch");
  EXPECT_EQ(bench.Of(1), "not judged") << "its context is still to come";
  bench.Activate(0b10, 0b10);
  bench.Cycles(7);
  EXPECT_EQ(bench.Of(1), "switch");
}

TEST(PreemptChooserTest, InAnotherModeNobodyIsJudged) {
  Bench bench;
  bench.Activate(1);
  bench.Order(1, PreemptMode::kSwitch);
  bench.Cycles(20);
  EXPECT_EQ(bench.Of(0), "not judged");
  EXPECT_FALSE(bench.chooser.state().busy());
}

TEST(PreemptChooserTest, AnOrderBeginsWithoutSavesAndWithNobodyJudged) {
  Bench bench;
  ASSERT_EQ(bench.Way(0, false), "switch");
  bench.in.leaving = bench.in.running = 0;
  bench.Cycle();
  EXPECT_EQ(bench.chooser.state().judged, 0u);
  EXPECT_EQ(bench.chooser.state().go, 0u);
  bench.Order(0);
  EXPECT_EQ(bench.chooser.state().saves, 0u);
  EXPECT_FALSE(bench.chooser.state().busy());
}

TEST(PreemptChooserTest, TimeMayWrapWhileATbRuns) {
  Bench bench;
  bench.in.time = kTimeMask - 5;
  bench.Activate(1);
  bench.in.time = 14;
  bench.in.running = 0;
  bench.in.ended = true;
  bench.Cycles(5);
  EXPECT_EQ(bench.chooser.state().mean[0], 20u);
}

}  // namespace
}  // namespace smk
