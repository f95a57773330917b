// SPDX-License-Identifier: Apache-2.0
// The window in which an SM samples a kernel, and plans whose TBs drain: SmControl by itself, and
// the latency of the RTL from both sides.
#include <Vsmk_sm_control.h>
#include <Vsmk_sm_control_smk_pkg.h>
#include <gtest/gtest.h>

#include "control/sm/sm_control.h"
#include "sm_control/bench.h"
#include "sm_control/pair.h"

namespace smk {
namespace {

template <typename Control>
class WindowBench : public SmControlBench<Control> {
 public:
  using SmControlBench<Control>::SmControlBench;
  void Begin(unsigned kernel, bool stalls) {
    this->from_driver.sample_begin = true;
    this->from_driver.sample_kernel = static_cast<KernelId>(kernel);
    this->from_driver.sample_stalls = stalls;
    Cycle();
  }
  // A warp of the kernel with warps 0 to 3 issues, and one waits on each other scheduler.
  void Cycle() {
    this->in.ready = {1, 0, 0, 0};
    this->in.memory = {0b1110, 0b1100, 0, 0b1111};
    this->Step();
  }
  void End() {
    this->from_driver.sample_end = true;
    Cycle();
  }
};

class Bench : public WindowBench<SmControl> {
 public:
  Bench() : WindowBench(ControlConfig{}, PolicyConfig{}) { Place(0, 7); }
};

TEST(SmControlWindow, CountsTheCyclesFromItsBeginToItsEnd) {
  Bench bench;
  bench.Begin(0, true);
  EXPECT_TRUE(bench.out.samples) << "from the next cycle on";
  EXPECT_EQ(bench.out.grant_valid, 1);
  for (unsigned i = 0; i < 9; ++i) {
    bench.Cycle();
    EXPECT_TRUE(bench.out.samples);
  }
  bench.End();
  EXPECT_FALSE(bench.out.samples);
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_FALSE(bench.to_driver.sample_valid);
    bench.Cycle();
  }
  EXPECT_TRUE(bench.to_driver.sample_valid);
  EXPECT_EQ(bench.to_driver.sample_issued, 10);
  EXPECT_EQ(bench.to_driver.sample_stalled, 30);
  bench.Cycle();
  EXPECT_FALSE(bench.to_driver.sample_valid);
}

TEST(SmControlWindow, IsOfOneKernel) {
  Bench bench;
  bench.Begin(1, true);
  for (unsigned i = 0; i < 9; ++i) bench.Cycle();
  bench.End();
  bench.Run(2);
  EXPECT_EQ(bench.to_driver.sample_issued, 0) << "kernel 0 issued";
  EXPECT_EQ(bench.to_driver.sample_stalled, 20) << "scheduler 0 issued in its place";
}

// Who only watches sleeps while nobody is ready.
TEST(SmControlWindow, KeepsTheSmAwakeOnlyForStalls) {
  for (const bool stalls : {false, true}) {
    Bench bench;
    bench.Begin(0, stalls);
    bench.Run(10);
    EXPECT_EQ(bench.control().awake(), stalls);
    EXPECT_EQ(bench.out.samples, stalls);
    for (unsigned i = 0; i < 5; ++i) bench.Cycle();
    bench.End();
    bench.Run(2);
    EXPECT_TRUE(bench.to_driver.sample_valid);
    EXPECT_EQ(bench.to_driver.sample_issued, 6);
    EXPECT_EQ(bench.to_driver.sample_stalled, stalls ? 18 : 0);
    bench.Run(2);
    EXPECT_FALSE(bench.control().awake());
  }
}

TEST(SmControlWindow, TheNextOneBeginsWithZero) {
  Bench bench;
  for (const unsigned length : {5u, 1u, 3u}) {
    bench.Begin(0, true);
    for (unsigned i = 1; i < length; ++i) bench.Cycle();
    bench.End();
    bench.Run(2);
    EXPECT_EQ(bench.to_driver.sample_issued, length);
    bench.Run(3);
  }
}

// Under kDrain a TB that is out of place runs on until it ends, and the SM is settled then.
TEST(SmControlWindow, TbsOutOfPlaceDrain) {
  for (const PreemptMode mode : {PreemptMode::kDrain, PreemptMode::kSwitch}) {
    Bench bench;
    bench.Place(1, 8);
    bench.Partition(1, 1, 2, true, true, mode);
    bench.Run(200);
    if (mode == PreemptMode::kSwitch) {
      ASSERT_EQ(bench.events.size(), 3u);
      EXPECT_EQ(bench.events[1].kind, EventKind::kSaved);
      continue;
    }
    EXPECT_TRUE(bench.events.empty());
    EXPECT_EQ(bench.out.tb_stop, 0u);
    bench.in.tb_finished = 0b11;
    bench.Run(10);
    ASSERT_EQ(bench.events.size(), 3u);
    EXPECT_EQ(bench.events[0].kind, EventKind::kFinished);
    EXPECT_EQ(bench.events[2].kind, EventKind::kSettled);
  }
}

TEST(SmControlWindow, IsReportedExactlyThreeCyclesAfterItsEnd) {
  WindowBench<SmControlPair<Vsmk_sm_control, Vsmk_sm_control_smk_pkg>> bench;
  bench.Place(0, 7);
  bench.Begin(0, true);
  for (unsigned i = 0; i < 20; ++i) bench.Cycle();
  bench.End();
  bench.Cycle();
  EXPECT_EQ(bench.control().lockstep().dut().sample_valid_o, 0) << "earlier than the contract";
  bench.Cycle();
  EXPECT_EQ(bench.control().lockstep().dut().sample_valid_o, 1) << "later than the contract";
  EXPECT_EQ(bench.control().lockstep().dut().sample_issued_o, 21);
  EXPECT_TRUE(bench.control().lockstep().ok()) << bench.control().lockstep().mismatch();
}

}  // namespace
}  // namespace smk
