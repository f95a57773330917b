// SPDX-License-Identifier: Apache-2.0
// smk_partition_planner against PartitionPlanner: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_partition_planner.h>
#include <Vfermi_partition_planner_smk_pkg.h>
#include <Vsmk_partition_planner.h>
#include <Vsmk_partition_planner_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "common/seeds.h"
#include "control/driver/partition_planner.h"
#include "partition_planner/traffic.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_partition_planner_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_partition_planner_smk_pkg>(), "rtl and model disagree");

using Inputs = PartitionPlanner::Inputs;
using Kernels = KernelTable::State;

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  static constexpr ResourceVector kLimits{Package::LimitRegisters, Package::LimitSharedMemory,
                                          Package::LimitThreads, Package::LimitTbs};

  explicit Bench(std::uint64_t seed) : lockstep_("partition_planner", seed) {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      Launch(k, {1, 1, 1, 1});
      kernels.slot[k].order = static_cast<std::uint8_t>(k);
    }
    Drive({});
    lockstep_.Reset();
  }
  // The kernel's TBs need so much from now on.
  void Launch(unsigned kernel, const ResourceVector& need) {
    kernels.slot[kernel].need = need;
    kernels.slot[kernel].share = ShareWeights::Of(kLimits).Dominant(need);
  }
  void Cycle(const Inputs& in) {
    Drive(in);
    lockstep_.Eval();
    Compare(distort ? broken_ : model_);
    lockstep_.ClockEdge();
    Inputs distorted = in;
    distorted.kernel_table = &kernels;
    model_.Tick(distorted);
    if (!distort) return;
    Kernels table = kernels;
    distorted.kernel_table = &table;
    distort(&distorted, &table);
    broken_.Tick(distorted);
  }
  // Plans to the end; returns the cycles from the start until done is visible.
  unsigned Plan(Inputs in) {
    in.start = true;
    Cycle(in);
    in.start = false;
    unsigned cycles = 1;
    for (; cycles < 100 && !lockstep_.dut().done_o; ++cycles) Cycle(in);
    return cycles;
  }
  // The RTL's plan.
  PartitionRange Range(unsigned kernel) {
    PartitionRange r;
    UnpackAt<RangeVec<Package>>(kernel, lockstep_.dut().range_o, &r);
    return r;
  }
  std::array<unsigned, kNumKernels> Tbs() {
    std::array<unsigned, kNumKernels> tbs{};
    for (unsigned k = 0; k < kNumKernels; ++k) tbs[k] = Range(k).tb_count;
    return tbs;
  }
  const PartitionPlanner::State& state() const { return model_.state(); }
  Lockstep<Dut>& lockstep() { return lockstep_; }

  Kernels kernels;
  std::function<void(Inputs*, Kernels*)> distort;

 private:
  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.start_i = in.start;
    dut.kernels_i = in.kernels;
    dut.sm_i = static_cast<CData>(Index(in.sm));
    dut.apart_i = static_cast<CData>(1u << (in.apart - 1));
    dut.mode_i = static_cast<CData>(in.mode);
    Pack<TbCntVec<Package>>(in.table, &dut.table_tbs_i);
    dut.last_at_end_i = in.last_at_end;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      const KernelTable::Slot& slot = kernels.slot[k];
      PackAt<NeedVec<Package>>(k, slot.need, &dut.need_i);
      PackAt<ShareVec<Package>>(k, slot.share, &dut.tb_share_i);
      PackAt<OrderVec<Package>>(k, slot.order, &dut.order_i);
    }
  }

  void Compare(const PartitionPlanner& want) {
    const Dut& dut = lockstep_.dut();
    const PartitionPlanner::State& s = want.state();
    lockstep_.Expect("busy", dut.busy_o, s.busy);
    lockstep_.Expect("done", dut.done_o, s.done);
    lockstep_.Expect("kernels", dut.kernels_o, s.kernels);
    if (s.done) lockstep_.Expect("anywhere", dut.anywhere_o, s.anywhere);
    if (s.busy) return;  // the block sets ranges down in every cycle
    ExpectMessage<RangeVec<Package>>(&lockstep_, "range", dut.range_o, s.range);
  }

  Lockstep<Dut> lockstep_;
  PartitionPlanner model_{{kLimits}};
  PartitionPlanner broken_{{kLimits}};
};

using Gtx980 = Bench<Vsmk_partition_planner, Vsmk_partition_planner_smk_pkg>;
using Fermi = Bench<Vfermi_partition_planner, Vfermi_partition_planner_smk_pkg>;

Inputs StartOf(KernelMask kernels, unsigned sm = 0) {
  Inputs in;
  in.kernels = kernels;
  in.sm = static_cast<SmId>(sm);
  return in;
}

template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  PlannerTraffic<AnyBench> traffic(bench, seed);
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) bench->Cycle(traffic.Next(i));
}

TEST(PartitionPlannerLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(4, 100'000, RunRandom<Gtx980>);
}

TEST(PartitionPlannerLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(2, 100'000, RunRandom<Fermi>);
}

// One TB per cycle, from 1 TB to a full SM.
TEST(PartitionPlannerLockstep, DoneExactlyTwoCyclesAfterTheTbsPlanned) {
  for (unsigned tbs = 1; tbs <= Gtx980::kLimits.tbs; ++tbs) {
    Gtx980 bench(1);
    Inputs in = StartOf(0b0001);
    in.mode = DispatchMode::kTable;
    in.table[0] = static_cast<std::uint8_t>(tbs);
    in.start = true;
    bench.Cycle(in);
    in.start = false;
    for (unsigned cycle = 1; cycle < tbs + 2; ++cycle) {
      EXPECT_TRUE(bench.lockstep().dut().busy_o) << cycle << " of " << tbs;
      EXPECT_FALSE(bench.lockstep().dut().done_o) << "earlier than the contract";
      bench.Cycle(in);
    }
    EXPECT_TRUE(bench.lockstep().dut().done_o) << "later than the contract";
    EXPECT_FALSE(bench.lockstep().dut().busy_o);
    EXPECT_EQ(bench.Tbs()[0], tbs);
    bench.Cycle(in);
    EXPECT_FALSE(bench.lockstep().dut().done_o) << "a pulse";
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
}

// SMK Fig. 8 in units of this SM: a TB of K1 takes 10 % of the registers and 6.66 % of the threads,
// one of K2 3 % of the registers, 6 % of the shared memory and 5 % of the threads.
TEST(PartitionPlannerLockstep, Figure8EndsWithSixAndTwelveTbs) {
  Gtx980 bench(1);
  bench.Launch(0, {26, 0, 4, 1});
  bench.Launch(1, {8, 23, 3, 1});
  EXPECT_EQ(bench.Plan(StartOf(0b0011)), 6u + 12u + 2u);
  EXPECT_EQ(bench.Tbs(), (std::array<unsigned, 4>{6, 12, 0, 0}));
  const PartitionRange k1 = bench.Range(0), k2 = bench.Range(1);
  EXPECT_EQ(k1.registers_base, 0);
  EXPECT_EQ(k1.registers_limit, 6 * 26);
  EXPECT_EQ(k2.registers_base, k1.registers_limit);
  EXPECT_EQ(k2.registers_limit, 6 * 26 + 12 * 8);
  EXPECT_EQ(k2.shared_memory_limit, 12 * 23);
  EXPECT_EQ(k2.threads_base, 6 * 4);
  EXPECT_EQ(k2.threads_limit, 6 * 4 + 12 * 3);
  EXPECT_EQ(k2.tb_base, 6);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PartitionPlannerLockstep, TieGoesToTheKernelWithMoreTbsThenToTheLowestId) {
  Gtx980 bench(1);
  // After one TB and two, both have 80 registers: the second kernel goes on [D3], and then only its
  // TBs fit.
  bench.Launch(0, {80, 0, 4, 1});
  bench.Launch(1, {40, 0, 4, 1});
  bench.Plan(StartOf(0b0011));
  EXPECT_EQ(bench.Tbs(), (std::array<unsigned, 4>{1, 4, 0, 0}));
  // Three of these fit; the third is the lowest kernel's.
  bench.Launch(3, {80, 0, 4, 1});
  bench.Plan(StartOf(0b1001));
  EXPECT_EQ(bench.Tbs(), (std::array<unsigned, 4>{2, 0, 0, 1}));
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// [D4]: of kernels that do not fit together, each is left out as often as the others.
TEST(PartitionPlannerLockstep, KernelsThatDoNotFitTogetherTakeTurns) {
  for (const KernelMask mask : {KernelMask{0b0011}, KernelMask{0b1101}, KernelMask{0b1111}}) {
    const auto n = static_cast<unsigned>(__builtin_popcount(mask));
    Gtx980 bench(1);
    for (unsigned k = 0; k < kNumKernels; ++k) bench.Launch(k, {160, 0, 4, 1});
    std::array<unsigned, kNumKernels> sum{};
    for (unsigned sm = 0; sm < 12; ++sm) {
      bench.Plan(StartOf(mask, sm));
      for (unsigned k = 0; k < kNumKernels; ++k) sum[k] += bench.Tbs()[k];
    }
    for (unsigned k = 0; k < kNumKernels; ++k) {
      EXPECT_EQ(sum[k], (mask >> k & 1) == 0 ? 0 : 12 / n) << "kernel " << k;
    }
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
}

// [D4]: SMs that host the same kernels may be as far apart as there are kernels on each.
TEST(PartitionPlannerLockstep, KernelsTakeTurnsAmongTheSmsThatHostThem) {
  Gtx980 bench(1);
  for (unsigned k = 0; k < kNumKernels; ++k) bench.Launch(k, {160, 0, 4, 1});
  for (unsigned apart = 1; apart <= kNumKernels; ++apart) {
    for (unsigned first = 0; first < apart; ++first) {
      std::array<unsigned, kNumKernels> sum{};
      for (unsigned n = 0; n < 4; ++n) {
        Inputs in = StartOf(0b1010, first + n * apart);
        in.apart = static_cast<std::uint8_t>(apart);
        bench.Plan(in);
        for (unsigned k = 0; k < kNumKernels; ++k) sum[k] += bench.Tbs()[k];
      }
      EXPECT_EQ(sum, (std::array<unsigned, kNumKernels>{0, 2, 0, 2})) << apart << " apart";
    }
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PartitionPlannerLockstep, RangesFollowTheOrderOfArrival) {
  Gtx980 bench(1);
  for (unsigned k = 0; k < kNumKernels; ++k) bench.Launch(k, {32, 48, 8, 1});
  const std::uint8_t order[] = {2, 0, 3, 1};
  for (unsigned k = 0; k < kNumKernels; ++k) bench.kernels.slot[k].order = order[k];
  bench.Plan(StartOf(0b1111));
  for (unsigned k = 0; k < kNumKernels; ++k) {
    EXPECT_EQ(bench.Range(k).registers_base, 64 * order[k]);
    EXPECT_EQ(bench.Range(k).registers_limit, 64 * (order[k] + 1));
    EXPECT_EQ(bench.Range(k).tb_base, 2 * order[k]);
  }
  bench.Plan(StartOf(0b0101));
  EXPECT_EQ(bench.Range(0).registers_base, 0) << "places of kernels outside the plan are skipped";
  EXPECT_EQ(bench.Range(2).registers_base, 128);
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PartitionPlannerLockstep, EvenSplitCapsEachButGivesOneTb) {
  Gtx980 bench(1);
  Inputs in = StartOf(0b0111);
  in.mode = DispatchMode::kEven;
  bench.Launch(0, {16, 0, 2, 1});
  bench.Launch(1, {86, 0, 2, 1});
  bench.Launch(2, {0, 64, 2, 1});
  bench.Plan(in);
  EXPECT_EQ(bench.Tbs(), (std::array<unsigned, 4>{5, 1, 2, 0})) << "85 registers, 128 of memory";
  in.kernels = 0b0011;
  bench.Plan(in);
  EXPECT_EQ(bench.Tbs(), (std::array<unsigned, 4>{8, 1, 0, 0}));
  in.kernels = 0b0001;
  bench.Plan(in);
  EXPECT_EQ(bench.Tbs(), (std::array<unsigned, 4>{16, 0, 0, 0}));
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PartitionPlannerLockstep, TableGivesTheCountsSet) {
  Gtx980 bench(1);
  Inputs in = StartOf(0b0011);
  in.mode = DispatchMode::kTable;
  in.table = {3, 1, 9, 9};
  bench.Plan(in);
  EXPECT_EQ(bench.Tbs(), (std::array<unsigned, 4>{3, 1, 0, 0}));
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// The last place of all, whoever has it: a kernel with all TBs lies before or behind those with
// none.
TEST(PartitionPlannerLockstep, OneKernelMayHaveAllTbs) {
  Gtx980 bench(1);
  const ResourceVector all = Gtx980::kLimits;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    bench.Launch(k, {static_cast<std::uint16_t>(all.registers / all.tbs),
                     static_cast<std::uint16_t>(all.shared_memory / all.tbs),
                     static_cast<std::uint16_t>(all.threads / all.tbs), 1});
  }
  for (unsigned owner = 0; owner < kNumKernels; ++owner) {
    for (unsigned turn = 0; turn < kNumKernels; ++turn) {
      Inputs in = StartOf(0b1111);
      in.mode = DispatchMode::kTable;
      in.table[owner] = static_cast<std::uint8_t>(all.tbs);
      for (unsigned k = 0; k < kNumKernels; ++k) {
        bench.kernels.slot[k].order = static_cast<std::uint8_t>((k + turn) % kNumKernels);
      }
      bench.Plan(in);
      EXPECT_EQ(bench.Range(owner).tb_count, all.tbs);
      EXPECT_EQ(bench.Range(owner).shared_memory_base, 0);
      EXPECT_EQ(bench.Range(owner).shared_memory_limit, all.shared_memory);
    }
  }
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PartitionPlannerLockstep, PlanHoldsUntilTheNextStartAndStartBeginsAnew) {
  Gtx980 bench(1);
  bench.Launch(0, {64, 0, 4, 1});
  bench.Plan(StartOf(0b0001));
  for (int i = 0; i < 10; ++i) bench.Cycle({});
  EXPECT_EQ(bench.Range(0).registers_limit, 256);
  Inputs in = StartOf(0b0011);
  in.start = true;
  bench.Cycle(in);
  EXPECT_TRUE(bench.lockstep().dut().busy_o) << "ranges say nothing before it is done";
  bench.Cycle({});
  EXPECT_EQ(bench.Plan(StartOf(0b0001)), 4u + 2u) << "from an empty SM";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PartitionPlannerLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*, Kernels*)> broken[] = {
      [](Inputs* in, Kernels*) { in->kernels &= 0b0111; },
      [](Inputs* in, Kernels*) { in->sm = static_cast<SmId>(Index(in->sm) + 1); },
      [](Inputs* in, Kernels*) {
        if (in->mode == DispatchMode::kEven) in->mode = DispatchMode::kPartitioned;
      },
      [](Inputs* in, Kernels*) { in->table[2] ^= 1; },
      [](Inputs*, Kernels* kernels) { ++kernels->slot[1].share; },
      [](Inputs*, Kernels* kernels) { ++kernels->slot[3].need.shared_memory; },
      [](Inputs*, Kernels* kernels) { std::swap(kernels->slot[0].order, kernels->slot[1].order); }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 20'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
