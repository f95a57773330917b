// SPDX-License-Identifier: Apache-2.0
// Reference of smk_partition_planner: how many TBs of each kernel share one SM.
//
// Purpose     Starts from an empty SM and adds one TB per cycle for the kernel with the lowest rK
//             among those whose next TB still fits, until none fits; then the ranges are laid out
//             in order of arrival, so that older kernels need not move [D5]. The last one may end
//             where the SM ends: then it need not move either when the others take more or less.
// Paper       [SMK] Sec. 5.3.2, Fig. 6 and 8. Also the even split and fixed tables of
//             [Warped-Slicer]. Deviations [D3], [D4], [D5].
// Interface   start: pulse with a set of kernels, not empty; done: pulse; ranges hold until the
//             next start.
// Latency     done is visible TBs planned + 2 cycles after start.
// Throughput  One TB per cycle.
// Reset       Idle.
// Doc         docs/blocks/partition_planner.md
// Ties of rK go to the kernel with more TBs planned (the smaller step), then to the lowest id: this
// is the order of Fig. 8 [D3]. When not even one TB of each kernel fits together, the kernels of
// the plan take turns at going first among the SMs that host the same, so that none is left out
// everywhere; under the even split one TB may take more than its part for the same reason [D4].
#pragma once

#include "control/driver/kernel_table.h"

namespace smk {

class PartitionPlanner {
 public:
  struct Config {
    ResourceVector limits{};
  };
  struct Inputs {
    bool start = false;
    KernelMask kernels = 0;
    SmId sm{0};
    std::uint8_t apart = 1;  // SMs that are so far apart host the same kernels
    DispatchMode mode = DispatchMode::kPartitioned;
    std::array<std::uint8_t, kMaxKernels> table{};
    bool last_at_end = false;                          // the last range ends where the SM ends
    const KernelTable::State* kernel_table = nullptr;  // registers of kernel_table
  };
  struct State {
    bool busy = false;
    bool done = false;  // pulse
    KernelMask kernels = 0;
    bool anywhere = false;   // the plan is the same on every SM
    std::uint8_t first = 0;  // who goes first among kernels with equal rK and TBs
    std::array<std::uint8_t, kMaxKernels> order{};  // of arrival, as it was when the plan began
    ResourceVector taken{};
    std::array<ResourceVector, kMaxKernels> part{};  // taken by each kernel; part[k].tbs = its TBs
    std::array<std::uint32_t, kMaxKernels> share{};  // rK on this SM, weighted
    std::array<PartitionRange, kMaxKernels> range{};
  };
  // All outputs are registers.
  using Outputs = State;

  explicit PartitionPlanner(const Config& config) : config_(config) {}
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }

 private:
  bool Eligible(unsigned kernel, const Inputs& in, const KernelTable::State& kernels) const;
  bool Before(unsigned a, unsigned b) const;
  static std::uint8_t First(const Inputs& in);
  void LayOut(bool last_at_end);

  Config config_;
  State state_;
};

}  // namespace smk
