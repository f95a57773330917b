// SPDX-License-Identifier: Apache-2.0
// smk_top_registers in configuration small, its links with 5 and 2 stages: the policy changes over
// the bus, between kernels, and launches wait for it.
#include <Vlinked_top_registers.h>
#include <Vlinked_top_registers_smk_pkg.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "common/lockstep.h"
#include "control/driver/policy_registers.h"

namespace smk {
namespace {

using Dut = Vlinked_top_registers;
using Package = Vlinked_top_registers_smk_pkg;
using Registers = PolicyRegisters<Package>;

// The host, and SMs on which a TB takes a fixed time, is stopped and saved, and comes back from the
// start.
class Chip {
 public:
  static constexpr unsigned kTbCycles = 100;
  static constexpr unsigned kSlots = Package::NumSms * Package::NumSlots;

  Chip() : lockstep_("top_registers", GetTestOptions().seed) {
    Dut& d = dut();
    d.bus_write_i = d.bus_read_i = d.bus_address_i = 0;
    d.bus_data_i = 0;
    d.launch_valid_i = d.launch_kernel_i = d.tick_i = 0;
    Pack<KernelDescriptorFields<Package>>(KernelDescriptor(), &d.launch_i);
    d.tb_finished_i = d.tb_quiet_i = d.tb_flushable_i = d.context_done_i = 0;
    d.time_i = 0;
    d.memory_i = 0;
    d.ready_i = 0xffff;
    d.context_ready_i = (1u << Package::NumSms) - 1;
    lockstep_.Reset();
  }
  // A cycle; accesses of the caller are of this one only.
  void Cycle() {
    dut().tick_i = cycle_ % 200 == 199;
    dut().tb_quiet_i = static_cast<std::uint8_t>(stopped_);
    dut().tb_finished_i = Finished();
    dut().context_done_i = lines_;
    lockstep_.Eval();
    ready_ = dut().launch_ready_o != 0;
    done_ |= dut().kernel_done_o;
    stopped_ = dut().tb_stop_o;
    lines_ = 0;
    for (unsigned sm = 0; sm < Package::NumSms; ++sm) HearOf(sm);
    lockstep_.ClockEdge();
    ++cycle_;
    dut().bus_write_i = dut().bus_read_i = 0;
    lockstep_.Eval();
    ASSERT_TRUE(lockstep_.ok()) << lockstep_.mismatch();
  }
  void Write(unsigned address, std::uint32_t data) {
    dut().bus_write_i = 1;
    dut().bus_address_i = static_cast<std::uint8_t>(address);
    dut().bus_data_i = data;
    Cycle();
    EXPECT_EQ(dut().bus_error_o, 0);
  }
  std::uint32_t Status() {
    dut().bus_read_i = 1;
    dut().bus_address_i = Registers::kControlWord;
    Cycle();
    return dut().bus_data_o;
  }
  void Commit(const PolicyConfig& policy) {
    const Registers::Words words = PolicyWords<Package>::Of(policy);
    for (unsigned w = 0; w < Registers::kWords; ++w) Write(w, words[w]);
    Write(Registers::kControlWord, Registers::kCommit);
  }
  // Offers a kernel until it is taken; the cycles that it waited.
  unsigned Launch(unsigned slot, unsigned tbs) {
    KernelDescriptor kernel;
    kernel.need = {4, 2, 1, 1};
    kernel.tb_count = tbs;
    Pack<KernelDescriptorFields<Package>>(kernel, &dut().launch_i);
    dut().launch_kernel_i = static_cast<std::uint8_t>(slot);
    dut().launch_valid_i = 1;
    unsigned waited = 0;
    for (Cycle(); !ready_ && waited < 10'000; ++waited) Cycle();
    dut().launch_valid_i = 0;
    done_ &= ~(1u << slot);
    return waited;
  }
  void RunUntilDone(unsigned slots) {
    for (int i = 0; i < 20'000 && (done_ & slots) != slots; ++i) Cycle();
    EXPECT_EQ(done_ & slots, slots);
    done_ = 0;
  }
  void RunUntilChanged() {
    for (int i = 0; i < 1'000 && Status() == Registers::kPending; ++i) Cycle();
    EXPECT_EQ(Status(), Registers::kDone);
  }
  // TBs that have finished, and the most on an SM at once, since the last question.
  unsigned Tbs() { return std::exchange(tbs_, 0u); }
  unsigned MostOnAnSm() { return std::exchange(most_, 0u); }

 private:
  Dut& dut() { return lockstep_.dut(); }
  // TBs that end in this cycle: each has its time, and none ends while it is stopped.
  std::uint8_t Finished() {
    unsigned finished = 0;
    for (unsigned slot = 0; slot < kSlots; ++slot) {
      if (left_[slot] == 0 || (stopped_ >> slot & 1) != 0) continue;
      if (--left_[slot] == 0) finished |= 1u << slot;
    }
    tbs_ += static_cast<unsigned>(__builtin_popcount(finished));
    return static_cast<std::uint8_t>(finished);
  }
  void HearOf(unsigned sm) {
    unsigned here = 0;
    for (unsigned i = 0; i < Package::NumSlots; ++i) {
      unsigned& left = left_[sm * Package::NumSlots + i];
      if ((dut().tb_activate_o >> (sm * Package::NumSlots + i) & 1) != 0) left = kTbCycles;
      here += left != 0 ? 1 : 0;
    }
    most_ = std::max(most_, here);
    constexpr unsigned kSlotBits = Package::SlotWidth;
    if ((dut().release_valid_o >> sm & 1) != 0) {
      const auto slot = GetBits(dut().release_slot_o, sm * kSlotBits, kSlotBits);
      left_[sm * Package::NumSlots + slot] = 0;
    }
    constexpr unsigned kContextBits = kWidthOf<ContextRequestFields<Package>>;
    const bool line = GetBits(dut().context_o, (sm + 1) * kContextBits - 1, 1) != 0;
    lines_ |= static_cast<std::uint16_t>((line ? 1u : 0u) << sm * Package::DoneWidth);
  }

  Lockstep<Dut> lockstep_;
  unsigned cycle_ = 0, tbs_ = 0, most_ = 0, done_ = 0, stopped_ = 0;
  std::uint16_t lines_ = 0;
  std::array<unsigned, kSlots> left_{};
  bool ready_ = false;
};

PolicyConfig Mode(DispatchMode mode) {
  PolicyConfig policy = Registers::DefaultPolicy();
  policy.dispatch = mode;
  return policy;
}

TEST(TopRegisters, APolicyChangesWithoutAKernel) {
  Chip chip;
  chip.Commit(Mode(DispatchMode::kLeftover));
  EXPECT_EQ(chip.Status(), Registers::kPending);
  chip.RunUntilChanged();
  EXPECT_EQ(chip.Launch(0, 20), 0u);
  chip.RunUntilDone(1);
  EXPECT_EQ(chip.Tbs(), 20u);
}

TEST(TopRegisters, ALaunchWaitsForTheKernelAndTheChange) {
  Chip chip;
  EXPECT_EQ(chip.Launch(0, 30), 0u);
  PolicyConfig table = Mode(DispatchMode::kTable);
  table.table = {1, 2};
  chip.Commit(table);
  EXPECT_GT(chip.Launch(1, 10), 100u) << "30 TBs of 100 cycles on 8 slots come first";
  EXPECT_EQ(chip.Tbs(), 30u);
  EXPECT_EQ(chip.MostOnAnSm(), 4u) << "by the policy after the reset";
  EXPECT_EQ(chip.Status(), Registers::kDone);
  EXPECT_EQ(chip.Launch(0, 10), 0u);
  chip.RunUntilDone(3);
  EXPECT_EQ(chip.Tbs(), 20u);
  EXPECT_EQ(chip.MostOnAnSm(), 3u) << "by the table: 1 and 2";
}

// From every mode to every other: each TB runs once, also where the mode before had put partitions
// and quotas in force, and though the kernels come again while their places linger.
TEST(TopRegisters, EveryModeFollowsEveryOther) {
  Chip chip;
  for (unsigned from = 0; from < 8; ++from) {
    for (unsigned to = 0; to < 8; ++to) {
      for (const unsigned mode : {from, to}) {
        PolicyConfig policy = Mode(static_cast<DispatchMode>(mode));
        policy.quota_enable = policy.dispatch == DispatchMode::kPartitioned;
        policy.epoch_length = 200;
        policy.table.fill(2);
        policy.slicer_warmup = policy.slicer_settle = policy.slicer_window = 50;
        policy.token_quota = 100;
        chip.Commit(policy);
        EXPECT_LT(chip.Launch(0, 12), 1'000u);
        EXPECT_EQ(chip.Launch(1, 12), 0u);
        chip.RunUntilDone(3);
        ASSERT_EQ(chip.Tbs(), 24u) << "mode " << mode << ", from " << from << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace smk
