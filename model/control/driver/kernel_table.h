// SPDX-License-Identifier: Apache-2.0
// Reference of smk_kernel_table: the kernels on the GPU and their progress.
//
// Purpose     Takes launches, hands out TB indices in order, counts completed TBs, says when a
//             kernel is done, and keeps a finished kernel's place for a while so that the program's
//             next kernel finds it.
// Paper       [SMK] Sec. 5.1 (Active Queue), deviations [D7] (lingering place), [D8] (buffers).
// Interface   launch_*: stream, ready is combinational; dispatch_new: pulse; finished: count per
//             kernel.
// Latency     A launch is visible in the registers on the next edge; kernel_done one cycle after
//             the last TB's event.
// Throughput  One launch per cycle; num_sms completions per cycle.
// Reset       No kernel.
// Doc         docs/blocks/kernel_table.md
// A launch into a place that would be given away in the same cycle keeps the place.
#pragma once

#include "control/messages.h"

namespace smk {

class KernelTable {
 public:
  struct Config {
    ResourceVector limits{};
    ShareWeights weights{};
    unsigned num_kernels = kNumKernels;
  };
  struct Inputs {
    bool launch_valid = false;
    KernelId launch_kernel{0};
    KernelDescriptor launch{};
    bool dispatch_new_valid = false;  // TB index next_tb of this kernel was dispatched
    KernelId dispatch_new_kernel{0};
    std::array<std::uint8_t, kMaxKernels> finished{};  // TBs completed this cycle
    bool tick = false;
    std::uint16_t linger_ticks = 2;
  };
  struct Outputs {
    bool launch_ready = false;
    LaunchError launch_error = LaunchError::kNone;
    bool launch_fire = false;  // accepted
    bool launch_same = false;  // with launch_fire: need of the slot's last kernel, still lingering
    KernelMask kernel_done = 0;     // pulse
    KernelMask member_expired = 0;  // pulse: a finished kernel's place is given away
  };
  struct Slot {
    bool active = false;     // has TBs not yet completed
    bool member = false;     // active or lingering
    std::uint8_t order = 0;  // rank by arrival among members, 0 = oldest
    std::uint16_t linger = 0;
    ResourceVector need{};
    std::uint32_t share = 0;     // dominant share of one TB, weighted
    std::uint32_t first_tb = 0;  // indices are modulo 2^32, as in the RTL
    std::uint32_t tb_count = 0;
    std::uint32_t next_tb = 0;
    std::uint32_t completed = 0;
    // TBs not yet dispatched, and those that were.
    std::uint32_t remaining() const { return first_tb + tb_count - next_tb; }
    std::uint32_t handed_out() const { return next_tb - first_tb; }
    bool idempotent = false;
    std::uint64_t context_base = 0;
  };
  struct State {
    std::array<Slot, kMaxKernels> slot{};
    KernelMask done_pulse = 0;
    KernelMask expired_pulse = 0;
  };

  explicit KernelTable(const Config& config) : config_(config) {}
  Outputs Eval(const Inputs& in) const;
  void Tick(const Inputs& in);
  const State& state() const { return state_; }

  KernelMask active() const;
  KernelMask members() const;
  // Kernels that came after one of these.
  KernelMask YoungerThan(KernelMask kernels) const;
  KernelViews Views() const;

 private:
  LaunchError Check(const Inputs& in) const;
  void Launch(const Inputs& in);
  void RemoveFromOrder(unsigned kernel);

  Config config_;
  State state_;
};

}  // namespace smk
