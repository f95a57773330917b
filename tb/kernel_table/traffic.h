// SPDX-License-Identifier: Apache-2.0
// Random use of a kernel table.
#pragma once

#include <array>

#include "common/lockstep.h"
#include "control/driver/kernel_table.h"

namespace smk {

// Kernels are launched, well and badly, hand out TBs, complete them and linger. In some phases
// grids are so large that they never end: a reset ends them.
class KernelTableTraffic {
 public:
  KernelTableTraffic(std::uint64_t seed, const ResourceVector& limits, unsigned sms)
      : dice_(seed), slices_(~seed), limits_(limits), sms_(sms) {
    for (ResourceVector& need : palette_) need = RandomNeed();
  }

  // Whether the table is reset before this cycle.
  bool BeginsAnew(unsigned cycle) const { return cycle % kPhase == 0 && huge_ != 0; }
  KernelTable::Inputs Next(const KernelTable::State& s, unsigned cycle) {
    if (cycle % kPhase == 0) ChangePhase();
    KernelTable::Inputs in;
    in.linger_ticks = linger_;
    in.tick = dice_.Percent(ticks_);
    in.launch_valid = dice_.Percent(20);
    in.launch_kernel = static_cast<KernelId>(dice_.Below(dice_.Percent(5) ? 8 : kNumKernels));
    in.launch = Descriptor();
    const unsigned k = dice_.Below(kNumKernels);
    in.dispatch_new_valid = s.slot[k].remaining() != 0 && dice_.Percent(dispatch_);
    in.dispatch_new_kernel = static_cast<KernelId>(k);
    // Now and then as many TBs of one kernel as can.
    const bool at_once = dice_.Percent(2);
    for (unsigned sm = 0; sm < sms_; ++sm) {
      if (at_once || dice_.Percent(finish_)) {
        Finish(s, at_once ? k : dice_.Below(kNumKernels), &in);
      }
    }
    return in;
  }

 private:
  static constexpr unsigned kPhase = 512;

  void ChangePhase() {
    linger_ = UpTo(dice_.Percent(85) ? 3 : 0xffff);
    ticks_ = 1 + dice_.Below(40);
    dispatch_ = 20 + dice_.Below(80);
    finish_ = 1 + dice_.Below(dice_.Percent(50) ? 5 : 50);
    most_tbs_ = dice_.Percent(30) ? 3 : dice_.Percent(60) ? 40 : 300;
    huge_ = dice_.Percent(25) ? 50 : 0;
  }
  // Just above or below a sum of powers of two: borrows run far.
  std::uint32_t HugeGrid() {
    std::uint32_t tbs = 1u << (5 + dice_.Below(27));
    if (dice_.Percent(50)) tbs |= 1u << (5 + dice_.Below(27));
    return tbs + dice_.Below(16) - 4;
  }
  // Anywhere, just below a carry, or where the indices end.
  std::uint32_t FirstTb() {
    if (slices_.Percent(30)) return static_cast<std::uint32_t>(slices_.Bits());
    return (slices_.Percent(20) ? 0u : 1u << slices_.Below(32)) - 1 - slices_.Below(30);
  }
  std::uint16_t UpTo(unsigned limit) { return static_cast<std::uint16_t>(dice_.Below(limit + 1)); }
  ResourceVector RandomNeed() {
    return {UpTo(limits_.registers), UpTo(limits_.shared_memory),
            static_cast<std::uint16_t>(1 + UpTo(limits_.threads - 1u)), 1};
  }
  KernelDescriptor Descriptor() {
    KernelDescriptor d;
    d.need = dice_.Percent(80) ? palette_[dice_.Below(2)] : RandomNeed();
    d.tb_count = dice_.Percent(5) ? 0 : 1 + dice_.Below(most_tbs_);
    if (dice_.Percent(huge_)) d.tb_count = HugeGrid();
    if (slices_.Percent(60)) d.first_tb = FirstTb();
    d.context_base = dice_.Bits() >> 16;
    if (!dice_.Percent(20)) return d;
    std::uint16_t* fields[] = {&d.need.registers, &d.need.shared_memory, &d.need.threads};
    const std::uint16_t limits[] = {limits_.registers, limits_.shared_memory, limits_.threads};
    const unsigned resource = dice_.Below(3);
    std::uint16_t& field = *fields[resource];
    switch (dice_.Below(3)) {
      case 0:
        d.need.threads = 0;
        d.tb_count = static_cast<std::uint32_t>(dice_.Bits());  // of a kernel that never runs
        break;
      case 1:
        field = static_cast<std::uint16_t>(limits[resource] + dice_.Below(2));
        break;
      // Wider than a counter: its lower bits would fit.
      default:
        field = static_cast<std::uint16_t>(field + (1u << (9 + dice_.Below(7))));
    }
    return d;
  }
  void Finish(const KernelTable::State& s, unsigned k, KernelTable::Inputs* in) {
    const KernelTable::Slot& slot = s.slot[k];
    if (slot.completed + in->finished[k] != slot.handed_out()) ++in->finished[k];
  }

  Dice dice_, slices_;
  ResourceVector limits_;
  unsigned sms_;
  std::array<ResourceVector, 2> palette_;
  std::uint16_t linger_ = 0;
  unsigned ticks_ = 0, dispatch_ = 0, finish_ = 0, most_tbs_ = 0, huge_ = 0;
};

}  // namespace smk
