// SPDX-License-Identifier: Apache-2.0
// Reference of smk_sm_assign: which kernels may run on which SM.
//
// Purpose     When the set of kernels changes, decides for each SM which kernels it may host: all;
//             one (spatial partitioning, contiguous equal groups; several where there are more
//             kernels than SMs); one on the dedicated profiling SMs, if an SM is left to be shared;
//             or, when fewer kernels per SM are allowed than there are, those running on the fewest
//             SMs so far. Only the last needs a walk over the SMs.
// Paper       [SMK] Sec. 5.2 (Spart: equal number of SMs), 5.4 (profiling SMs), 5.5 (two kernels
//             per SM); deviations [D10], [D11].
// Interface   start: pulse; allowed is a register, valid for SMs before `next` while busy.
// Latency     All SMs are visible 2 cycles after start, a walk's last one num_sms + 1.
// Throughput  All SMs in one cycle, or one per cycle when they are walked.
// Reset       No kernel anywhere.
// Doc         docs/blocks/sm_assign.md
#pragma once

#include "control/messages.h"

namespace smk {

class SmAssign {
 public:
  struct Config {
    unsigned num_sms = 16;
  };
  struct Inputs {
    bool start = false;
    KernelMask members = 0;
    bool spatial = false;
    bool profile = false;  // SM i < kernels is dedicated to the i-th, if there are more SMs
    std::uint8_t kernels_per_sm = kMaxKernels;
  };
  struct State {
    bool busy = false;
    std::uint8_t next = 0;                            // SM to be decided
    KernelMask members = 0;                           // as of start
    std::array<std::uint8_t, kMaxKernels> running{};  // SMs given to each kernel so far
    std::array<KernelMask, kMaxSms> allowed{};
    std::uint8_t apart = 1;  // SMs that are so far apart host the same kernels
    SmMask changed{};        // pulses: SMs decided differently from before
  };
  // All outputs are registers.
  using Outputs = State;

  explicit SmAssign(const Config& config) : config_(config) {}
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }

 private:
  // Fewer kernels per SM than there are: an SM's depend on those of the SMs before.
  bool Walks(const Inputs& in) const;
  bool Dedicated(const Inputs& in) const;
  unsigned Apart(const Inputs& in) const;
  KernelMask Choose(const Inputs& in) const;
  void Decide(const Inputs& in);

  Config config_;
  State state_;
};

}  // namespace smk
