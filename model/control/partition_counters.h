// SPDX-License-Identifier: Apache-2.0
// Reference of rtl/sm/smk_partition_counters.sv: where each kernel's TBs live on one SM.
//
// Purpose     Holds the ranges of registers, shared memory, threads and TB slots of each kernel. A
//             TB's place follows from its slot, so TBs in a partition are aligned. When ranges
//             change, says which resident TBs are out of place.
// Paper       [SMK] Sec. 5.3.2, 6.7 (seven counters per kernel and SM); deviations [D5], [D12].
// Interface   command: kPartition, one per kernel, `first` to `last`. Slots and Warps:
//             combinational.
// Latency     Ranges are in force the cycle after the last command; misaligned is combinational
//             with it.
// Throughput  One command per cycle.
// Reset       No partitions: every kernel may use the whole SM.
// Doc         docs/modules/partition_counters.md
// Does not move TBs: see smk_preempt_engine.
#pragma once

#include "control/messages.h"

namespace smk {

class PartitionCounters {
 public:
  struct Inputs {
    bool command_valid = false;  // a kPartition command is taken
    SmCommand command{};
    // Resident TBs: kernel of each valid slot.
    std::uint32_t slot_valid = 0;
    const std::array<KernelId, kMaxTbSlots>* slot_kernel = nullptr;
  };
  struct Outputs {
    bool commit = false;           // the last command of a plan is taken now
    std::uint32_t misaligned = 0;  // with commit: TBs out of place under the new ranges
  };
  struct State {
    bool partitioned = false;
    KernelMask valid = 0;
    std::array<PartitionRange, kMaxKernels> range{};
    KernelMask next_valid = 0;  // of the plan being received
    std::array<PartitionRange, kMaxKernels> next_range{};
  };

  Outputs Eval(const Inputs& in) const;
  void Tick(const Inputs& in);
  const State& state() const { return state_; }

  // TB slots in which a TB of the kernel may be placed, and the warp slots of the TB in one of
  // them: in a partition its aligned part.
  std::uint32_t Slots(unsigned kernel) const;
  std::uint64_t Warps(unsigned kernel, unsigned slot, unsigned threads) const;

 private:
  State Next(const Inputs& in) const;

  State state_;
};

}  // namespace smk
