// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "bench.h"

namespace smk {
namespace {

using Bench = TbPlacesBench<TbPlacesAlone>;

std::pair<unsigned, unsigned> At(const Bench& bench, unsigned slot) {
  return {bench.base[slot].registers, bench.base[slot].shared_memory};
}

TEST(TbPlacesTest, TbsLieBehindEachOther) {
  Bench bench;
  bench.Need(0, 32, 0);
  bench.Need(1, 16, 100);
  EXPECT_EQ(At(bench, bench.Place(0)), std::pair(0u, 0u));
  EXPECT_EQ(At(bench, bench.Place(1)), std::pair(32u, 0u));
  EXPECT_EQ(At(bench, bench.Place(0)), std::pair(48u, 0u)) << "no shared memory: at the bottom";
  EXPECT_EQ(At(bench, bench.Place(1)), std::pair(80u, 100u));
  EXPECT_EQ(bench.waited, 0u) << "each was found at once";
}

TEST(TbPlacesTest, AWaveOntoAnEmptySmNeedsNoWalk) {
  Bench bench;
  bench.Need(0, 8, 12);
  for (unsigned tb = 0; tb < 32; ++tb) {
    EXPECT_EQ(At(bench, bench.Place(0)), std::pair(8 * tb, 12 * tb));
    EXPECT_EQ(bench.waited, 0u) << tb;
  }
}

TEST(TbPlacesTest, APlaceGoesToTheNextTbOfItsKernelAtOnce) {
  Bench bench;
  bench.Need(0, 64, 0);
  for (int tb = 0; tb < 4; ++tb) bench.Place(0);
  bench.Leave(0b0110);
  EXPECT_EQ(At(bench, bench.Place(0)), std::pair(64u, 0u));
  EXPECT_EQ(At(bench, bench.Place(0)), std::pair(128u, 0u));
  EXPECT_EQ(bench.waited, 0u);
}

TEST(TbPlacesTest, ASlotThatIsNotYetReportedIsNotTaken) {
  Bench bench;
  bench.Need(0, 64, 0);
  for (int tb = 0; tb < 4; ++tb) bench.Place(0);
  bench.Leave(0b0110);
  bench.pending = 0b0010;
  EXPECT_EQ(bench.Place(0), 2u);
  bench.pending = 0;
}

// The places of kernel 0 are its own while it has TBs; a TB of kernel 1 fits beside them only after
// it has looked for a gap.
TEST(TbPlacesTest, ATbTakesTheFirstGapOfEachMemory) {
  Bench bench;
  bench.Need(0, 64, 96);
  bench.Need(1, 40, 50);
  for (int tb = 0; tb < 4; ++tb) bench.Place(0);
  bench.Leave(0b0100);
  const unsigned slot = bench.Place(1);
  EXPECT_EQ(At(bench, slot), std::pair(128u, 192u));
  EXPECT_GT(bench.waited, 32u);
  bench.Leave(0b0001);
  const unsigned other = bench.Place(1);
  EXPECT_EQ(At(bench, other), std::pair(0u, 0u));
}

TEST(TbPlacesTest, GapsOfTheTwoMemoriesNeedNotBeOfOneTb) {
  Bench bench;
  bench.Need(0, 100, 10);
  bench.Need(1, 10, 180);
  bench.Need(2, 90, 150);
  bench.Place(0);
  bench.Place(1);
  bench.Place(0);
  bench.Place(1);
  bench.Leave(0b0010 | 0b0100);
  EXPECT_EQ(At(bench, bench.Place(2)), std::pair(100u, 10u));
}

TEST(TbPlacesTest, WithoutAGapATbWaitsUntilAnotherLeaves) {
  Bench bench;
  bench.Need(0, 64, 0);
  bench.Need(1, 128, 0);
  for (int tb = 0; tb < 4; ++tb) bench.Place(0);
  bench.Leave(0b0101);
  bench.Begin(1);
  EXPECT_FALSE(bench.Finish(1000)) << "128 units are free, but not side by side";
  EXPECT_TRUE(bench.control.places.state().waiting);
  bench.Leave(0b1000);
  const auto slot = bench.Finish();
  ASSERT_TRUE(slot);
  EXPECT_EQ(At(bench, *slot), std::pair(128u, 0u));
  EXPECT_FALSE(bench.control.places.state().waiting);
}

TEST(TbPlacesTest, ThatATbWaitsIsSaidOnce) {
  Bench bench;
  bench.Need(0, 64, 0);
  bench.Need(1, 200, 0);
  for (int tb = 0; tb < 4; ++tb) bench.Place(0);
  bench.Begin(1);
  unsigned said = 0;
  for (unsigned cycle = 0; cycle < 2000; ++cycle) {
    bench.Step(cycle % 300 == 299 && bench.valid != 0 ? bench.valid & -bench.valid : 0);
    said += bench.control.places.state().waits ? 1 : 0;
  }
  EXPECT_EQ(said, 1u);
  EXPECT_FALSE(bench.launching());
}

// A TB that leaves while the walk is under way may have been passed already.
TEST(TbPlacesTest, ATbThatLeavesDuringTheWalkIsSeen) {
  for (unsigned when = 1; when < 200; ++when) {
    Bench bench;
    bench.Need(0, 64, 0);
    bench.Need(1, 128, 0);
    for (int tb = 0; tb < 4; ++tb) bench.Place(0);
    bench.Begin(1);
    for (unsigned cycle = 0; cycle < when; ++cycle) bench.Step();
    bench.Step(0b0011);
    const auto slot = bench.Finish(1000);
    ASSERT_TRUE(slot) << when;
    EXPECT_EQ(At(bench, *slot), std::pair(0u, 0u)) << when;
  }
}

TEST(TbPlacesTest, WhenAllHaveGoneItIsPlacedWithinAWalk) {
  Bench bench;
  bench.Need(0, 64, 96);
  bench.Need(1, 256, 384);
  for (int tb = 0; tb < 4; ++tb) bench.Place(0);
  bench.Begin(1);
  bench.Finish(1000);
  bench.Step(0b1111);
  unsigned cycles = 0;
  while (!bench.has_slot()) {
    bench.Step();
    ++cycles;
  }
  EXPECT_EQ(cycles, 32u + 5);
  EXPECT_EQ(At(bench, *bench.Finish()), std::pair(0u, 0u));
}

TEST(TbPlacesTest, APlaceIsKeptNoLongerThanItsKernelIsThere) {
  Bench bench;
  bench.Need(0, 100, 0);
  bench.Need(1, 10, 0);
  bench.Place(1);
  bench.Place(0);
  bench.Leave(0b0010);
  bench.Need(0, 200, 0);
  EXPECT_EQ(At(bench, bench.Place(0)), std::pair(10u, 0u)) << "after a walk: of another size";
  EXPECT_GT(bench.waited, 32u);
}

TEST(TbPlacesTest, AnEmptySmIsFilledFromTheBottom) {
  Bench bench;
  bench.Need(0, 100, 0);
  bench.Place(0);
  bench.Place(0);
  bench.Leave(0b11);
  bench.Need(0, 60, 0);
  EXPECT_EQ(At(bench, bench.Place(0)), std::pair(0u, 0u));
  EXPECT_EQ(bench.waited, 0u);
}

TEST(TbPlacesTest, WithPartitionsNothingIsRemembered) {
  Bench bench;
  bench.partitioned = true;
  bench.Need(0, 100, 0);
  bench.Place(0);
  EXPECT_EQ(bench.control.places.state().registers.top, 0u);
  EXPECT_EQ(bench.control.places.state().kept, 0u);
}

TEST(TbPlacesTest, TheLastUnitOfTheSmCanBeOwned) {
  Bench bench;
  bench.Need(0, 255, 383);
  bench.Need(1, 1, 1);
  bench.Place(0);
  EXPECT_EQ(At(bench, bench.Place(1)), std::pair(255u, 383u));
}

// Against a list of intervals: random TBs that come and go.
class Check {
 public:
  explicit Check(std::uint64_t seed) : dice_(seed) { Renew(~0u); }

  void Run(unsigned launches) {
    for (unsigned n = 0; n < launches && !testing::Test::HasFailure(); ++n) Launch();
  }
  unsigned waits() const { return waits_; }
  unsigned walks() const { return walks_; }

 private:
  unsigned Below(unsigned n) { return static_cast<unsigned>(dice_() % n); }
  // Kernels that are not there may need something else.
  void Renew(unsigned kernels) {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if ((kernels >> k & 1) == 0) continue;
      const unsigned part = 1 + Below(12);
      const unsigned registers = Below(256 / part + 1);
      bench_.Need(k, registers, Below(384 / part + 1));
    }
  }
  bool Fits(unsigned kernel) const {
    unsigned registers = 0, shared_memory = 0;
    for (unsigned slot = 0; slot < 32; ++slot) {
      if ((bench_.valid >> slot & 1) == 0) continue;
      registers += Need(slot).registers;
      shared_memory += Need(slot).shared_memory;
    }
    const ResourceVector& need = bench_.views[kernel].need;
    return registers + need.registers <= 256 && shared_memory + need.shared_memory <= 384 &&
           bench_.valid != ~0u;
  }
  const ResourceVector& Need(unsigned slot) const {
    return bench_.views[Index(bench_.slot_kernel[slot])].need;
  }
  // The first gap of one memory for so much; above the limit without one.
  template <typename Base, typename Amount>
  unsigned FirstGap(unsigned amount, Base base, Amount of) const {
    std::vector<std::pair<unsigned, unsigned>> taken;
    for (unsigned slot = 0; slot < 32; ++slot) {
      if ((bench_.valid >> slot & 1) != 0 && Need(slot).*of != 0) {
        taken.emplace_back(bench_.base[slot].*base, Need(slot).*of);
      }
    }
    std::sort(taken.begin(), taken.end());
    unsigned at = 0;
    for (const auto& [begin, length] : taken) {
      if (begin >= at + amount) break;
      at = begin + length;
    }
    return at;
  }
  void LeaveSome() {
    const std::uint32_t gone =
        bench_.valid & static_cast<std::uint32_t>(dice_()) & static_cast<std::uint32_t>(dice_());
    if (gone != 0) bench_.Leave(gone);
    unsigned there = 0;
    for (unsigned slot = 0; slot < 32; ++slot) {
      if ((bench_.valid >> slot & 1) != 0) there |= 1u << Index(bench_.slot_kernel[slot]);
    }
    if (Below(8) == 0) Renew(~there);
  }
  void Launch() {
    const unsigned kernel = Below(kNumKernels);
    if (Below(3) == 0) LeaveSome();
    if (!Fits(kernel)) return LeaveSome();
    bench_.Begin(kernel);
    const ResourceVector& need = bench_.views[kernel].need;
    const unsigned registers =
        FirstGap(need.registers, &TbBase::registers, &ResourceVector::registers);
    const unsigned shared =
        FirstGap(need.shared_memory, &TbBase::shared_memory, &ResourceVector::shared_memory);
    const bool gap = registers + need.registers <= 256 && shared + need.shared_memory <= 384;
    std::optional<unsigned> slot = bench_.Finish(5000);
    ASSERT_EQ(slot.has_value(), gap) << "it waits exactly when there is no gap";
    walks_ += bench_.waited > 0 ? 1 : 0;
    if (gap && bench_.waited > 0) {
      EXPECT_EQ(bench_.base[*slot].registers, registers) << "the first";
      EXPECT_EQ(bench_.base[*slot].shared_memory, shared) << "the first";
    }
    waits_ += gap ? 0 : 1;
    while (!slot) {
      bench_.Leave(bench_.valid & -bench_.valid);
      slot = bench_.Finish(5000);
    }
    Overlaps(*slot);
  }
  void Overlaps(unsigned mine) {
    const auto apart = [](unsigned a, unsigned a_length, unsigned b, unsigned b_length) {
      return a_length == 0 || b_length == 0 || a + a_length <= b || b + b_length <= a;
    };
    const TbBase& base = bench_.base[mine];
    EXPECT_LE(base.registers + Need(mine).registers, 256);
    EXPECT_LE(base.shared_memory + Need(mine).shared_memory, 384);
    for (unsigned slot = 0; slot < 32; ++slot) {
      if (slot == mine || (bench_.valid >> slot & 1) == 0) continue;
      const TbBase& other = bench_.base[slot];
      EXPECT_TRUE(
          apart(base.registers, Need(mine).registers, other.registers, Need(slot).registers))
          << mine << " and " << slot;
      EXPECT_TRUE(apart(base.shared_memory, Need(mine).shared_memory, other.shared_memory,
                        Need(slot).shared_memory))
          << mine << " and " << slot;
    }
  }

  std::mt19937_64 dice_;
  Bench bench_;
  unsigned waits_ = 0, walks_ = 0;
};

TEST(TbPlacesTest, NoTwoTbsOverlapAndATbWaitsOnlyWithoutAGap) {
  Check check(1);
  check.Run(20'000);
  EXPECT_GT(check.walks(), 1000u);
  EXPECT_GT(check.waits(), 100u);
}

}  // namespace
}  // namespace smk
