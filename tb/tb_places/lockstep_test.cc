// SPDX-License-Identifier: Apache-2.0
// smk_tb_places against TbPlaces: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_tb_places.h>
#include <Vfermi_tb_places_smk_pkg.h>
#include <Vsmk_tb_places.h>
#include <Vsmk_tb_places_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "bench.h"
#include "common/seeds.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_tb_places_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_tb_places_smk_pkg>(), "rtl and model disagree");

using Inputs = TbPlaces::Inputs;

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Pair {
 public:
  using Dut = DutType;
  using Package = Pkg;
  explicit Pair(std::uint64_t seed) : lockstep("tb_places", seed) {
    Inputs idle;
    const KernelViews views{};
    const std::array<KernelId, kMaxTbSlots> kernels{};
    idle.kernels = &views;
    idle.slot_kernel = &kernels;
    Drive(idle);
    lockstep.Reset();
  }
  void Cycle(const Inputs& in) {
    Drive(in);
    lockstep.Eval();
    Compare(distort ? broken_ : model);
    // What is read of a slot that nobody has had means nothing.
    if (in.launching && since_chosen_ > 1) {
      const TbBase want = (distort ? broken_ : model).base();
      ExpectMessage<TbBaseFields<Package>>(&lockstep, "base", lockstep.dut().base_o, want);
    }
    since_chosen_ = in.look ? 0 : in.chosen ? 1 : since_chosen_ + (since_chosen_ != 0 ? 1 : 0);
    lockstep.ClockEdge();
    model.Tick(in);
    Inputs distorted = in;
    if (distort) distort(&distorted);
    broken_.Tick(distorted);
  }
  bool found() const { return model.found(); }
  std::uint32_t slots() const { return model.state().slots; }
  TbBase base() const { return model.base(); }

  Lockstep<Dut> lockstep;
  std::function<void(Inputs*)> distort;

 private:
  static constexpr std::uint64_t kSlots = (std::uint64_t{1} << Package::NumSlots) - 1;
  static TbPlaces::Config Config() {
    return {Package::NumSlots,
            {Package::LimitRegisters, Package::LimitSharedMemory, Package::LimitThreads,
             Package::LimitTbs}};
  }

  void Drive(const Inputs& in) {
    Dut& dut = lockstep.dut();
    dut.partitioned_i = in.partitioned;
    dut.slot_valid_i = static_cast<IData>(in.slot_valid & kSlots);
    dut.gone_i = static_cast<IData>(in.gone & kSlots);
    dut.pending_i = static_cast<IData>(in.pending & kSlots);
    dut.launching_i = in.launching;
    dut.look_i = in.look;
    dut.chosen_i = in.chosen;
    dut.kernel_i = in.kernel;
    dut.slot_i = in.slot;
    for (unsigned k = 0; k < Package::NumKernels; ++k) {
      std::uint64_t slots = 0;
      for (unsigned s = 0; s < Package::NumSlots; ++s) {
        if (Index((*in.slot_kernel)[s]) == k) slots |= 1ull << s;
      }
      PackAt<KernelSlots<Package>>(k, slots, &dut.slots_of_i);
      PackAt<NeedVec<Package>>(k, (*in.kernels)[k].need, &dut.needs_i);
    }
    Pack<TbNeedFields<Package>>((*in.kernels)[in.kernel].need, &dut.need_i);
  }

  void Compare(const TbPlaces& want) {
    const Dut& dut = lockstep.dut();
    lockstep.Expect("found", dut.found_o, want.found());
    lockstep.Expect("slots", dut.slots_o, want.state().slots & kSlots);
    lockstep.Expect("waiting", dut.waiting_o, want.state().waiting);
    lockstep.Expect("waits", dut.waits_o, want.state().waits);
  }

 public:
  TbPlaces model{Config()};

 private:
  TbPlaces broken_{Config()};
  unsigned since_chosen_ = 0;  // cycles since the TB has a slot
};

template <typename Dut, typename Package>
using Bench = TbPlacesBench<Pair<Dut, Package>>;
using Gtx980 = Bench<Vsmk_tb_places, Vsmk_tb_places_smk_pkg>;
using Fermi = Bench<Vfermi_tb_places, Vfermi_tb_places_smk_pkg>;

// TBs of several kernels come and go; amounts always suffice.
template <typename AnyBench>
class Traffic {
 public:
  using Package = typename decltype(AnyBench::control)::Package;
  Traffic(AnyBench* bench, std::uint64_t seed, unsigned crowds)
      : bench_(*bench), dice_(seed), crowds_(crowds) {}

  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles && bench_.control.lockstep.ok(); ++i) {
      if (quiet_ != 0) --quiet_;
      if (!bench_.launching() && quiet_ == 0) Next();
      if (dice_.Percent(10)) bench_.pending = 0;  // reported
      const bool stuck = bench_.launching() && bench_.waited > 100;
      const std::uint32_t gone = dice_.Percent(stuck ? 10 : leaving_) ? Goers() : 0;
      bench_.Step(gone);
      if (dice_.Percent(50)) bench_.pending |= gone;
    }
  }

 private:
  std::uint32_t Slots() {
    return static_cast<std::uint32_t>(dice_.Sparse(2) &
                                      ((std::uint64_t{1} << Package::NumSlots) - 1));
  }
  // Some; or one; or of one kernel all but one. Not the TB that is being launched.
  std::uint32_t Goers() {
    if (bench_.has_slot() || bench_.valid == 0) return 0;
    const unsigned kind = dice_.Below(4);
    if (kind == 0) return 1u << dice_.BitOf(bench_.valid);
    if (kind != 1) return bench_.valid & Slots();
    const unsigned kernel = dice_.Below(Package::NumKernels);
    std::uint32_t slots = 0;
    for (unsigned s = 0; s < Package::NumSlots; ++s) {
      if (Index(bench_.slot_kernel[s]) == kernel) slots |= 1u << s;
    }
    slots &= bench_.valid;
    return slots == 0 ? 0 : slots & ~(1u << dice_.BitOf(slots));
  }
  bool IsThere(unsigned kernel) const {
    for (unsigned s = 0; s < Package::NumSlots; ++s) {
      if ((bench_.valid >> s & 1) != 0 && Index(bench_.slot_kernel[s]) == kernel) return true;
    }
    return false;
  }
  bool Fits(unsigned kernel) const {
    const ResourceVector& need = bench_.views[kernel].need;
    unsigned registers = need.registers, shared_memory = need.shared_memory, tbs = 1;
    for (unsigned s = 0; s < Package::NumSlots; ++s) {
      if ((bench_.valid >> s & 1) == 0) continue;
      const ResourceVector& other = bench_.views[Index(bench_.slot_kernel[s])].need;
      registers += other.registers;
      shared_memory += other.shared_memory;
      ++tbs;
    }
    return registers <= Package::LimitRegisters && shared_memory <= Package::LimitSharedMemory &&
           tbs + static_cast<unsigned>(__builtin_popcount(bench_.pending)) <= Package::LimitTbs;
  }
  // Any, or a multiple of a power of two.
  unsigned Amount(unsigned most) {
    const unsigned amount = dice_.Below(most + 1);
    return dice_.Percent(30) ? amount & ~0u << dice_.Below(7) : amount;
  }
  void Next() {
    if (dice_.Percent(2)) quiet_ = 20;
    if (dice_.Percent(3)) {
      // Small TBs in every slot, or few large ones.
      crowded_ = dice_.Percent(crowds_);
      leaving_ = dice_.Below(3) == 0 ? 60 : 1 + dice_.Below(20);
      if (crowded_ && dice_.Percent(80)) leaving_ = dice_.Below(2);
    }
    const unsigned kernel = dice_.Below(Package::NumKernels);
    if (!IsThere(kernel) && dice_.Percent(50)) {
      bench_.Step();
      bench_.Step();
      const unsigned part = crowded_ ? 10 + dice_.Below(30) : 1 + dice_.Below(20);
      const unsigned registers = Amount(Package::LimitRegisters / part);
      bench_.Need(kernel, registers, Amount(Package::LimitSharedMemory / part));
      // Warps are for others.
      bench_.views[kernel].need.threads =
          static_cast<std::uint16_t>(dice_.Below(Package::LimitThreads + 1));
    }
    if (dice_.Percent(70) && Fits(kernel)) bench_.Begin(kernel);
  }

  AnyBench& bench_;
  Dice dice_;
  unsigned crowds_, quiet_ = 0, leaving_ = 9;
  bool crowded_ = false;
};

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles, unsigned crowds = 20) {
  Traffic<AnyBench>(bench, seed, crowds).Run(cycles);
}

template <typename AnyBench>
void RunRandoms(unsigned seeds, unsigned cycles, unsigned crowds = 20) {
  for (unsigned n = 0; n < seeds; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    AnyBench bench(seed);
    RunRandom(&bench, seed, cycles, crowds);
    ASSERT_TRUE(bench.control.lockstep.ok()) << bench.control.lockstep.mismatch();
  }
}

TEST(TbPlacesLockstep, EqualsTheReferenceUnderRandomStimulus) { RunRandoms<Gtx980>(6, 50'000); }

TEST(TbPlacesLockstep, EqualsTheReferenceWhenEverySlotIsTaken) {
  RunRandoms<Gtx980>(5, 50'000, 95);
}

TEST(TbPlacesLockstep, EqualsTheReferenceInConfigurationFermi) { RunRandoms<Fermi>(2, 50'000); }

TEST(TbPlacesLockstep, EqualsTheReferenceWhenPartitionsComeIntoForce) {
  Gtx980 bench(GetTestOptions().seed);
  RunRandom(&bench, GetTestOptions().seed, 2'000);
  while (bench.launching()) bench.Step(bench.has_slot() ? 0 : bench.valid);
  bench.partitioned = true;
  RunRandom(&bench, GetTestOptions().seed, 2'000);
  ASSERT_TRUE(bench.control.lockstep.ok()) << bench.control.lockstep.mismatch();
}

TEST(TbPlacesLockstep, APlaceIsFoundInTheNextCycleAndItsBaseTwoAfterTheSlot) {
  Gtx980 bench(1);
  bench.Need(0, 64, 96);
  bench.Need(1, 100, 0);
  for (unsigned tb = 0; tb < 4; ++tb) {
    EXPECT_EQ(bench.Place(0), tb);
    EXPECT_EQ(bench.base[tb].registers, 64 * tb);
    EXPECT_EQ(bench.base[tb].shared_memory, 96 * tb);
    EXPECT_EQ(bench.waited, 0u);
  }
  bench.Leave(0b0101);
  bench.Begin(1);
  EXPECT_FALSE(bench.Finish(300)) << "two gaps of 64, and none of 100";
  EXPECT_EQ(bench.control.lockstep.dut().waiting_o, 1u);
  bench.Leave(0b0010);
  EXPECT_EQ(bench.Finish(), 0u);
  EXPECT_EQ(bench.base[0].registers, 0u);
  ASSERT_TRUE(bench.control.lockstep.ok()) << bench.control.lockstep.mismatch();
}

// 32 TBs side by side, of one kernel but for none, one or two of another. One leaves, and a TB of
// the other takes its place: one that was kept, or the one gap behind all that are in the way.
TEST(TbPlacesLockstep, EachSlotIsInTheWayAndKeepsItsPlace) {
  constexpr unsigned kSlots = 32, kEach = Vsmk_tb_places_smk_pkg::LimitRegisters / kSlots;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    const std::uint32_t one = 1u << slot, others[] = {0, one, one | 1u << (slot + 1) % kSlots};
    for (unsigned n = 0; n < 3 * kNumKernels; ++n) {
      Gtx980 bench(1);
      const unsigned most = n / 3, other = (most + 1) % kNumKernels;
      for (unsigned k = 0; k < kNumKernels; ++k) bench.Need(k, kEach, 0);
      for (unsigned s = 0; s < kSlots; ++s) {
        bench.Place((others[n % 3] >> s & 1) != 0 ? other : most);
      }
      bench.Leave(one);
      EXPECT_EQ(bench.Place(other), slot);
      EXPECT_EQ(bench.base[slot].registers, slot * kEach);
      ASSERT_TRUE(bench.control.lockstep.ok()) << bench.control.lockstep.mismatch();
    }
  }
}

// A TB that waits looks again, and meets the next one in any step of a walk, the last, too: one TB
// in a few needs registers.
TEST(TbPlacesLockstep, WhoMeetsTheLastSlotGoesOnWaiting) {
  constexpr unsigned kSlots = 32, kLimit = Vsmk_tb_places_smk_pkg::LimitRegisters;
  for (unsigned step = 1; step <= 8; ++step) {
    Gtx980 bench(1);
    const unsigned each = kLimit / ((kSlots + step - 1) / step);
    bench.Need(0, each, 0);
    bench.Need(2, 2 * each, 0);
    for (unsigned s = 0; s + 1 < kSlots; ++s) bench.Place(s % step == 0 ? 0 : 1);
    bench.Leave(1u << step | 1u << 3 * step);
    bench.Begin(2);
    EXPECT_FALSE(bench.Finish(2000)) << "two gaps of half a TB";
    bench.Leave(1u << (step == 1 ? 5 : 1));
    EXPECT_FALSE(bench.Finish(2000)) << "no gap of two";
    bench.Leave(1u << 2 * step);
    EXPECT_TRUE(bench.Finish());
    ASSERT_TRUE(bench.control.lockstep.ok()) << bench.control.lockstep.mismatch();
  }
}

// Two gaps for half a TB, the second at the end of the SM: there it would end behind it by each
// power of two.
TEST(TbPlacesLockstep, ATbThatWouldEndBehindTheSmWaits) {
  using Package = Vsmk_tb_places_smk_pkg;
  for (const bool shared : {false, true}) {
    const unsigned limit = shared ? Package::LimitSharedMemory : Package::LimitRegisters;
    for (unsigned half = 1; half <= 64; half *= 2) {
      Gtx980 bench(1);
      const auto need = [&](unsigned kernel, unsigned amount) {
        bench.Need(kernel, shared ? 0 : amount, shared ? amount : 0);
      };
      need(0, limit - 3 * half);
      need(1, half);
      need(2, 2 * half);
      bench.Place(0);
      for (unsigned tb = 0; tb < 3; ++tb) bench.Place(1);
      bench.Leave(0b1010);
      bench.Begin(2);
      EXPECT_FALSE(bench.Finish(300)) << half;
      bench.Leave(0b0100);
      EXPECT_TRUE(bench.Finish()) << half;
      ASSERT_TRUE(bench.control.lockstep.ok()) << bench.control.lockstep.mismatch();
    }
  }
}

TEST(TbPlacesLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->gone &= ~1u; },       [](Inputs* in) { in->slot_valid &= ~2u; },
      [](Inputs* in) { in->pending = 0; },       [](Inputs* in) { in->look &= in->kernel != 1; },
      [](Inputs* in) { in->slot &= ~4u; },       [](Inputs* in) { in->launching = false; },
      [](Inputs* in) { in->partitioned = true; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.control.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 500'000);  // until it is found
    EXPECT_THAT(bench.control.lockstep.mismatch(), testing::HasSubstr("expected"))
        << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
