// SPDX-License-Identifier: Apache-2.0
// smk_kernel_table against KernelTable: every output, every cycle.
#include <Vfermi_kernel_table.h>
#include <Vfermi_kernel_table_smk_pkg.h>
#include <Vsmk_kernel_table.h>
#include <Vsmk_kernel_table_smk_pkg.h>
#include <Vv100_kernel_table.h>
#include <Vv100_kernel_table_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/seeds.h"
#include "kernel_table/pair.h"
#include "kernel_table/traffic.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_kernel_table_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_kernel_table_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vv100_kernel_table_smk_pkg>(), "rtl and model disagree");

using Inputs = KernelTable::Inputs;

using Gtx980 = KernelTablePair<Vsmk_kernel_table, Vsmk_kernel_table_smk_pkg>;
using Fermi = KernelTablePair<Vfermi_kernel_table, Vfermi_kernel_table_smk_pkg>;
using V100 = KernelTablePair<Vv100_kernel_table, Vv100_kernel_table_smk_pkg>;

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  KernelTableTraffic traffic(seed, AnyBench::kLimits, AnyBench::kSms);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    if (traffic.BeginsAnew(i)) bench->Reset();
    bench->Cycle(traffic.Next(bench->state(), i));
  }
}

TEST(KernelTableLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(4, 50'000, RunRandom<Gtx980>);
}

TEST(KernelTableLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(2, 50'000, RunRandom<Fermi>);
}

TEST(KernelTableLockstep, EqualsTheReferenceWithEightySms) { RunSeeds(2, 50'000, RunRandom<V100>); }

// All SMs of 80 report a TB in one cycle: none is lost.
TEST(KernelTableLockstep, CountsACompletionOfEachOfEightySms) {
  for (const bool lose : {false, true}) {
    V100 bench(GetTestOptions().seed);
    if (lose) {
      bench.distort = [](Inputs* distorted) {
        distorted->finished[1] = std::min<std::uint8_t>(distorted->finished[1], 79);
      };
    }
    Inputs in;
    in.launch_valid = true;
    in.launch_kernel = KernelId{1};
    in.launch.need = {32, 0, 8, 1};
    in.launch.tb_count = 81;
    bench.Cycle(in);
    in = {};
    in.dispatch_new_valid = true;
    in.dispatch_new_kernel = KernelId{1};
    for (unsigned n = 0; n < 81; ++n) bench.Cycle(in);
    in = {};
    in.finished[1] = 80;
    bench.Cycle(in);
    in.finished[1] = 1;
    bench.Cycle(in);
    for (unsigned n = 0; n < 5; ++n) bench.Cycle();
    EXPECT_EQ(bench.lockstep().ok(), !lose) << bench.lockstep().mismatch();
  }
}

constexpr ResourceVector kNeed{32, 0, 8, 1};
constexpr ResourceVector kOtherNeed{16, 24, 4, 1};

Inputs LaunchOf(unsigned kernel, ResourceVector need = kNeed, std::uint32_t tbs = 3) {
  Inputs in;
  in.launch_valid = true;
  in.launch_kernel = static_cast<KernelId>(kernel);
  in.launch.need = need;
  in.launch.tb_count = tbs;
  return in;
}

class KernelTableLockstepRule : public testing::Test {
 protected:
  using TbIds = TbIdVec<Gtx980::Package>;

  ~KernelTableLockstepRule() override {
    EXPECT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
  // Hands out TBs of the kernel, one per cycle.
  void HandOut(unsigned kernel, unsigned tbs) {
    Inputs in;
    in.dispatch_new_valid = true;
    in.dispatch_new_kernel = static_cast<KernelId>(kernel);
    for (unsigned n = 0; n < tbs; ++n) bench.Cycle(in);
  }
  void Complete(unsigned kernel, unsigned tbs) {
    Inputs in;
    in.finished[kernel] = static_cast<std::uint8_t>(tbs);
    bench.Cycle(in);
  }
  // A grid of 16 TBs more than a multiple, one handed out per cycle.
  void RunGrid(unsigned kernel, std::uint32_t tbs) {
    bench.Cycle(LaunchOf(kernel, kNeed, tbs));
    Inputs in;
    in.dispatch_new_valid = true;
    in.dispatch_new_kernel = static_cast<KernelId>(kernel);
    for (std::uint32_t n = 1; n <= tbs; ++n) {
      in.finished[kernel] = n % 16 == 1 && n != 1 ? 16 : 0;
      if (n % 4096 == 17) {
        bench.Cycle(in);
      } else {
        bench.CycleUnseen(in);
      }
    }
    Complete(kernel, 15);
    EXPECT_EQ(dut().active_o, 1u << kernel) << "one TB is missing";
    EXPECT_EQ(BitsAt<TbIds>(kernel, dut().remaining_o), 0u);
    EXPECT_EQ(BitsAt<TbIds>(kernel, dut().next_tb_o), tbs);
    Complete(kernel, 1);
    EXPECT_EQ(dut().kernel_done_o, 1u << kernel);
    bench.Cycle();
  }
  void ChipTick() {
    Inputs in;
    in.tick = true;
    bench.Cycle(in);
  }
  Vsmk_kernel_table& dut() { return bench.lockstep().dut(); }
  KernelView View(unsigned kernel) {
    KernelView view;
    UnpackAt<ContextViews<Gtx980::Package>>(kernel, dut().views_o, &view);
    return view;
  }

  Gtx980 bench{1};
};

TEST_F(KernelTableLockstepRule, LaunchIsVisibleExactlyOnTheNextEdge) {
  bench.Cycle(LaunchOf(2, kOtherNeed, 7));
  EXPECT_EQ(dut().active_o, 0b0100) << "later than the contract";
  EXPECT_EQ(BitsAt<TbIds>(2, dut().remaining_o), 7u);
  // Registers 16/256, shared memory 24/384, threads 4/64, TBs 1/32, in units of 1/768.
  EXPECT_EQ(BitsAt<ShareVec<Gtx980::Package>>(2, dut().tb_share_o), 48u);
  EXPECT_EQ(View(2).context_log2_lines, 8u) << "181 lines lie in 256";
}

TEST_F(KernelTableLockstepRule, LaunchIsRefusedForEachReason) {
  bench.Cycle(LaunchOf(0));
  const auto error = [&](const Inputs& in) {
    const LaunchError want = bench.Cycle(in).launch_error;
    EXPECT_EQ(dut().members_o, 0b0001) << "nothing happened";
    return want;
  };
  EXPECT_EQ(error(LaunchOf(0, {257, 0, 0, 1}, 0)), LaunchError::kSlotBusy);
  for (unsigned slot = 4; slot < 8; ++slot) {
    EXPECT_EQ(error(LaunchOf(slot)), LaunchError::kBadSlot);
  }
  EXPECT_EQ(error(LaunchOf(1, {257, 0, 8, 1}, 0)), LaunchError::kNoTbs);
  EXPECT_EQ(error(LaunchOf(1, {257, 0, 8, 1})), LaunchError::kTooLarge);
  EXPECT_EQ(error(LaunchOf(1, {0, 385, 8, 1})), LaunchError::kTooLarge);
  EXPECT_EQ(error(LaunchOf(1, {0, 0, 65, 1})), LaunchError::kTooLarge);
  EXPECT_EQ(error(LaunchOf(1, {0, 0, 0, 1})), LaunchError::kTooLarge);
  EXPECT_EQ(error(LaunchOf(1, {0x8000, 0, 1, 1})), LaunchError::kTooLarge);
  EXPECT_EQ(bench.Cycle(LaunchOf(1, {256, 384, 64, 1}, ~0u)).launch_error, LaunchError::kNone);
}

TEST_F(KernelTableLockstepRule, DoneExactlyOneCycleAfterTheLastTb) {
  for (const unsigned tbs : {1u, 16u, 31u, 32u, 33u, 80u}) {
    bench.Cycle(LaunchOf(1, kNeed, tbs));
    HandOut(1, tbs);
    for (unsigned left = tbs; left > 1; left -= std::min(left - 1, 16u)) {
      Complete(1, std::min(left - 1, 16u));
    }
    bench.Cycle();
    EXPECT_EQ(dut().kernel_done_o, 0) << "one TB of " << tbs << " is missing";
    Complete(1, 1);
    EXPECT_EQ(dut().kernel_done_o, 0b0010) << tbs << " TBs";
    EXPECT_EQ(dut().active_o, 0);
    bench.Cycle();
    EXPECT_EQ(dut().kernel_done_o, 0) << "a pulse";
  }
}

// The power of two that holds a context has one bit more than the lines without the last.
TEST_F(KernelTableLockstepRule, EachBitOfAGridAndOfAContextCountsAlone) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    const unsigned lines = 1u << bit % 12, threads = std::min(lines, 64u);
    const ResourceVector need{static_cast<std::uint16_t>((lines - threads) / 8), 0,
                              static_cast<std::uint16_t>(threads), 1};
    const Inputs in = LaunchOf(bit % 4, need, 1u << bit);
    EXPECT_EQ(bench.Cycle(in).launch_error, LaunchError::kNone);
    bench.Cycle();
    EXPECT_EQ(View(bit % 4).context_log2_lines, bit % 12 + 1);
    bench.Reset();
  }
}

// Borrows out of the lowest bits of the TBs left, up to each bit above them.
TEST_F(KernelTableLockstepRule, EndsAfterEachBorrow) {
  for (unsigned bit = 5; bit < 18; ++bit) {
    for (unsigned kernel = 0; kernel < kNumKernels; ++kernel) RunGrid(kernel, (1u << bit) + 48);
  }
}

// An even and an odd number of borrows reach the top part of the TBs left, in case one mends what
// the other breaks; one kernel's reach that of all counts.
TEST_F(KernelTableLockstepRule, EndsWithTheLastOfAMillionTbs) {
  for (unsigned kernel = 0; kernel < kNumKernels; ++kernel) {
    for (const unsigned top : {2u, kernel == 1 ? 5u : 3u}) RunGrid(kernel, (top << 18) + 16);
  }
}

// Each bit of the first index, and the carry out of each.
TEST_F(KernelTableLockstepRule, SliceHandsOutItsOwnTbs) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    for (const std::uint32_t first : {1u << bit, (2u << bit) - 2}) {
      const unsigned kernel = bit % kNumKernels;
      Inputs in = LaunchOf(kernel, kNeed, 5);
      in.launch.first_tb = first;
      bench.Cycle(in);
      EXPECT_EQ(GetBits(dut().next_tb_o, 32 * kernel, 32), first);
      EXPECT_EQ(GetBits(dut().remaining_o, 32 * kernel, 32), 5u);
      HandOut(kernel, 5);
      EXPECT_EQ(GetBits(dut().next_tb_o, 32 * kernel, 32), first + 5) << "modulo 2^32";
      EXPECT_EQ(GetBits(dut().remaining_o, 32 * kernel, 32), 0u);
      Complete(kernel, 4);
      EXPECT_EQ(dut().active_o, 1u << kernel) << "one TB is missing";
      Complete(kernel, 1);
      EXPECT_EQ(dut().kernel_done_o, 1u << kernel);
      bench.Cycle();
    }
  }
}

TEST_F(KernelTableLockstepRule, PlaceIsKeptForTheTicksGivenAndNoLonger) {
  bench.Cycle(LaunchOf(1, kNeed, 1));
  HandOut(1, 1);
  Complete(1, 1);
  for (unsigned tick = 0; tick < 2; ++tick) ChipTick();
  for (unsigned idle = 0; idle < 50; ++idle) bench.Cycle();
  EXPECT_EQ(dut().members_o, 0b0010) << "earlier than the contract";
  ChipTick();
  EXPECT_EQ(dut().members_o, 0) << "later than the contract";
  EXPECT_EQ(dut().member_expired_o, 0b0010);
}

// Also when that is as long as can be, in every place.
TEST_F(KernelTableLockstepRule, PlacesAreKeptForTheMostTicksThereAre) {
  for (const std::uint16_t most : {0xffff, 0xfffe}) {
    for (unsigned kernel = 0; kernel < kNumKernels; ++kernel) {
      bench.Cycle(LaunchOf(kernel, kNeed, 1));
      HandOut(kernel, 1);
    }
    Inputs in;
    in.linger_ticks = most;
    in.finished.fill(1);
    bench.Cycle(in);
    in.finished.fill(0);
    in.tick = true;
    for (unsigned tick = 0; tick < most; ++tick) bench.CycleUnseen(in);
    bench.Cycle(in);
    EXPECT_EQ(dut().member_expired_o, 0b1111) << "later than the contract";
  }
}

TEST_F(KernelTableLockstepRule, OnlyTheSameNeedKeepsAPlaceThatExpires) {
  for (const bool same : {true, false}) {
    bench.Cycle(LaunchOf(2, kNeed, 1));
    bench.Cycle(LaunchOf(0, kNeed, 1));
    HandOut(2, 1);
    Complete(2, 1);
    for (unsigned tick = 0; tick < 2; ++tick) ChipTick();
    Inputs in = LaunchOf(2, same ? kNeed : kOtherNeed, 1);
    in.tick = true;
    EXPECT_EQ(bench.Cycle(in).launch_same, same);
    EXPECT_EQ(dut().member_expired_o, 0);
    EXPECT_EQ(BitsAt<OrderVec<Gtx980::Package>>(2, dut().order_o), same ? 0u : 1u);
    for (const unsigned kernel : {0u, 2u}) {
      HandOut(kernel, 1);
      Complete(kernel, 1);
    }
    for (unsigned tick = 0; tick < 3; ++tick) ChipTick();
  }
}

TEST(KernelTableLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->launch_kernel = static_cast<KernelId>(Index(in->launch_kernel) & 3); },
      [](Inputs* in) { in->launch.need.registers &= 0x1ff; },
      [](Inputs* in) { in->launch.need.threads += in->launch.need.threads == 0 ? 1 : 0; },
      [](Inputs* in) { in->launch.tb_count += in->launch.tb_count == 0 ? 1 : 0; },
      [](Inputs* in) { in->launch.first_tb &= 0x7fff'ffff; },
      [](Inputs* in) { in->launch.context_base &= 0xffff'ffff; },
      [](Inputs* in) { in->linger_ticks += 1; },
      [](Inputs* in) { in->finished[3] &= 15; },
      [](Inputs* in) { in->tick = in->tick && !in->launch_valid; },
      [](Inputs* in) { in->dispatch_new_valid = in->dispatch_new_valid && !in->tick; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 20'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
