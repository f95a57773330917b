// SPDX-License-Identifier: Apache-2.0
// smk_sm_control with all TB slots taken: what is true of one slot is true of each.
#include <Vsmk_sm_control.h>
#include <Vsmk_sm_control_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sm_control/bench.h"
#include "sm_control/pair.h"

namespace smk {
namespace {

using Gtx980 = SmControlPair<Vsmk_sm_control, Vsmk_sm_control_smk_pkg>;

// TBs of two warps, so that 32 fit.
class Slots : public SmControlBench<Gtx980> {
 public:
  explicit Slots(PreemptMode preempt = PreemptMode::kSwitch) : SmControlBench(With(preempt)) {
    for (KernelView& view : views) view.need.threads = 2;
  }
  ~Slots() { EXPECT_TRUE(control().lockstep().ok()) << control().lockstep().mismatch(); }
  std::uint32_t valid() { return control().model().tb_table().state().valid; }
  std::array<unsigned, kMaxTbSlots> Left() const {
    std::array<unsigned, kMaxTbSlots> left{};
    for (const SmEvent& event : events) {
      if (event.kind != EventKind::kSettled) ++left[Index(event.tb)];
    }
    return left;
  }

 private:
  static PolicyConfig With(PreemptMode preempt) {
    PolicyConfig policy;
    policy.preempt = preempt;
    return policy;
  }
};

TEST(SmControlSlots, TbsThatFinishTogetherAreReportedOnceEach) {
  Slots all;
  for (unsigned tb = 0; tb < kMaxTbSlots; ++tb) all.Place(tb % kNumKernels, tb);
  all.in.tb_finished = ~0u;
  all.Run(60);
  EXPECT_THAT(all.Left(), testing::Each(1u));
  EXPECT_EQ(all.valid(), 0u);
}

// Without partitions; the place of a kernel's TB that left goes before an empty slot that is lower.
TEST(SmControlSlots, ATbTakesThePlaceThatItsKernelLeftNotTheLowestSlot) {
  constexpr unsigned kLast = kMaxTbSlots - 1;
  for (unsigned slot = 0; slot < kLast; ++slot) {
    Slots slots;
    for (unsigned tb = 0; tb < kMaxTbSlots; ++tb) slots.Place(tb == slot ? 2 : 1, tb);
    slots.in.tb_finished = 1u << slot | 1u << kLast;
    slots.Run(8);
    slots.Place(1, 100);
    EXPECT_EQ(slots.valid(), ~(1u << slot)) << slot;
    slots.Place(2, 101);
    EXPECT_EQ(slots.valid(), ~0u) << slot;
  }
}

// They were asked for, and are not missing when they finish before they have left.
TEST(SmControlSlots, AVictimThatFinishesIsCountedInEverySlot) {
  Slots slots;
  for (unsigned tb = 0; tb < kMaxTbSlots; ++tb) slots.Place(0, tb);
  slots.Preempt(0, kMaxTbSlots);
  slots.Run(kMaxTbSlots + 4);
  slots.in.tb_finished = slots.valid() & ~slots.out.tb_stop;
  slots.Run(200);
  EXPECT_THAT(slots.Left(), testing::Each(1u));
  for (const SmEvent& event : slots.events) {
    if (event.kind == EventKind::kFinished) {
      EXPECT_TRUE(event.counted) << Index(event.tb);
    }
  }
}

// Contexts and lengths differ from kernel to kernel, and when a TB began from slot to slot: so does
// what costs least.
TEST(SmControlSlots, EachTbLeavesAsItsKernelAndItsTimeSay) {
  std::array<unsigned, 3> ways{};  // by kind of event
  for (unsigned first = 0; first < kNumKernels; ++first) {
    Slots slots(PreemptMode::kChimera);
    slots.time_runs = true;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      slots.views[k].context_lines = static_cast<std::uint16_t>(1 + 9 * k);
      slots.views[k].context_log2_lines = 5;
    }
    const auto kernel = [&](unsigned slot) { return (first + slot) % kNumKernels; };
    for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) slots.Place(kernel(slot), slot);
    // Each goes once, after some time, and another comes into its slot.
    for (unsigned n = 0; n < 2 * kMaxTbSlots; ++n) {
      const unsigned slot = (5 * n + first) % kMaxTbSlots;
      slots.Run(40 + 30 * kernel(slot));
      slots.in.tb_finished = 1u << slot;
      slots.Run(6);
      slots.Place(kernel(slot), slot);
    }
    slots.events.clear();
    slots.Evict(PreemptMode::kChimera);
    for (unsigned cycle = 0; cycle < 3000; ++cycle) {
      slots.in.tb_flushable = 0xf0f0f0f0u;
      slots.Step();
    }
    // Those that drain.
    slots.in.tb_finished = slots.valid();
    slots.Run(80);
    EXPECT_EQ(slots.valid(), 0u) << first;
    for (const EventKind kind : {EventKind::kFinished, EventKind::kSaved, EventKind::kFlushed}) {
      const auto is_kind = [kind](const SmEvent& event) { return event.kind == kind; };
      ways[static_cast<unsigned>(kind)] +=
          static_cast<unsigned>(std::count_if(slots.events.begin(), slots.events.end(), is_kind));
    }
  }
  EXPECT_THAT(ways, testing::Each(testing::Gt(0u)));
}

// One comes as new, one from a context. All others are old: to drop one would lose more than to
// save it, and nobody knows how long TBs of their kernel run.
TEST(SmControlSlots, TbsThatComeLeaveTheOthersAsOldAsTheyAre) {
  for (unsigned restored = 0; restored < kMaxTbSlots; ++restored) {
    const unsigned fresh = restored ^ 1;
    Slots slots(PreemptMode::kChimera);
    slots.time_runs = true;
    for (KernelView& view : slots.views) view.context_lines = 6;  // out and in again: 384 cycles
    const auto kernel = [&](unsigned tb) { return tb == restored ? 2 : tb == fresh ? 3 : 1; };
    for (unsigned tb = 0; tb < kMaxTbSlots; ++tb) slots.Place(kernel(tb), tb);
    slots.Run(600);
    slots.in.tb_finished = 1u << restored | 1u << fresh;
    slots.Run(20);  // both are measured
    for (const unsigned tb : {std::min(restored, fresh), std::max(restored, fresh)}) {
      slots.Dispatch(kernel(tb), tb, tb == restored);
      slots.Run(30);
    }
    EXPECT_EQ(slots.control().model().preempt_chooser().state().restored, 1u << restored);
    slots.events.clear();
    slots.Evict(PreemptMode::kChimera);
    for (unsigned cycle = 0; cycle < 1000; ++cycle) {
      slots.in.tb_flushable = ~0u;
      slots.Step();
    }
    EXPECT_THAT(slots.Left(), testing::Each(1u)) << restored;
    for (const SmEvent& event : slots.events) {
      if (event.kind == EventKind::kSettled) continue;
      const bool dropped = Index(event.tb) == fresh;
      EXPECT_EQ(event.kind, dropped ? EventKind::kFlushed : EventKind::kSaved) << restored;
    }
  }
}

// Nothing else happens in the cycle.
TEST(SmControlSlots, EveryInputAloneAsksForTheClock) {
  Gtx980 sm;
  const KernelViews views{};
  SmOutputs out;
  bool clocked = false;
  sm.watch = [&clocked](const Vsmk_sm_control& dut) { clocked = dut.clock_en_o != 0; };
  const auto asks = [&](const SmInputs& in) {
    sm.Step(in, {}, views, &out);
    return clocked;
  };
  EXPECT_FALSE(asks({}));
  for (unsigned s = 0; s < Gtx980::Package::NumSchedulers; ++s) {
    for (unsigned w = 0; w < Gtx980::Package::WarpsPerScheduler; ++w) {
      SmInputs in;
      in.ready[s] = static_cast<std::uint32_t>(1u << w);
      EXPECT_TRUE(asks(in)) << "scheduler " << s << " warp " << w;
    }
  }
  EXPECT_TRUE(sm.lockstep().ok()) << sm.lockstep().mismatch();
}

}  // namespace
}  // namespace smk
