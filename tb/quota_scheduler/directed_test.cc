// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "control/sm/quota_scheduler.h"

namespace smk {
namespace {

using Quotas = std::array<std::uint16_t, kMaxKernels>;

// A scheduler and its wires, one call per cycle.
struct Bench {
  QuotaScheduler scheduler;
  Quotas quota{};
  QuotaScheduler::Inputs wires;  // held from cycle to cycle

  Bench() { wires.quota = &quota; }
  QuotaScheduler::Outputs Step(std::uint16_t ready, bool tick = false) {
    QuotaScheduler::Inputs in = wires;
    in.ready = ready;
    in.tick = tick;
    const QuotaScheduler::Outputs out = scheduler.Eval(in);
    scheduler.Tick(in, out);
    return out;
  }
  // The granted warp, -1 without a grant.
  int Grant(std::uint16_t ready) {
    const QuotaScheduler::Outputs out = Step(ready);
    return out.grant_valid ? out.grant_warp : -1;
  }
  void Start(unsigned warp, unsigned kernel = 0) {
    QuotaScheduler::Inputs in = wires;
    in.start_valid = true;
    in.start_warp = static_cast<std::uint8_t>(warp);
    in.start_kernel = static_cast<KernelId>(kernel);
    scheduler.Tick(in, {});
  }
  void Leave(std::uint16_t warps) {
    QuotaScheduler::Inputs in = wires;
    in.leave = warps;
    scheduler.Tick(in, {});
  }
  // Quotas come into force.
  void Gate(const Quotas& quotas) {
    quota = quotas;
    wires.gated = true;
    QuotaScheduler::Inputs in = wires;
    in.load = true;
    scheduler.Tick(in, {});
  }
  const Quotas& left() const { return scheduler.state().left; }
};

TEST(QuotaSchedulerTest, GrantsInTheCycleInWhichAWarpIsReady) {
  Bench bench;
  bench.Start(5);
  EXPECT_EQ(bench.Grant(0), -1);
  EXPECT_EQ(bench.Grant(1 << 5), 5);
  EXPECT_EQ(bench.Grant(0), -1);
}

TEST(QuotaSchedulerTest, StaysGreedilyWithTheWarpGrantedLast) {
  Bench bench;
  for (unsigned w : {3, 1, 2}) bench.Start(w);
  EXPECT_EQ(bench.Grant(1 << 2), 2);
  EXPECT_EQ(bench.Grant(1 << 1 | 1 << 2 | 1 << 3), 2);
}

TEST(QuotaSchedulerTest, FallsBackToTheOldestReadyWarp) {
  Bench bench;
  for (unsigned w : {3, 1, 2}) bench.Start(w);
  EXPECT_EQ(bench.Grant(1 << 2), 2);
  EXPECT_EQ(bench.Grant(1 << 1 | 1 << 3), 3);
  EXPECT_EQ(bench.Grant(1 << 1 | 1 << 2), 1);
}

TEST(QuotaSchedulerTest, AWarpThatStartsAgainIsTheYoungest) {
  Bench bench;
  for (unsigned w : {0, 1, 2}) bench.Start(w);
  EXPECT_EQ(bench.Grant(1 << 0), 0);
  bench.Leave(1 << 0);
  bench.Start(0);
  EXPECT_EQ(bench.Grant(0b111), 1) << "the slot's new warp is not the one granted last";
}

TEST(QuotaSchedulerTest, GoesRoundLoosely) {
  Bench bench;
  bench.wires.policy = WarpPolicy::kLrr;
  for (unsigned w : {9, 4, 15}) bench.Start(w);
  const std::uint16_t all = 1 << 9 | 1 << 4 | 1 << 15;
  EXPECT_EQ(bench.Grant(all), 4);
  EXPECT_EQ(bench.Grant(all), 9);
  EXPECT_EQ(bench.Grant(all), 15);
  EXPECT_EQ(bench.Grant(all), 4);
  EXPECT_EQ(bench.Grant(1 << 15 | 1 << 4), 15) << "9 is skipped, not waited for";
}

TEST(QuotaSchedulerTest, GrantsNoWarpOfAStoppedTb) {
  Bench bench;
  for (unsigned w : {0, 1}) bench.Start(w);
  bench.wires.stop = 1 << 0;
  EXPECT_EQ(bench.Grant(0b11), 1);
  bench.wires.stop = 0b11;
  EXPECT_EQ(bench.Grant(0b11), -1);
}

TEST(QuotaSchedulerTest, GrantsNoSlotWithoutAWarp) {
  Bench bench;
  bench.Start(1);
  EXPECT_EQ(bench.Grant(0b101), -1);
}

TEST(QuotaSchedulerTest, WithoutQuotasNothingIsCounted) {
  Bench bench;
  bench.Start(0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bench.Grant(1), 0);
  EXPECT_EQ(bench.left(), Quotas{});
}

TEST(QuotaSchedulerTest, AGrantTakesOneFromItsKernelsQuota) {
  Bench bench;
  bench.Start(0, 1);
  bench.Start(1, 2);
  bench.Gate({0, 5, 7, 0});
  bench.Grant(0b01);
  EXPECT_EQ(bench.left(), (Quotas{0, 4, 7, 0}));
  bench.Grant(0b10);
  EXPECT_EQ(bench.left(), (Quotas{0, 4, 6, 0}));
}

TEST(QuotaSchedulerTest, AKernelWithoutQuotaWaitsForTheOther) {
  Bench bench;
  bench.Start(0, 0);
  bench.Start(1, 1);
  bench.Gate({2, 3, 0, 0});
  EXPECT_EQ(bench.Grant(0b11), 0);
  EXPECT_EQ(bench.Grant(0b11), 0);
  EXPECT_EQ(bench.Grant(0b01), -1) << "spent, although nobody else is ready";
  EXPECT_EQ(bench.Grant(0b11), 1);
  EXPECT_EQ(bench.Grant(0b11), 1);
  EXPECT_EQ(bench.left(), (Quotas{0, 1, 0, 0})) << "not reloaded with 1 left";
  EXPECT_EQ(bench.Grant(0b11), 1);
  EXPECT_EQ(bench.left(), (Quotas{2, 3, 0, 0})) << "reloaded with the last grant";
  EXPECT_EQ(bench.Grant(0b11), 1) << "no cycle is lost";
}

TEST(QuotaSchedulerTest, TheReloadTakesTheQuotasOfNow) {
  Bench bench;
  bench.Start(0, 0);
  bench.Gate({2, 0, 0, 0});
  bench.quota = {9, 0, 0, 0};
  bench.Grant(1);
  EXPECT_EQ(bench.left()[0], 1) << "not before the reload";
  bench.Grant(1);
  EXPECT_EQ(bench.left()[0], 9);
}

TEST(QuotaSchedulerTest, AKernelWithoutWarpsDoesNotBlockAReload) {
  Bench bench;
  bench.Start(0, 0);
  bench.Start(1, 1);
  bench.Gate({1, 100, 0, 0});
  bench.Grant(0b01);
  EXPECT_EQ(bench.left()[0], 0);
  bench.Leave(0b10);
  EXPECT_EQ(bench.left(), (Quotas{1, 100, 0, 0}));
}

TEST(QuotaSchedulerTest, AKernelWhoseWarpsAreStoppedDoesNotBlockAReload) {
  Bench bench;
  bench.Start(0, 0);
  bench.Start(1, 1);
  bench.Gate({1, 100, 0, 0});
  bench.wires.stop = 0b10;
  bench.Grant(0b01);
  EXPECT_EQ(bench.left()[0], 1);
}

TEST(QuotaSchedulerTest, AKernelWhoseWarpsAreNotReadyBlocksAReload) {
  Bench bench;
  bench.Start(0, 0);
  bench.Start(1, 1);
  bench.Gate({1, 100, 0, 0});
  for (int i = 0; i < 50; ++i) bench.Grant(0b01);
  EXPECT_EQ(bench.left(), (Quotas{0, 100, 0, 0}));
}

TEST(QuotaSchedulerTest, LoadTakesNewQuotasAtOnce) {
  Bench bench;
  bench.Start(0, 0);
  bench.Gate({5, 0, 0, 0});
  bench.Grant(1);
  bench.Gate({8, 0, 0, 0});
  EXPECT_EQ(bench.left()[0], 8);
}

// [D6]
TEST(QuotaSchedulerTest, ReloadsAtTheTickAfterAWindowWithoutAGrant) {
  Bench bench;
  bench.Start(0, 0);
  bench.Start(1, 1);
  bench.Gate({1, 100, 0, 0});
  bench.Step(0b01);
  bench.Step(0b01, true);  // this window had a grant
  EXPECT_EQ(bench.left()[0], 0) << "a window with a grant";
  bench.Step(0b01);
  EXPECT_EQ(bench.left()[0], 0) << "not between ticks";
  bench.Step(0, true);
  EXPECT_EQ(bench.left(), (Quotas{1, 100, 0, 0}));
}

TEST(QuotaSchedulerTest, ATickAfterAQuietWindowReloadsNothing) {
  Bench bench;
  bench.Start(0, 0);
  bench.Start(1, 1);
  bench.Gate({1, 100, 0, 0});
  bench.Step(0b01);
  for (int window = 0; window < 3; ++window) {
    bench.Step(0, true);
    EXPECT_EQ(bench.left()[0], 0) << "no warp was ready";
  }
}

// Warps in a list, oldest first; quotas as the paper's words say.
class Oracle {
 public:
  struct Warp {
    unsigned slot, kernel;
  };

  std::optional<unsigned> Grant(const QuotaScheduler::Inputs& in) const {
    std::vector<unsigned> may;
    for (const Warp& w : warps_) {
      const bool quota = !in.gated || left_[w.kernel] != 0;
      if ((in.ready >> w.slot & 1) != 0 && (in.stop >> w.slot & 1) == 0 && quota) {
        may.push_back(w.slot);
      }
    }
    if (may.empty()) return std::nullopt;
    if (in.policy == WarpPolicy::kGto) {
      const bool greedy = last_ && std::find(may.begin(), may.end(), *last_) != may.end();
      return greedy ? *last_ : may.front();
    }
    std::sort(may.begin(), may.end());
    for (const unsigned slot : may) {
      if (last_ && slot > *last_) return slot;
    }
    return may.front();
  }

  void Tick(const QuotaScheduler::Inputs& in, std::optional<unsigned> grant) {
    if (grant) {
      last_ = grant;
      granted_ = true;
      if (in.gated) --left_[KernelOf(*grant)];
    } else if (in.ready != 0) {
      blocked_ = true;
    }
    const auto gone = [&](const Warp& w) { return (in.leave >> w.slot & 1) != 0; };
    warps_.erase(std::remove_if(warps_.begin(), warps_.end(), gone), warps_.end());
    if (last_ && (in.leave >> *last_ & 1) != 0) last_.reset();
    if (in.start_valid) warps_.push_back({in.start_warp, Index(in.start_kernel)});
    bool spent = true;
    for (const Warp& w : warps_) {
      if ((in.stop >> w.slot & 1) == 0 && left_[w.kernel] != 0) spent = false;
    }
    const bool stuck = in.tick && blocked_ && !granted_;
    const bool timed = in.tick && in.epoch_end == EpochEnd::kTick;
    if (in.gated && (spent || stuck || timed || in.load)) left_ = *in.quota;
    if (in.tick) granted_ = blocked_ = false;
  }
  const std::array<std::uint16_t, kMaxKernels>& left() const { return left_; }
  const std::vector<Warp>& warps() const { return warps_; }
  unsigned KernelOf(unsigned slot) const {
    return std::find_if(warps_.begin(), warps_.end(), [&](const Warp& w) { return w.slot == slot; })
        ->kernel;
  }

 private:
  std::vector<Warp> warps_;
  std::array<std::uint16_t, kMaxKernels> left_{};
  std::optional<unsigned> last_;
  bool granted_ = false, blocked_ = false;
};

QuotaScheduler::Inputs RandomInputs(std::mt19937* random, const Oracle& oracle, unsigned style) {
  const auto chance = [&](unsigned n) { return (*random)() % n == 0; };
  QuotaScheduler::Inputs in;
  in.policy = style & 1 ? WarpPolicy::kLrr : WarpPolicy::kGto;
  in.epoch_end = style & 2 ? EpochEnd::kTick : EpochEnd::kSpent;
  in.ready = static_cast<std::uint16_t>((*random)() & (style & 2 ? (*random)() : ~0u));
  in.stop = static_cast<std::uint16_t>(chance(8) ? (*random)() & (*random)() : 0);
  std::uint16_t free = 0xffff;
  for (const Oracle::Warp& w : oracle.warps()) {
    free &= static_cast<std::uint16_t>(~(1u << w.slot));
    if (chance(100)) in.leave |= static_cast<std::uint16_t>(1u << w.slot);
  }
  if (free != 0 && chance(10)) {
    in.start_valid = true;
    do in.start_warp = static_cast<std::uint8_t>((*random)() % 16);
    while ((free >> in.start_warp & 1) == 0);
    in.start_kernel = static_cast<KernelId>((*random)() % kNumKernels);
  }
  in.tick = chance(30);
  return in;
}

TEST(QuotaSchedulerTest, EqualsAListOfWarpsUnderRandomInputs) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (unsigned style = 0; style < 8; ++style) {
    QuotaScheduler scheduler;
    Oracle oracle;
    Quotas quota{};
    bool gated = false;
    for (int cycle = 0; cycle < 20000; ++cycle) {
      QuotaScheduler::Inputs in = RandomInputs(&random, oracle, style);
      in.quota = &quota;
      if (random() % 50 == 0) quota[random() % 4] = static_cast<std::uint16_t>(random() % 20);
      if (style & 4 && random() % 200 == 0) gated = !gated;
      in.gated = gated;
      in.load = gated && random() % 100 == 0;
      const QuotaScheduler::Outputs out = scheduler.Eval(in);
      const auto want = oracle.Grant(in);
      ASSERT_EQ(out.grant_valid, want.has_value()) << "cycle " << cycle;
      if (want) {
        ASSERT_EQ(out.grant_warp, *want) << "cycle " << cycle;
        ASSERT_EQ(out.grant_kernel, oracle.KernelOf(*want));
      }
      oracle.Tick(in, want);
      scheduler.Tick(in, out);
      ASSERT_EQ(scheduler.state().left, oracle.left()) << "cycle " << cycle;
    }
  }
}

TEST(QuotaSchedulerTest, WhatIsGrantedBetweenReloadsIsTheQuota) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  Bench bench;
  for (unsigned w = 0; w < 16; ++w) bench.Start(w, w % 3);
  bench.Gate({17, 5, 31, 0});
  std::array<unsigned, kNumKernels> granted{};
  int reloads = 0;
  for (int cycle = 0; cycle < 20000; ++cycle) {
    const QuotaScheduler::Outputs out = bench.Step(static_cast<std::uint16_t>(random()));
    if (out.grant_valid) ++granted[out.grant_kernel];
    if (bench.left() != bench.quota || granted == std::array<unsigned, 4>{}) continue;
    EXPECT_EQ(granted, (std::array<unsigned, 4>{17, 5, 31, 0}));
    granted.fill(0);
    ++reloads;
  }
  EXPECT_GT(reloads, 100);
}

}  // namespace
}  // namespace smk
