// SPDX-License-Identifier: Apache-2.0
// Warps as lanes: both layouts, bit by bit, and an SM that gives the same with either.
#include "machine/lanes.h"

#include <gtest/gtest.h>

#include <random>

#include "control/reference_control.h"
#include "model/micro.h"

namespace smk {
namespace {

struct Layout {
  unsigned warps, schedulers, lanes;
};

void CheckLayout(const Layout& layout) {
  const LaneLayout lanes(layout.warps);
  ASSERT_EQ(lanes.lanes_per_scheduler(), layout.lanes);
  LaneMask last = 0;
  for (unsigned s = 0; s < layout.schedulers; ++s) {
    LaneMask field = 0;
    for (unsigned i = 0; i < layout.lanes; ++i) {
      const unsigned lane = lanes.LaneOf(s, i);
      field |= LaneBit(lane);
      EXPECT_EQ(lanes.SchedulerOf(lane), s);
      EXPECT_EQ(lanes.IndexOf(lane), i);
    }
    EXPECT_EQ(lanes.SchedulerField(s), field);
    EXPECT_EQ(lanes.LastLanesOf(1u << s), LaneBit(lanes.LaneOf(s, layout.lanes - 1)));
    last |= lanes.LastLanesOf(1u << s);
  }
  std::mt19937_64 random(3);
  for (unsigned i = 0; i < 5000; ++i) {
    const LaneMask mask = random() & random() & (i % 3 == 0 ? random() & random() : ~LaneMask{0});
    LaneMask having = 0, fields = 0;
    unsigned count = 0;
    for (unsigned s = 0; s < layout.schedulers; ++s) {
      if ((mask & lanes.SchedulerField(s)) == 0) continue;
      having |= lanes.LastLanesOf(1u << s);
      fields |= lanes.SchedulerField(s);
      ++count;
    }
    ASSERT_EQ(lanes.LastLanesIn(mask), having) << mask;
    ASSERT_EQ(lanes.FieldsOf(having), fields) << mask;
    ASSERT_EQ(lanes.CountOf(having), count) << mask;
  }
  for (unsigned set = 0; set < 1u << layout.schedulers; ++set) {
    LaneMask expected = 0;
    for (unsigned s = 0; s < layout.schedulers; ++s) {
      if ((set >> s & 1) != 0) expected |= lanes.LastLanesOf(1u << s);
    }
    EXPECT_EQ(lanes.LastLanesOf(set), expected) << set;
  }
  EXPECT_EQ(lanes.LastLanesOf((1u << layout.schedulers) - 1), last);
}

TEST(LaneLayout, FourSchedulersOf16) { CheckLayout({12, 4, 16}); }
TEST(LaneLayout, TwoSchedulersOf32) {
  CheckLayout({24, 2, 32});
  CheckLayout({32, 2, 32});
}

MicroKernel Mixed(const char* name, unsigned threads, OpClass op) {
  MicroKernel kernel;
  kernel.name = name;
  kernel.threads = threads;
  kernel.tbs = 60;
  kernel.Loop(25);
  kernel.Load(0, {}, MicroKernel::kNewLine);
  kernel.Op(op, 1, {0});
  kernel.Op(OpClass::kBarrier);
  kernel.Op(OpClass::kAlu, 2, {1});
  kernel.Op(OpClass::kAlu, 3, {2});
  kernel.End();
  kernel.Store({3});
  return kernel;
}

// 32 warps on two schedulers, of which each could have `warps`.
RunResult OnTwoSchedulers(unsigned warps, bool quotas) {
  MicroRun run;
  run.request.machine.sms = 2;
  run.request.machine.sm.schedulers = 2;
  run.request.machine.sm.warps_per_scheduler = warps;
  run.request.machine.sm.limits.threads = 32;
  run.request.cycles = 40000;
  PolicyConfig policy;
  policy.quota_enable = quotas;
  policy.epoch_length = 500;
  const auto control = MakeReferenceControl(run.Control(), policy);
  return run.Run({Mixed("a", 96, OpClass::kSfu), Mixed("b", 160, OpClass::kAlu)}, control.get());
}

// Warps take slots from the first on: with the same limit of threads the same warps run on the same
// schedulers, and the layout of the masks is all that differs.
TEST(SmLanes, LayoutsGiveTheSame) {
  for (const bool quotas : {false, true}) {
    const RunResult narrow = OnTwoSchedulers(16, quotas), wide = OnTwoSchedulers(24, quotas);
    EXPECT_GT(narrow.warp_instructions, 20000u);
    EXPECT_EQ(narrow.warp_instructions, wide.warp_instructions);
    for (std::size_t i = 0; i < narrow.sms.size(); ++i) {
      EXPECT_EQ(narrow.sms[i].scheduler_cycles, wide.sms[i].scheduler_cycles) << "SM " << i;
      EXPECT_EQ(narrow.sms[i].sim_stalls, wide.sms[i].sim_stalls) << "SM " << i;
    }
    for (std::size_t i = 0; i < narrow.kernels.size(); ++i) {
      EXPECT_EQ(narrow.kernels[i].stalls, wide.kernels[i].stalls);
      EXPECT_EQ(narrow.kernels[i].tbs_completed, wide.kernels[i].tbs_completed);
    }
  }
}

class FullSm : public testing::TestWithParam<std::pair<unsigned, unsigned>> {};

// As many warps of independent instructions as an SM holds: each has a place, and each scheduler
// issues in each cycle.
TEST_P(FullSm, HoldsAndIssuesThemAll) {
  const auto [schedulers, warps] = GetParam();
  MicroRun run;
  run.request.machine.sm.schedulers = schedulers;
  run.request.machine.sm.warps_per_scheduler = warps;
  run.request.machine.sm.limits.threads = schedulers * warps;
  run.request.cycles = 4000;
  MicroKernel kernel;
  kernel.threads = schedulers * warps * kWarpThreads;
  kernel.registers = 8;
  kernel.Loop(5000);
  kernel.Op(OpClass::kAlu, 0);
  kernel.End();
  SimpleControl control(run.Control());
  const RunResult result = run.Run({kernel}, &control);
  EXPECT_GT(result.warp_instructions, schedulers * 3000u);
  EXPECT_LE(result.warp_instructions, schedulers * 4000u);
  EXPECT_EQ(result.sms[0].scheduler_cycles[static_cast<unsigned>(Stall::kQuota)], 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, FullSm,
                         testing::Values(std::pair{1u, 16u}, std::pair{1u, 32u}, std::pair{2u, 24u},
                                         std::pair{2u, 32u}, std::pair{3u, 16u},
                                         std::pair{4u, 16u}));

}  // namespace
}  // namespace smk
