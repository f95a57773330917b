// SPDX-License-Identifier: Apache-2.0
// Reference of smk_tb_stream: TBs to wherever there is room, one per cycle.
//
// Purpose     In the modes in which the room for a TB does not depend on what the others hold
//             (partitions, left-over, spatial), a TB is dispatched in every cycle in which a kernel
//             has one, an SM has room for it and the SM can take a command. A kernel's preempted
//             TBs go before its new ones. Plans and evictions are left to tb_dispatch, before which
//             it stands back.
// Paper       [SMK] Fig. 7; deviation [D29].
// Interface   Reads the registers of the driver's other blocks. takes: the SM whose credit is used;
//             send: the TB, one cycle later. command: another cycle later.
// Latency     An SM is chosen 2 cycles after there is room, its TB one cycle later, and the command
//             is sent after another. With latency_scale n one TB per n cycles, chosen 2n cycles
//             after.
// Throughput  One TB per cycle, one per SM until its credit is back.
// Reset       Nothing chosen.
// Doc         docs/blocks/tb_stream.md
// Kernels and SMs take turns; under left-over the oldest kernel that fits on an SM has it, of those
// that need not wait for older ones.
#pragma once

#include <optional>

#include "control/driver/drf_tracker.h"
#include "control/driver/preempted_queue.h"
#include "control/driver/tb_dispatch.h"

namespace smk {

class TbStream {
 public:
  struct Config {
    unsigned num_sms = 16;
    ResourceVector limits{};
  };
  // The driver's registers, as wires into this block.
  struct Inputs {
    const PolicyConfig* policy = nullptr;
    const KernelTable::State* kernels = nullptr;
    const DrfTracker* drf = nullptr;
    const TbDispatch::State* dispatch = nullptr;
    const SmAssign::State* assign = nullptr;
    const PreemptedQueue* queue = nullptr;
    KernelMask held = 0;       // kernels that wait for older ones
    SmMask credit{};           // SMs that can take a command
    bool changes = false;      // an SM reports or gives a credit back, or a launch
    bool quota_waits = false;  // a quota command is sent in the next cycle in which the bus is free
    bool flush = false;        // SMs are assigned, kernels or plans change: what was chosen is void
  };
  struct State {
    std::array<SmMask, kMaxKernels> candidates{};  // SMs with room for a TB of each kernel
    bool chosen = false;
    std::uint8_t kernel = kMaxKernels - 1, sm = 0;  // the pair that was chosen last
    SmMask recent{};        // the SM chosen before it: not yet in the counts
    std::uint8_t wait = 0;  // cycles until the next step
    bool look = false;      // there may be room since the last cycle: it is looked for
    // The kernel and SM of the last cycle: its TB is taken away in this one.
    bool send = false;
    bool pop = false;  // it was preempted
    std::uint8_t send_kernel = 0, send_sm = 0;
    // The command, sent in this cycle.
    bool command_valid = false;
    std::uint8_t command_sm = 0;
    SmCommand command{};
    std::optional<Decision> decision{};  // made at the last edge, without its cycle; for logs
  };
  struct Outputs {
    bool takes = false;  // the credit of an SM
    std::uint8_t sm = 0;
    bool pop = false;  // for a preempted TB
  };

  explicit TbStream(const Config& config) : config_(config) {
    state_.sm = static_cast<std::uint8_t>(config.num_sms - 1);
  }
  // False: nothing will happen without an input.
  bool Awake(const Inputs& in) const;
  Outputs Eval(const Inputs& in) const;
  void Tick(const Inputs& in, const Outputs& out);
  const State& state() const { return state_; }

 private:
  bool Waits(const Inputs& in, unsigned kernel) const;
  bool Moves(const Inputs& in, const std::array<SmMask, kMaxKernels>& room) const;
  std::array<SmMask, kMaxKernels> Room(const Inputs& in) const;
  void Choose(const Inputs& in);
  void Send(const Inputs& in);

  Config config_;
  State state_;
};

}  // namespace smk
