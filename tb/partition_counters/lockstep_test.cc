// SPDX-License-Identifier: Apache-2.0
// smk_partition_counters against PartitionCounters: every output, every cycle.
#include "common/lockstep.h"

#include <Vfermi_partition_counters.h>
#include <Vfermi_partition_counters_smk_pkg.h>
#include <Vsmk_partition_counters.h>
#include <Vsmk_partition_counters_smk_pkg.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "common/seeds.h"
#include "control/sm/partition_counters.h"

namespace smk {
namespace {

static_assert(PackageIsDefault<Vsmk_partition_counters_smk_pkg>(), "rtl and model disagree");
static_assert(PackageFitsModel<Vfermi_partition_counters_smk_pkg>(), "rtl and model disagree");

using Inputs = PartitionCounters::Inputs;
using SlotKernels = std::array<KernelId, kMaxTbSlots>;

// The block and its reference. With `distort` the block is compared with a second reference that
// gets other inputs: one rule broken.
template <typename DutType, typename Pkg>
class Bench {
 public:
  using Dut = DutType;
  using Package = Pkg;
  explicit Bench(std::uint64_t seed) : lockstep_("partition_counters", seed) {
    Drive({});
    lockstep_.Reset();
  }
  PartitionCounters::Outputs Cycle(Inputs in) {
    in.slot_kernel = &slot_kernel;
    Drive(in);
    lockstep_.Eval();
    const PartitionCounters::Outputs out = model_.Eval(in);
    Inputs distorted = in;
    if (distort) distort(&distorted);
    const PartitionCounters& other = distort ? broken_ : model_;
    Compare(other, other.Eval(distorted));
    lockstep_.ClockEdge();
    model_.Tick(in);
    broken_.Tick(distorted);
    return out;
  }
  const PartitionCounters& model() const { return model_; }
  Lockstep<Dut>& lockstep() { return lockstep_; }
  SlotKernels slot_kernel{};
  std::function<void(Inputs*)> distort;

 private:
  static constexpr std::uint64_t kSlots = (std::uint64_t{1} << Package::NumSlots) - 1;
  static constexpr std::uint64_t kWarps = Package::NumWarps == 64
                                              ? ~std::uint64_t{0}
                                              : (std::uint64_t{1} << Package::NumWarps % 64) - 1;

  void Drive(const Inputs& in) {
    Dut& dut = lockstep_.dut();
    dut.command_valid_i = in.command_valid;
    dut.command_kernel_i = static_cast<CData>(Index(in.command.kernel));
    Pack<PartitionRangeFields<Package>>(in.command.range, &dut.command_range_i);
    dut.command_first_i = in.command.first;
    dut.command_last_i = in.command.last;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      std::uint64_t slots = 0;
      for (unsigned s = 0; s < Package::NumSlots; ++s) {
        if ((in.slot_valid >> s & 1) != 0 && Index(slot_kernel[s]) == k) slots |= 1ull << s;
      }
      PackAt<KernelSlots<Package>>(k, slots, &dut.kernel_slots_i);
    }
    dut.read_i = in.read;
    dut.read_kernel_i = in.read_kernel;
    dut.read_slot_i = in.read_slot;
    Pack<TbNeedFields<Package>>(in.read_need, &dut.read_need_i);
  }

  void Compare(const PartitionCounters& want, const PartitionCounters::Outputs& out) {
    const Dut& dut = lockstep_.dut();
    lockstep_.Expect("judging", dut.judging_o, out.judging);
    lockstep_.Expect("misaligned", dut.misaligned_o, out.misaligned);
    lockstep_.Expect("slots", dut.slots_o, want.state().slots & kSlots);
    lockstep_.Expect("warps", dut.warps_o, want.state().warps & kWarps);
    ExpectMessage<TbBaseFields<Package>>(&lockstep_, "base", dut.base_o, want.state().base);
  }

  Lockstep<Dut> lockstep_;
  static PartitionCounters::Config Config() {
    return {Package::NumKernels,
            {Package::LimitRegisters, Package::LimitSharedMemory, Package::LimitThreads,
             Package::LimitTbs}};
  }
  PartitionCounters model_{Config()};
  PartitionCounters broken_{Config()};
};

using Gtx980 = Bench<Vsmk_partition_counters, Vsmk_partition_counters_smk_pkg>;
using Fermi = Bench<Vfermi_partition_counters, Vfermi_partition_counters_smk_pkg>;

// What a range takes of the rest of a resource: mostly little, so that others find room.
unsigned PickAmount(unsigned left, unsigned little, Dice* dice) {
  return dice->Below(1 + (dice->Percent(80) ? std::min(left, little) : left));
}

// One plan: the ranges of some kernels side by side, in an order of its own; some without room.
template <typename Package>
std::vector<SmCommand> RandomPlan(Dice* dice) {
  std::vector<SmCommand> plan;
  PartitionRange r;
  const unsigned first = dice->Below(kNumKernels), step = dice->Percent(50) ? 1 : 3;
  const unsigned kernels = 1 + dice->Below(kNumKernels);
  for (unsigned n = 0; n < kernels; ++n) {
    const unsigned slots = Package::NumSlots - r.tb_base,
                   warps = Package::NumWarps - r.threads_base;
    const bool room = slots != 0 && warps != 0 && dice->Percent(95);
    const unsigned count = room ? 1 + PickAmount(std::min(slots, warps) - 1, 7, dice) : 0;
    const unsigned threads = room ? 1 + PickAmount(warps / count - 1, 7, dice) : 0;
    r.tb_count = static_cast<std::uint8_t>(count);
    r.threads_limit = static_cast<std::uint16_t>(r.threads_base + count * threads);
    r.registers_limit = static_cast<std::uint16_t>(
        r.registers_base + PickAmount(Package::LimitRegisters - r.registers_base, 30, dice));
    r.shared_memory_limit = static_cast<std::uint16_t>(
        r.shared_memory_base +
        PickAmount(Package::LimitSharedMemory - r.shared_memory_base, 40, dice));
    SmCommand command;
    command.op = CommandOp::kPartition;
    command.kernel = static_cast<KernelId>((first + n * step) % kNumKernels);
    command.range = r;
    command.first = plan.empty();
    plan.push_back(command);
    r.tb_base = static_cast<std::uint8_t>(r.tb_base + count);
    r.threads_base = r.threads_limit;
    r.registers_base = r.registers_limit;
    r.shared_memory_base = r.shared_memory_limit;
  }
  plan.back().last = true;
  if (dice->Percent(40)) {
    PartitionRange& last = plan.back().range;
    const auto to_end = [](std::uint16_t* base, std::uint16_t* limit, unsigned end) {
      *base = static_cast<std::uint16_t>(*base + end - *limit);
      *limit = static_cast<std::uint16_t>(end);
    };
    to_end(&last.registers_base, &last.registers_limit, Package::LimitRegisters);
    to_end(&last.shared_memory_base, &last.shared_memory_limit, Package::LimitSharedMemory);
    to_end(&last.threads_base, &last.threads_limit, Package::LimitThreads);
    last.tb_base = static_cast<std::uint8_t>(Package::LimitTbs - last.tb_count);
  }
  return plan;
}

// Mostly a question that a launch asks: a slot of the kernel's range, and what its TBs need.
template <typename Package>
void Ask(const PartitionCounters& model, Dice* dice, Inputs* in) {
  in->read = true;
  const unsigned kernel = dice->Below(kNumKernels);
  in->read_kernel = static_cast<std::uint8_t>(kernel);
  const PartitionCounters::Part& p = model.state().part[kernel];
  const bool any = !model.state().partitioned || p.tb_count == 0 || dice->Percent(5);
  const unsigned tbs = any ? 1 : p.tb_count;
  in->read_slot = static_cast<std::uint8_t>(any ? dice->Below(Package::NumSlots)
                                                : p.tb_base + dice->Below(tbs));
  const auto part = [&](unsigned limit) {
    return static_cast<std::uint16_t>(dice->Below(limit / tbs + 1));
  };
  in->read_need = {part(Package::LimitRegisters), part(Package::LimitSharedMemory),
                   part(Package::NumWarps), 1};
}

// Plans in a row, some repeated or with one kernel moved, with gaps between commands.
template <typename AnyBench>
void RunRandom(AnyBench* bench, std::uint64_t seed, unsigned cycles) {
  using Package = typename AnyBench::Package;
  Dice dice(seed);
  std::vector<SmCommand> plan = RandomPlan<Package>(&dice);
  std::size_t next = 0;
  unsigned asking = 0;  // cycles for which the question stays
  Inputs question;
  for (unsigned i = 0; i < cycles && bench->lockstep().ok(); ++i) {
    Inputs in;
    in.slot_valid =
        static_cast<std::uint32_t>(dice.Sparse(1) & ((std::uint64_t{1} << Package::NumSlots) - 1));
    bench->slot_kernel[dice.Below(Package::NumSlots)] =
        static_cast<KernelId>(dice.Below(kNumKernels));
    const bool judging = bench->model().judging();
    in.command_valid = !judging && asking == 0 && dice.Percent(70);
    in.command = plan[next];
    if (in.command_valid && ++next == plan.size()) {
      next = 0;
      if (dice.Percent(60)) plan = RandomPlan<Package>(&dice);
    }
    if (!judging && !in.command_valid && asking == 0) {
      asking = 1 + dice.Below(8);
      Ask<Package>(bench->model(), &dice, &question);
    }
    if (asking != 0) {
      --asking;
      in.read = true;
    }
    in.read_kernel = question.read_kernel;
    in.read_slot = question.read_slot;
    in.read_need = question.read_need;
    bench->Cycle(in);
  }
}

TEST(PartitionCountersLockstep, EqualsTheReferenceUnderRandomStimulus) {
  RunSeeds(4, 50'000, RunRandom<Gtx980>);
}

TEST(PartitionCountersLockstep, EqualsTheReferenceInConfigurationFermi) {
  RunSeeds(2, 50'000, RunRandom<Fermi>);
}

SmCommand Partition(unsigned kernel, unsigned tb_base, unsigned tb_count, unsigned threads) {
  SmCommand command;
  command.op = CommandOp::kPartition;
  command.kernel = static_cast<KernelId>(kernel);
  command.range.tb_base = static_cast<std::uint8_t>(tb_base);
  command.range.tb_count = static_cast<std::uint8_t>(tb_count);
  const auto range = [&](std::uint16_t* base, std::uint16_t* limit, unsigned need) {
    *base = static_cast<std::uint16_t>(tb_base * need);
    *limit = static_cast<std::uint16_t>((tb_base + tb_count) * need);
  };
  range(&command.range.registers_base, &command.range.registers_limit, 3);
  range(&command.range.shared_memory_base, &command.range.shared_memory_limit, 5);
  command.range.threads_base = static_cast<std::uint16_t>(tb_base * threads);
  command.range.threads_limit = static_cast<std::uint16_t>((tb_base + tb_count) * threads);
  return command;
}

TEST(PartitionCountersLockstep, SlotsBaseAndWarpsAreReadExactlyInTheirCycle) {
  Gtx980 bench(1);
  Inputs in;
  in.command_valid = true;
  in.command = Partition(0, 0, 6, 2);
  in.command.first = true;
  bench.Cycle(in);
  in.command = Partition(1, 6, 12, 2);
  in.command.last = true;
  bench.Cycle(in);
  for (unsigned cycle = 1; cycle < 7; ++cycle) {
    EXPECT_TRUE(bench.Cycle({}).judging) << "earlier than the contract: " << cycle;
  }
  EXPECT_FALSE(bench.Cycle({}).judging) << "later than the contract";
  Inputs read;
  read.read = true;
  read.read_kernel = 1;
  read.read_slot = 7;
  read.read_need = {3, 5, 2, 1};
  const auto base = [&bench] {
    return Unpack<TbBaseFields<Vsmk_partition_counters_smk_pkg>>(bench.lockstep().dut().base_o);
  };
  bench.Cycle(read);
  EXPECT_EQ(bench.lockstep().dut().slots_o, 0x3ffc0u);
  EXPECT_NE(base().registers, 21u) << "earlier than the contract";
  bench.Cycle(read);
  EXPECT_EQ(base().registers, 21u) << "7 TBs of 3 units are before it";
  EXPECT_EQ(base().shared_memory, 35u);
  EXPECT_NE(bench.lockstep().dut().warps_o, 3ull << 14) << "earlier than the contract";
  bench.Cycle(read);
  EXPECT_EQ(bench.lockstep().dut().warps_o, 3ull << 14) << "the aligned part of the TB";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

// Who is out of place, by the command's cycle and those after it.
std::uint32_t Judge(Gtx980* bench, Inputs in) {
  std::uint32_t misaligned = bench->Cycle(in).misaligned;
  in.command_valid = false;
  while (bench->model().judging()) misaligned |= bench->Cycle(in).misaligned;
  return misaligned;
}

TEST(PartitionCountersLockstep, OnlyTbsOutOfPlaceAreMisaligned) {
  Gtx980 bench(1);
  Inputs in;
  in.command_valid = true;
  in.command = Partition(0, 0, 6, 2);
  in.command.first = in.command.last = true;
  in.slot_valid = 0b1011;
  EXPECT_EQ(Judge(&bench, in), 0b1011u) << "unpartitioned before: all move";
  in.command.range.tb_count = 2;
  EXPECT_EQ(Judge(&bench, in), 0b1000u) << "the range shrinks";
  in.command.range.registers_base = 1;
  EXPECT_EQ(Judge(&bench, in), 0b1011u) << "the range moves";
  ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
}

TEST(PartitionCountersLockstep, FindsEachBrokenRule) {
  const std::function<void(Inputs*)> broken[] = {
      [](Inputs* in) { in->command.first = false; },
      [](Inputs* in) { in->command.range.registers_base = 0; },
      [](Inputs* in) { in->slot_valid &= 0x7fffffff; },
      [](Inputs* in) { in->read_need.registers &= 0x7f; },
      [](Inputs* in) { in->read_need.shared_memory &= 0xff; },
      [](Inputs* in) { in->command_valid &= Index(in->command.kernel) != 3; }};
  for (const auto& rule : broken) {
    Gtx980 bench(GetTestOptions().seed);
    bench.distort = rule;
    RunRandom(&bench, GetTestOptions().seed, 20'000);
    EXPECT_THAT(bench.lockstep().mismatch(), testing::HasSubstr("expected")) << &rule - broken;
  }
}

}  // namespace
}  // namespace smk
