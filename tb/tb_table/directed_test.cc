// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "control/sm/tb_table.h"

namespace smk {
namespace {

constexpr TbTable::Config kGtx980{4, 64, 32};

// A table and its wires, one call per cycle.
class Bench {
 public:
  explicit Bench(const TbTable::Config& config = kGtx980) : table_(config) {}

  TbTable::Outputs Step(TbTable::Inputs in) {
    in.allowed_warps = warps_allowed;
    in.launch_warps = launch_warps;
    in.launch_base = launch_base;
    in.allowed_slots = slots_allowed;
    const TbTable::Outputs out = table_.Eval(in);
    table_.Tick(in, out);
    return out;
  }
  TbTable::Outputs Dispatch(unsigned tb, unsigned warps, bool restore = false) {
    launch_warps = static_cast<std::uint8_t>(warps);
    TbTable::Inputs in;
    in.dispatch_valid = true;
    in.dispatch.tb = static_cast<TbId>(tb);
    in.dispatch.kernel = KernelId{2};
    in.dispatch.restore = restore;
    in.dispatch.buffer = static_cast<std::uint16_t>(tb + 100);
    return Step(in);
  }
  // Dispatches, until the first warp can start.
  void Launch(unsigned tb, unsigned warps, bool restore = false) {
    Dispatch(tb, warps, restore);
    for (int i = 0; i < 5; ++i) Step({});
  }
  // Dispatches and places all warps.
  void Place(unsigned tb, unsigned warps) {
    Dispatch(tb, warps);
    while (launching()) Step({});
  }
  void Finish(std::uint32_t slots) {
    TbTable::Inputs in;
    in.finished = slots;
    Step(in);
  }
  void Release(unsigned slot) {
    TbTable::Inputs in;
    in.release_valid = true;
    in.release_slot = static_cast<TbSlot>(slot);
    Step(in);
  }
  const TbTable::State& state() const { return table_.state(); }
  bool launching() const { return table_.launching(); }

  std::uint32_t slots_allowed = ~0u;
  std::uint64_t warps_allowed = ~std::uint64_t{0};
  std::uint8_t launch_warps = 0;
  TbBase launch_base{};

 private:
  TbTable table_;
};

TEST(TbTableTest, ATbWithoutAPlaceHasNoSlotUntilThereIsOne) {
  Bench bench;
  bench.Dispatch(7, 2);
  TbTable::Inputs in;
  in.found = false;
  for (int cycle = 0; cycle < 20; ++cycle) bench.Step(in);
  EXPECT_TRUE(bench.launching());
  EXPECT_EQ(bench.state().valid, 0u);
  bench.Step({});
  EXPECT_EQ(bench.state().valid, 1u) << "later than the contract";
  for (int cycle = 0; cycle < 3; ++cycle) {
    EXPECT_FALSE(bench.Step({}).warp_start.valid) << "earlier than the contract";
  }
  EXPECT_TRUE(bench.Step({}).warp_start.valid) << "four cycles after the place";
}

TEST(TbTableTest, TheFirstWarpComesSixCyclesAfterTheDispatchAndTheSlotAfterTwo) {
  Bench bench;
  EXPECT_FALSE(bench.Dispatch(7, 2).warp_start.valid);
  for (int cycle = 1; cycle < 6; ++cycle) {
    EXPECT_EQ(bench.state().valid, cycle > 2 ? 1u : 0u) << cycle;
    EXPECT_FALSE(bench.Step({}).warp_start.valid) << "earlier than the contract: " << cycle;
  }
  const WarpStart start = bench.Step({}).warp_start;
  EXPECT_TRUE(start.valid);
  EXPECT_EQ(start.warp_in_tb, 0);
  EXPECT_EQ(start.tb, TbId{7});
  EXPECT_EQ(start.kernel, KernelId{2});
  EXPECT_FALSE(start.restore);
}

TEST(TbTableTest, ATbOfNWarpsIsActivatedWithTheNth) {
  for (unsigned warps : {1u, 2u, 7u, 64u}) {
    Bench bench;
    bench.Launch(0, warps);
    for (unsigned w = 0; w + 1 < warps; ++w) {
      const TbTable::Outputs out = bench.Step({});
      EXPECT_EQ(Index(out.warp_start.warp), w);
      EXPECT_EQ(out.activate, 0u) << "earlier than the contract";
      EXPECT_TRUE(bench.launching());
    }
    EXPECT_EQ(bench.Step({}).activate, 1u) << "later than the contract";
    EXPECT_FALSE(bench.launching());
    EXPECT_EQ(bench.state().running, 1u);
    EXPECT_FALSE(bench.Step({}).warp_start.valid);
  }
}

TEST(TbTableTest, EveryWarpSaysWhereItsTbBegins) {
  Bench bench;
  bench.launch_base = {24, 7};
  bench.Launch(0, 3);
  for (unsigned w = 0; w < 3; ++w) {
    const WarpStart start = bench.Step({}).warp_start;
    EXPECT_EQ(start.base.registers, 24u);
    EXPECT_EQ(start.base.shared_memory, 7u);
  }
}

TEST(TbTableTest, TakesTheLowestFreeSlotAndWarps) {
  Bench bench;
  for (unsigned tb = 0; tb < 4; ++tb) bench.Place(tb, 4);
  EXPECT_EQ(bench.state().valid, 0b1111u);
  bench.Finish(0b0110);
  EXPECT_EQ(bench.state().valid, 0b1001u);
  EXPECT_EQ(bench.state().warp_valid, 0xf00fu);
  bench.Place(9, 6);
  EXPECT_EQ(bench.state().tb[1], TbId{9});
  EXPECT_EQ(bench.state().warps[1], 0x03f0u);
}

TEST(TbTableTest, StaysInsideWhatTheKernelMayUse) {
  Bench bench;
  bench.slots_allowed = 0b11000;
  bench.warps_allowed = 0xff0000;
  bench.Place(0, 8);
  EXPECT_EQ(bench.state().valid, 0b01000u);
  EXPECT_EQ(bench.state().warps[3], 0xff0000u);
}

TEST(TbTableTest, ARestoredTbIsLoadedFirstAndActivatedAfterwards) {
  Bench bench;
  bench.Launch(3, 2, true);
  EXPECT_TRUE(bench.Step({}).warp_start.restore);
  const TbTable::Outputs last = bench.Step({});
  EXPECT_EQ(last.load, 1u);
  EXPECT_EQ(last.activate, 0u);
  EXPECT_EQ(bench.state().running, 0u);
  EXPECT_EQ(bench.state().buffer[0], 103);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(bench.Step({}).activate, 0u);
  TbTable::Inputs in;
  in.loaded_valid = true;
  in.loaded_slot = TbSlot{0};
  EXPECT_EQ(bench.Step(in).activate, 1u);
  EXPECT_EQ(bench.state().running, 1u);
}

TEST(TbTableTest, AFinishedTbFreesSlotAndWarpsOnTheNextEdge) {
  Bench bench;
  bench.Place(0, 3);
  TbTable::Inputs in;
  in.finished = 1;
  bench.Step(in);
  EXPECT_EQ(bench.state().valid, 0u);
  EXPECT_EQ(bench.state().running, 0u);
  EXPECT_EQ(bench.state().warp_valid, 0u);
}

TEST(TbTableTest, AReleasedTbFreesSlotAndWarps) {
  Bench bench;
  bench.Place(0, 3);
  bench.Place(1, 5);
  bench.Release(0);
  EXPECT_EQ(bench.state().valid, 0b10u);
  EXPECT_EQ(bench.state().warp_valid, 0xf8u);
}

TEST(TbTableTest, ALaunchGoesOnWhileOthersFinish) {
  Bench bench;
  bench.Place(0, 4);
  bench.Launch(1, 4);
  bench.Step({});
  bench.Finish(1);  // the second warp is placed in this cycle
  EXPECT_EQ(bench.state().warps[1], 0x30u);
  EXPECT_EQ(bench.Step({}).warp_start.warp, WarpId{0}) << "the lowest that is free now";
}

TEST(TbTableTest, WarpSlotsAreSpreadOverTheSchedulers) {
  const TbTable table(kGtx980);
  EXPECT_EQ(table.SchedulerWarps(0b11110000, 0), 0b10);
  EXPECT_EQ(table.SchedulerWarps(std::uint64_t{1} << 63, 3), 1 << 15);
  EXPECT_EQ(table.SchedulerWarps(std::uint64_t{1} << 63, 2), 0);
  for (unsigned w = 0; w < 64; ++w) {
    for (unsigned s = 0; s < 4; ++s) {
      EXPECT_EQ(table.SchedulerWarps(std::uint64_t{1} << w, s), s == w % 4 ? 1 << w / 4 : 0);
    }
  }
}

TEST(TbTableTest, NothingChangesWithoutAnInput) {
  Bench bench;
  bench.Place(0, 3);
  bench.Step({});
  const TbTable::State before = bench.state();
  const TbTable::Outputs out = bench.Step({});
  EXPECT_FALSE(out.warp_start.valid);
  EXPECT_EQ(out.activate | out.load, 0u);
  EXPECT_EQ(bench.state().valid, before.valid);
  EXPECT_EQ(bench.state().warp_valid, before.warp_valid);
  EXPECT_EQ(bench.state().running, before.running);
}

// TBs as sets of warps.
struct Oracle {
  std::map<unsigned, std::set<unsigned>> tbs;  // slot: warps

  unsigned LowestSlot() const {
    unsigned slot = 0;
    while (tbs.count(slot) != 0) ++slot;
    return slot;
  }
  unsigned LowestWarp() const {
    std::set<unsigned> used;
    for (const auto& [slot, warps] : tbs) used.insert(warps.begin(), warps.end());
    unsigned warp = 0;
    while (used.count(warp) != 0) ++warp;
    return warp;
  }
  unsigned used() const {
    unsigned n = 0;
    for (const auto& [slot, warps] : tbs) n += static_cast<unsigned>(warps.size());
    return n;
  }
};

class RandomBench {
 public:
  RandomBench(const TbTable::Config& config, unsigned seed)
      : config_(config), bench_(config), random_(seed) {}

  void Cycle() {
    TbTable::Inputs in;
    std::set<unsigned> running;
    for (const auto& [slot, warps] : oracle_.tbs) {
      if (static_cast<int>(slot) != launching_) running.insert(slot);
    }
    for (const unsigned slot : running) {
      if (random_() % 40 == 0) in.finished |= 1u << slot;
    }
    const bool room = oracle_.tbs.size() < config_.num_slots && oracle_.used() < config_.num_warps;
    const TbTable::Step step = bench_.state().step;
    if (step == TbTable::Step::kNone && room && random_() % 3 == 0) {
      in.dispatch_valid = true;
      const unsigned left = config_.num_warps - oracle_.used();
      next_warps_ = 1 + static_cast<unsigned>(random_()) % std::min(left, 8u);
    }
    const WarpStart start = bench_.Step(in).warp_start;
    ASSERT_EQ(start.valid, step == TbTable::Step::kStart);
    if (start.valid) {
      ASSERT_EQ(Index(start.warp), oracle_.LowestWarp());
      ASSERT_EQ(Index(start.tb_slot), static_cast<unsigned>(launching_));
      auto& warps = oracle_.tbs[Index(start.tb_slot)];
      ASSERT_EQ(start.warp_in_tb, warps.size());
      warps.insert(Index(start.warp));
      if (warps.size() == bench_.launch_warps) launching_ = -1;
    }
    Apply(in, step == TbTable::Step::kChoose);
    ASSERT_EQ(static_cast<std::size_t>(__builtin_popcount(bench_.state().valid)),
              oracle_.tbs.size());
    ASSERT_EQ(static_cast<unsigned>(__builtin_popcountll(bench_.state().warp_valid)),
              oracle_.used());
  }

 private:
  // The slot is chosen among those that are free before this cycle.
  void Apply(const TbTable::Inputs& in, bool choose) {
    const unsigned lowest = oracle_.LowestSlot();
    for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
      if (in.finished >> slot & 1) oracle_.tbs.erase(slot);
    }
    if (in.dispatch_valid) bench_.launch_warps = static_cast<std::uint8_t>(next_warps_);
    if (!choose) return;
    launching_ = static_cast<int>(lowest);
    oracle_.tbs[lowest];
  }

  TbTable::Config config_;
  Bench bench_;
  Oracle oracle_;
  std::mt19937 random_;
  int launching_ = -1;
  unsigned next_warps_ = 0;
};

TEST(TbTableTest, EqualsSetsOfWarpsUnderRandomArrivalsAndEnds) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (const TbTable::Config& config : {kGtx980, TbTable::Config{4, 48, 8}, {1, 5, 3}}) {
    RandomBench bench(config, seed);
    for (int i = 0; i < 20000; ++i) {
      ASSERT_NO_FATAL_FAILURE(bench.Cycle()) << "cycle " << i;
    }
  }
}

}  // namespace
}  // namespace smk
