// SPDX-License-Identifier: Apache-2.0
// What smk_policy_registers hears: a host that writes policies, and a chip with kernels that come
// and go.
#pragma once

#include <cstdint>
#include <vector>

#include "control/driver/policy_registers.h"
#include "policy_registers/policies.h"

namespace smk {

template <typename Dut, typename Inputs>
void DrivePolicyRegisters(const Inputs& in, Dut* dut) {
  dut->write_i = in.write;
  dut->read_i = in.read;
  dut->address_i = in.address;
  dut->data_i = in.data;
  dut->launch_taken_i = in.launch_taken;
  dut->launch_kernel_i = Index(in.launch_kernel);
  dut->kernel_done_i = in.kernel_done;
  dut->chip_awake_i = in.chip_awake;
}

// The host writes policies word by word, supported ones or not, and commits them; it reads, cancels
// and strays now and then. The chip is awake in bursts, with
// pauses about as long as `quiet`, whether a kernel is there or not.
template <typename Package>
class RandomChip {
 public:
  using Registers = PolicyRegisters<Package>;
  using Inputs = typename Registers::Inputs;

  RandomChip(std::uint64_t seed, unsigned quiet) : dice_(seed), quiet_(quiet) { RollPolicy(); }
  static Inputs Write(unsigned address, std::uint32_t data) {
    Inputs in;
    in.write = true;
    in.address = static_cast<std::uint8_t>(address);
    in.data = data;
    return in;
  }
  // Of a cycle in which launches are held off, or not.
  Inputs Next(bool holds) {
    Inputs in = Access();
    if (burst_ == 0 && pause_ == 0) {
      burst_ = dice_.Below(20);
      pause_ = 1 + (dice_.Percent(50) ? quiet_ - 3 + dice_.Below(6) : dice_.Below(100));
      launches_ = dice_.Percent(50) ? 1 : 5;
    }
    in.chip_awake = burst_ != 0;
    (burst_ != 0 ? burst_ : pause_) -= 1;
    in.kernel_done = static_cast<std::uint8_t>(present_ & dice_.Sparse(7));
    present_ &= ~unsigned{in.kernel_done};
    in.launch_kernel = static_cast<KernelId>(dice_.Below(Package::NumKernels));
    const unsigned slot = 1u << Index(in.launch_kernel);
    in.launch_taken = !holds && (present_ & slot) == 0 && dice_.Percent(launches_);
    if (in.launch_taken) present_ |= slot;
    return in;
  }

 private:
  Inputs Access() {
    if (dice_.Percent(80)) return {};
    Inputs in;
    if (dice_.Percent(85)) {
      in = at_ < Registers::kWords ? Write(at_, words_[at_]) : Write(at_, Registers::kCommit);
      if (++at_ > Registers::kWords) RollPolicy();
    } else {
      in = Write(dice_.Below(Registers::kWords + 3), static_cast<std::uint32_t>(dice_.Bits()));
      in.write = dice_.Percent(20);
    }
    in.read = !in.write || dice_.Percent(20);
    return in;
  }
  void RollPolicy() {
    static const std::vector<BadPolicy> kBad = BadPolicies<Package>();
    PolicyConfig policy = RandomPolicy<Package>(&dice_);
    if (dice_.Percent(25)) {
      kBad[dice_.Below(static_cast<unsigned>(kBad.size()))].make(&policy);
    } else if (dice_.Percent(10)) {
      policy = PoliciesAtTheirBounds<Package>()[dice_.Below(2)];
    }
    words_ = PolicyWords<Package>::Of(policy);
    at_ = 0;
  }

  Dice dice_;
  unsigned quiet_, at_ = 0, burst_ = 0, pause_ = 0, launches_ = 2, present_ = 0;
  typename Registers::Words words_{};
};

}  // namespace smk
