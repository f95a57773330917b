// SPDX-License-Identifier: Apache-2.0
// The lockstep of smk_tb_dispatch finds each rule that one side breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tb_dispatch/directed.h"

namespace smk {
namespace {

using tb_dispatch::Fill;
using tb_dispatch::Gtx980;
using tb_dispatch::PolicyOf;
using tb_dispatch::V100;

struct BrokenRule {
  const char* name;
  DispatchMode mode;
  std::function<void(DispatchView*)> bend;
};

const BrokenRule kBroken[] = {
    {"an event wakes", DispatchMode::kOnDemand,
     [](DispatchView* v) { v->in.event_mask = SmMask(); }},
    {"an event wakes its SM", DispatchMode::kLeftover,
     [](DispatchView* v) { v->in.event_mask.Clear(0); }},
    {"a settled SM is usable", DispatchMode::kPartitioned,
     [](DispatchView* v) { v->in.settled_mask.Clear(15); }},
    {"a plan ends with its kernel", DispatchMode::kEven,
     [](DispatchView* v) { v->in.member_expired = 0; }},
    {"a plan ends with a need", DispatchMode::kPartitioned,
     [](DispatchView* v) { v->in.need_changed = 0; }},
    {"a plan ends with an assignment", DispatchMode::kPartitioned,
     [](DispatchView* v) { v->assign.changed = SmMask(); }},
    {"no decision while SMs are assigned", DispatchMode::kLeftover,
     [](DispatchView* v) { v->in.assign_busy = false; }},
    {"a command waits for its SM", DispatchMode::kTable,
     [](DispatchView* v) { v->in.command_ready = SmMask::First(kMaxSms); }},
    {"nothing is decided of an SM on which a TB waits", DispatchMode::kOnDemand,
     [](DispatchView* v) { v->in.waiting = SmMask(); }},
    {"a TB that begins to wait voids a decision", DispatchMode::kOnDemand,
     [](DispatchView* v) { v->in.waits = SmMask(); }},
    {"left-over serves the oldest", DispatchMode::kLeftover,
     [](DispatchView* v) {
       for (auto& slot : v->kernels.slot) slot.order = static_cast<std::uint8_t>(3 - slot.order);
     }},
    {"a TB fits with all its resources", DispatchMode::kLeftover,
     [](DispatchView* v) {
       for (auto& slot : v->kernels.slot) slot.need.shared_memory = 0;
     }},
    {"TBs go in order", DispatchMode::kEven,
     [](DispatchView* v) { v->kernels.slot[2].next_tb ^= 1; }},
    {"a kernel with all TBs dispatched waits no more", DispatchMode::kEven,
     [](DispatchView* v) { ++v->kernels.slot[1].tb_count; }},
    {"a partition is what was planned", DispatchMode::kPartitioned,
     [](DispatchView* v) { ++v->planner.part[0].tbs; }},
    {"eviction is as configured", DispatchMode::kSpatial,
     [](DispatchView* v) { v->policy.preempt = PreemptMode::kDrain; }},
    {"only on demand others lose TBs", DispatchMode::kOnDemand,
     [](DispatchView* v) { v->policy.dispatch = DispatchMode::kLeftover; }},
    {"latency_scale", DispatchMode::kTable, [](DispatchView* v) { ++v->policy.latency_scale; }},
    {"an SM hosts whom it is assigned", DispatchMode::kSpatial,
     [](DispatchView* v) { v->assign.allowed[5] = 0xf; }},
};

template <typename Pair>
std::string MismatchOf(const BrokenRule& rule) {
  PolicyConfig policy = PolicyOf(rule.mode);
  policy.kernels_per_sm = 2;
  policy.linger_ticks = 1;
  policy.table = {1, 4, 2, 3};
  std::string mismatch;
  for (unsigned n = 0; n < 30 && mismatch.empty(); ++n) {
    Pair pair(policy, 512, GetTestOptions().seed + n);
    pair.distort = rule.bend;
    for (unsigned i = 0; i < 4000 && pair.lockstep().ok(); ++i) pair.Cycle();
    mismatch = pair.lockstep().mismatch();
  }
  return mismatch;
}

TEST(TbDispatchLockstep, FindsEachBrokenRule) {
  for (const BrokenRule& rule : kBroken) {
    EXPECT_THAT(MismatchOf<Gtx980>(rule), testing::HasSubstr("expected")) << rule.name;
  }
}

// The same of one SM of 80: on both sides of each word of a mask, and the last.
constexpr unsigned kSomeOfEighty[] = {16, 31, 32, 63, 64, 79};

TEST(TbDispatchLockstep, FindsEachBrokenRuleOnEachOfEightySms) {
  for (const unsigned sm : kSomeOfEighty) {
    const BrokenRule broken[] = {{"a settled SM is usable", DispatchMode::kPartitioned,
                                  [sm](DispatchView* v) { v->in.settled_mask.Clear(sm); }},
                                 {"a command waits for its SM", DispatchMode::kTable,
                                  [sm](DispatchView* v) { v->in.command_ready.Set(sm); }},
                                 {"an SM hosts whom it is assigned", DispatchMode::kSpatial,
                                  [sm](DispatchView* v) { v->assign.allowed[sm] = 0xf; }}};
    for (const BrokenRule& rule : broken) {
      EXPECT_THAT(MismatchOf<V100>(rule), testing::HasSubstr("expected"))
          << rule.name << " on SM " << sm;
    }
  }
}

// All 80 SMs are full, and TBs finish on one: more follow there, and only there.
TEST(TbDispatchLockstep, AnEventWakesItsSmOfEighty) {
  for (const unsigned sm : kSomeOfEighty) {
    for (const bool lose : {false, true}) {
      V100 pair(PolicyOf(DispatchMode::kLeftover), 512, 1);
      if (lose) pair.distort = [sm](DispatchView* v) { v->in.event_mask.Clear(sm); };
      Fill(&pair, 2, 2);
      ASSERT_TRUE(pair.lockstep().ok()) << pair.lockstep().mismatch();
      pair.machine().finishing = SmMask::Of(sm);
      pair.machine().SetRates(100, 0, 100);
      unsigned dispatches = 0;
      for (unsigned n = 0; n < 200; ++n) {
        const auto decision = pair.Cycle();
        if (!decision || decision->reason != DecisionReason::kDispatchNew) continue;
        EXPECT_EQ(Index(decision->sm), sm);
        ++dispatches;
      }
      EXPECT_EQ(dispatches != 0, !lose) << sm;
      EXPECT_EQ(pair.lockstep().ok(), !lose) << sm << ": " << pair.lockstep().mismatch();
    }
  }
}

}  // namespace
}  // namespace smk
