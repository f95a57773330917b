// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "control/sm/partition_counters.h"

namespace smk {
namespace {

// Part of a plan: so many TBs of a need, behind what comes before.
PartitionRange After(const PartitionRange& before, const ResourceVector& need, unsigned count) {
  PartitionRange r;
  r.registers_base = before.registers_limit;
  r.registers_limit = static_cast<std::uint16_t>(r.registers_base + count * need.registers);
  r.shared_memory_base = before.shared_memory_limit;
  r.shared_memory_limit =
      static_cast<std::uint16_t>(r.shared_memory_base + count * need.shared_memory);
  r.threads_base = before.threads_limit;
  r.threads_limit = static_cast<std::uint16_t>(r.threads_base + count * need.threads);
  r.tb_base = static_cast<std::uint8_t>(before.tb_base + before.tb_count);
  r.tb_count = static_cast<std::uint8_t>(count);
  return r;
}

PartitionCounters::Inputs Command(unsigned kernel, const PartitionRange& range, bool first,
                                  bool last) {
  PartitionCounters::Inputs in;
  in.command_valid = true;
  in.command.op = CommandOp::kPartition;
  in.command.kernel = static_cast<KernelId>(kernel);
  in.command.range = range;
  in.command.first = first;
  in.command.last = last;
  return in;
}

constexpr ResourceVector kNeedA{16, 0, 4, 1};
constexpr ResourceVector kNeedB{8, 32, 2, 1};

// A plan's last command, until all TBs are judged: those that are out of place.
std::uint32_t Judge(PartitionCounters* counters, PartitionCounters::Inputs last) {
  PartitionCounters::Inputs in;
  in.slot_valid = last.slot_valid;
  in.slot_kernel = last.slot_kernel;
  counters->Tick(last);
  std::uint32_t misaligned = 0;
  while (counters->judging()) {
    const std::uint32_t now = counters->Eval(in).misaligned;
    EXPECT_EQ(misaligned & now, 0u) << "sent twice";
    misaligned |= now;
    counters->Tick(in);
  }
  return misaligned;
}

PartitionCounters::Inputs Reads(unsigned kernel, unsigned slot, const ResourceVector& need) {
  PartitionCounters::Inputs in;
  in.read = true;
  in.read_kernel = static_cast<std::uint8_t>(kernel);
  in.read_slot = static_cast<std::uint8_t>(slot);
  in.read_need = need;
  return in;
}

std::uint64_t ReadWarps(PartitionCounters* counters, unsigned kernel, unsigned slot,
                        unsigned warps) {
  const auto in = Reads(kernel, slot, {0, 0, static_cast<std::uint16_t>(warps), 1});
  for (int cycle = 0; cycle < 3; ++cycle) counters->Tick(in);
  return counters->state().warps;
}

// Registers and shared memory.
std::pair<unsigned, unsigned> ReadBase(PartitionCounters* counters, unsigned kernel, unsigned slot,
                                       const ResourceVector& need) {
  for (int cycle = 0; cycle < 2; ++cycle) counters->Tick(Reads(kernel, slot, need));
  return {counters->state().base.registers, counters->state().base.shared_memory};
}

// Kernel 0 has 3 TBs of 4 warps, kernel 2 has 5 TBs of 2 warps.
struct TwoKernels {
  PartitionRange a = After({}, kNeedA, 3), b = After(a, kNeedB, 5);
  PartitionCounters counters;
  std::array<KernelId, kMaxTbSlots> slot_kernel{};

  TwoKernels() {
    counters.Tick(Command(0, a, true, false));
    Judge(&counters, Command(2, b, false, true));
    for (unsigned slot = 3; slot < 8; ++slot) slot_kernel[slot] = KernelId{2};
  }
  // Who leaves when the next plan's last command is taken with all 8 slots occupied.
  std::uint32_t Misaligned(PartitionCounters::Inputs last) {
    last.slot_valid = 0xff;
    last.slot_kernel = &slot_kernel;
    return Judge(&counters, last);
  }
};

TEST(PartitionCountersTest, WithoutPartitionsEveryKernelMayUseTheWholeSm) {
  PartitionCounters counters;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    EXPECT_EQ(counters.Slots(k), ~0u);
    EXPECT_EQ(ReadWarps(&counters, k, 7, 4), ~std::uint64_t{0});
    EXPECT_EQ(ReadBase(&counters, k, 7, kNeedB), std::pair(0u, 0u)) << "there is no place";
    EXPECT_EQ(counters.state().slots, ~0u);
  }
}

TEST(PartitionCountersTest, RangesAreInForceTwoCyclesAfterTheLastCommand) {
  PartitionCounters counters;
  const PartitionRange a = After({}, kNeedA, 3), b = After(a, kNeedB, 5);
  counters.Tick(Command(0, a, true, false));
  EXPECT_EQ(counters.Slots(0), ~0u) << "the plan is not complete";
  EXPECT_FALSE(counters.judging());
  counters.Tick(Command(2, b, false, true));
  EXPECT_TRUE(counters.judging());
  EXPECT_EQ(counters.Slots(2), ~0u) << "earlier than the contract";
  counters.Tick({});
  EXPECT_EQ(counters.Slots(0), 0b00000111u) << "later than the contract";
  EXPECT_EQ(counters.Slots(2), 0b11111000u);
  EXPECT_EQ(counters.Slots(1), 0u) << "not in the plan";
  EXPECT_EQ(ReadWarps(&counters, 1, 0, 4), 0u);
}

TEST(PartitionCountersTest, TheTbsOfKernelKAreJudgedInCycleKPlusThree) {
  TwoKernels two;
  std::array<KernelId, kMaxTbSlots> slot_kernel{};
  for (unsigned k = 0; k < kNumKernels; ++k) slot_kernel[k] = static_cast<KernelId>(k);
  PartitionCounters::Inputs in = Command(3, After({}, kNeedA, 1), true, true);
  for (unsigned cycle = 0; cycle < 10; ++cycle) {
    in.slot_valid = 0b1111;
    in.slot_kernel = &slot_kernel;
    const PartitionCounters::Outputs out = two.counters.Eval(in);
    EXPECT_EQ(out.misaligned, cycle >= 3 && cycle < 7 ? 1u << (cycle - 3) : 0u) << cycle;
    EXPECT_EQ(out.judging, cycle >= 1 && cycle < 7) << cycle;
    two.counters.Tick(in);
    in.command_valid = false;
  }
}

TEST(PartitionCountersTest, ATbOwnsTheWarpsOfItsSlot) {
  TwoKernels two;
  EXPECT_EQ(ReadWarps(&two.counters, 0, 0, 4), 0xfu);
  EXPECT_EQ(ReadWarps(&two.counters, 0, 2, 4), 0xf00u);
  EXPECT_EQ(ReadWarps(&two.counters, 2, 3, 2), 0x3u << 12);
  EXPECT_EQ(ReadWarps(&two.counters, 2, 7, 2), 0x3u << 20);
}

TEST(PartitionCountersTest, ATbOwnsTheRegistersAndTheSharedMemoryOfItsSlot) {
  TwoKernels two;
  EXPECT_EQ(ReadBase(&two.counters, 0, 0, kNeedA), std::pair(0u, 0u));
  EXPECT_EQ(ReadBase(&two.counters, 0, 2, kNeedA), std::pair(32u, 0u));
  EXPECT_EQ(ReadBase(&two.counters, 2, 3, kNeedB), std::pair(48u, 0u));
  EXPECT_EQ(ReadBase(&two.counters, 2, 7, kNeedB), std::pair(80u, 128u));
}

TEST(PartitionCountersTest, TheBaseIsReadTwoCyclesAfterTheSlot) {
  TwoKernels two;
  ReadBase(&two.counters, 2, 3, kNeedB);
  two.counters.Tick(Reads(2, 7, kNeedB));
  EXPECT_EQ(two.counters.state().base.registers, 48u) << "earlier than the contract";
  two.counters.Tick(Reads(2, 7, kNeedB));
  EXPECT_EQ(two.counters.state().base.registers, 80u) << "later than the contract";
}

TEST(PartitionCountersTest, TheLastUnitOfTheSmCanBeOwned) {
  const ResourceVector limits = ControlConfig{}.limits, need{8, 12, 2, 1};
  PartitionCounters counters;
  Judge(&counters, Command(1, After({}, need, 32), true, true));
  EXPECT_EQ(ReadBase(&counters, 1, 31, need),
            std::pair(limits.registers - 8u, limits.shared_memory - 12u));
}

TEST(PartitionCountersTest, TheTopWarpSlotCanBeOwned) {
  PartitionCounters counters;
  Judge(&counters, Command(1, After({}, {0, 0, 32, 1}, 2), true, true));
  EXPECT_EQ(ReadWarps(&counters, 1, 1, 32), 0xffffffff00000000u);
  Judge(&counters, Command(1, After({}, {0, 0, 2, 1}, 32), true, true));
  EXPECT_EQ(counters.Slots(1), ~0u);
  EXPECT_EQ(ReadWarps(&counters, 1, 31, 2), std::uint64_t{3} << 62);
}

TEST(PartitionCountersTest, TheFirstPartitionRelocatesEveryTb) {
  PartitionCounters counters;
  const std::array<KernelId, kMaxTbSlots> slot_kernel{};
  PartitionCounters::Inputs in = Command(0, After({}, kNeedA, 8), true, true);
  in.slot_valid = 0b101;
  in.slot_kernel = &slot_kernel;
  EXPECT_EQ(Judge(&counters, in), 0b101u);
}

TEST(PartitionCountersTest, TbsStayWhenTheirBaseIsTheSame) {
  TwoKernels two;
  two.counters.Tick(Command(0, two.a, true, false));
  EXPECT_EQ(two.Misaligned(Command(2, two.b, false, true)), 0u);
}

TEST(PartitionCountersTest, TbsBeyondASmallerPartLeave) {
  TwoKernels two;
  two.counters.Tick(Command(0, two.a, true, false));
  EXPECT_EQ(two.Misaligned(Command(2, After(two.a, kNeedB, 3), false, true)), 0b11000000u);
}

TEST(PartitionCountersTest, TbsLeaveWhenTheirBaseMoves) {
  TwoKernels two;
  const PartitionRange less = After({}, kNeedA, 2);
  two.counters.Tick(Command(0, less, true, false));
  EXPECT_EQ(two.Misaligned(Command(2, After(less, kNeedB, 7), false, true)), 0b11111100u);
}

// The part of `tbs` TBs that ends where the SM ends.
PartitionRange AtEnd(const ResourceVector& need, unsigned tbs) {
  const ResourceVector limits = ControlConfig{}.limits;
  PartitionRange r;
  r.registers_base = static_cast<std::uint16_t>(limits.registers - tbs * need.registers);
  r.registers_limit = limits.registers;
  r.shared_memory_base =
      static_cast<std::uint16_t>(limits.shared_memory - tbs * need.shared_memory);
  r.shared_memory_limit = limits.shared_memory;
  r.threads_base = static_cast<std::uint16_t>(limits.threads - tbs * need.threads);
  r.threads_limit = limits.threads;
  r.tb_base = static_cast<std::uint8_t>(limits.tbs - tbs);
  r.tb_count = static_cast<std::uint8_t>(tbs);
  return r;
}

TEST(PartitionCountersTest, TbsStayWhenTheirPartEndsWithTheSmAsBefore) {
  for (const unsigned tbs : {2u, 3u, 6u}) {
    PartitionCounters counters;
    Judge(&counters, Command(1, AtEnd(kNeedB, 4), true, true));
    const std::uint64_t before = ReadWarps(&counters, 1, 30, 2);
    std::array<KernelId, kMaxTbSlots> slot_kernel{};
    slot_kernel.fill(KernelId{1});
    PartitionCounters::Inputs in = Command(1, AtEnd(kNeedB, tbs), true, true);
    in.slot_valid = 0xf0000000;
    in.slot_kernel = &slot_kernel;
    EXPECT_EQ(Judge(&counters, in), tbs == 2 ? 0x30000000u : tbs == 3 ? 0x10000000u : 0u);
    EXPECT_EQ(ReadWarps(&counters, 1, 30, 2), before);
  }
}

// The end alone does not tell: registers that end with the SM, TB slots that do not.
TEST(PartitionCountersTest, TbsLeaveWhenOneResourceDoesNotEndWithTheSm) {
  for (unsigned which = 0; which < 4; ++which) {
    PartitionRange old = AtEnd(kNeedB, 4), next = AtEnd(kNeedB, 3);
    for (PartitionRange* r : {&old, &next}) {
      if (which == 0) --r->registers_base, --r->registers_limit;
      if (which == 1) --r->shared_memory_base, --r->shared_memory_limit;
      if (which == 2) --r->threads_base, --r->threads_limit;
      if (which == 3) --r->tb_base;
    }
    PartitionCounters counters;
    Judge(&counters, Command(1, old, true, true));
    std::array<KernelId, kMaxTbSlots> slot_kernel{};
    slot_kernel.fill(KernelId{1});
    PartitionCounters::Inputs in = Command(1, next, true, true);
    in.slot_valid = 1u << 30;
    in.slot_kernel = &slot_kernel;
    EXPECT_EQ(Judge(&counters, in), 1u << 30) << which;
  }
}

TEST(PartitionCountersTest, TbsOfAKernelWithoutAPartLeave) {
  TwoKernels two;
  EXPECT_EQ(two.Misaligned(Command(0, two.a, true, true)), 0b11111000u);
}

TEST(PartitionCountersTest, AFirstCommandForgetsAPlanThatWasNotFinished) {
  PartitionCounters counters;
  counters.Tick(Command(3, After({}, kNeedB, 4), true, false));
  Judge(&counters, Command(0, After({}, kNeedA, 3), true, true));
  EXPECT_EQ(counters.Slots(3), 0u);
  EXPECT_EQ(counters.Slots(0), 0b111u);
}

// One allocation unit after the other: where the TB of a slot lies.
struct Place {
  std::vector<unsigned> units;
  bool operator==(const Place& o) const { return units == o.units; }
};

struct Plan {
  bool at_end = false;  // the last kernel's range ends with the SM
  std::array<unsigned, kMaxKernels> count{};
  std::array<PartitionRange, kMaxKernels> range{};
};

std::optional<Place> PlaceOf(const Plan& plan, const std::array<ResourceVector, 4>& needs,
                             unsigned kernel, unsigned slot) {
  const PartitionRange& r = plan.range[kernel];
  if (slot < r.tb_base || slot >= r.tb_base + plan.count[kernel]) return std::nullopt;
  const unsigned i = slot - r.tb_base;
  Place place;
  for (unsigned u = 0; u < needs[kernel].registers; ++u) {
    place.units.push_back(r.registers_base + i * needs[kernel].registers + u);
  }
  for (unsigned u = 0; u < needs[kernel].shared_memory; ++u) {
    place.units.push_back(1000 + r.shared_memory_base + i * needs[kernel].shared_memory + u);
  }
  for (unsigned u = 0; u < needs[kernel].threads; ++u) {
    place.units.push_back(2000 + r.threads_base + i * needs[kernel].threads + u);
  }
  place.units.push_back(3000 + slot);
  return place;
}

Plan RandomPlan(std::mt19937* random, const std::array<ResourceVector, 4>& needs) {
  Plan plan;
  PartitionRange before;
  for (unsigned k = 0; k < kNumKernels; ++k) {
    plan.count[k] = (*random)() % 5;
    before = plan.range[k] = After(before, needs[k], plan.count[k]);
  }
  plan.at_end = (*random)() % 2 == 0;
  if (plan.at_end) plan.range[3] = AtEnd(needs[3], plan.count[3]);
  return plan;
}

// The units of every TB of a plan, as they are read, each taken once.
TEST(PartitionCountersTest, NoTwoTbsHaveARegisterOrSharedMemoryInCommon) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const ResourceVector limits = ControlConfig{}.limits;
  for (int round = 0; round < 300; ++round) {
    std::array<ResourceVector, 4> needs;
    for (auto& need : needs) {
      need = {static_cast<std::uint16_t>(random() % 16), static_cast<std::uint16_t>(random() % 24),
              static_cast<std::uint16_t>(1 + random() % 4), 1};
    }
    const Plan plan = RandomPlan(&random, needs);
    PartitionCounters counters;
    for (unsigned k = 0; k < 4; ++k) Judge(&counters, Command(k, plan.range[k], k == 0, k == 3));
    std::vector<bool> registers(limits.registers), shared_memory(limits.shared_memory);
    const auto take = [](std::vector<bool>* units, unsigned base, unsigned count) {
      for (unsigned u = base; u < base + count; ++u) {
        ASSERT_LT(u, units->size()) << "outside the SM";
        ASSERT_FALSE((*units)[u]) << "unit " << u << " has two owners";
        (*units)[u] = true;
      }
    };
    for (unsigned k = 0; k < 4; ++k) {
      for (unsigned i = 0; i < plan.count[k]; ++i) {
        const auto base = ReadBase(&counters, k, plan.range[k].tb_base + i, needs[k]);
        take(&registers, base.first, needs[k].registers);
        take(&shared_memory, base.second, needs[k].shared_memory);
      }
    }
  }
}

struct Residents {
  std::uint32_t valid = 0;
  std::array<KernelId, kMaxTbSlots> kernel{};
  std::uint32_t moved = 0;  // whose place is another under the new plan
};

// Some of the TBs that can be resident under the old plan.
Residents RandomTbs(std::mt19937* random, const std::array<ResourceVector, 4>& needs,
                    const Plan& old, const Plan& plan) {
  Residents tbs;
  for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      const auto before = PlaceOf(old, needs, k, slot);
      if (!before || (*random)() % 3 == 0) continue;
      tbs.valid |= 1u << slot;
      tbs.kernel[slot] = static_cast<KernelId>(k);
      // A TB whose kernel's range begins elsewhere, and does not end with the SM as before, leaves
      // even if its own units happen to be the same.
      const auto now = PlaceOf(plan, needs, k, slot);
      const PartitionRange& a = old.range[k];
      const PartitionRange& b = plan.range[k];
      const bool at_end = k == 3 && old.at_end && plan.at_end;
      const bool shifted = !at_end && (a.registers_base != b.registers_base ||
                                       a.shared_memory_base != b.shared_memory_base ||
                                       a.threads_base != b.threads_base || a.tb_base != b.tb_base);
      if (!now || shifted || !(*now == *before)) tbs.moved |= 1u << slot;
    }
  }
  return tbs;
}

TEST(PartitionCountersTest, LetsThoseLeaveWhosePlaceIsNotTheSameUnitByUnit) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::array<ResourceVector, 4> needs;
    for (auto& need : needs) {
      need = {static_cast<std::uint16_t>(1 + random() % 12),
              static_cast<std::uint16_t>(1 + random() % 20),
              static_cast<std::uint16_t>(1 + random() % 4), 1};
    }
    PartitionCounters counters;
    Plan old;
    for (int step = 0; step < 10; ++step) {
      Plan plan = RandomPlan(&random, needs);
      if (random() % 2 == 0 && step != 0) {
        plan = old;
        plan.count[3] = plan.range[3].tb_count = static_cast<std::uint8_t>(random() % 5);
        if (plan.at_end) plan.range[3] = AtEnd(needs[3], plan.count[3]);
      }
      const Residents tbs = step == 0 ? Residents{} : RandomTbs(&random, needs, old, plan);
      for (unsigned k = 0; k < kNumKernels; ++k) {
        PartitionCounters::Inputs in = Command(k, plan.range[k], k == 0, k == 3);
        in.slot_valid = tbs.valid;
        in.slot_kernel = &tbs.kernel;
        ASSERT_EQ(Judge(&counters, in), k == 3 ? tbs.moved : 0u)
            << "round " << round << " step " << step;
      }
      old = plan;
    }
  }
}

}  // namespace
}  // namespace smk
