// SPDX-License-Identifier: Apache-2.0
// Reference of smk_partition_counters: where each kernel's TBs live on one SM.
//
// Purpose     Holds where the registers, shared memory, threads and TB slots of each kernel begin.
//             A TB's place follows from its slot, so TBs in a partition are aligned. When ranges
//             change, says which resident TBs are out of place.
// Paper       [SMK] Sec. 5.3.2, 6.7 (seven counters per kernel and SM); deviations [D5], [D12].
// Interface   command: kPartition, one per kernel, `first` to `last`. read: one TB at a time and
//             not while judging; slots, warps, base: registers.
// Latency     Ranges are in force 2 cycles after the last command; misaligned tells the TBs of one
//             kernel after the other, from the 3rd cycle on. Slots 1 cycle after the kernel, base 2
//             and warps 3 after the slot.
// Throughput  One command per cycle; one plan per kernels (at least four) + 3 cycles.
// Reset       No partitions: every kernel may use the whole SM.
// Doc         docs/blocks/partition_counters.md
// Does not move TBs: see smk_preempt_engine.
#pragma once

#include <algorithm>

#include "control/control_plane.h"
#include "control/messages.h"

namespace smk {

class PartitionCounters {
 public:
  struct Config {
    unsigned num_kernels = kNumKernels;
    ResourceVector limits = ControlConfig{}.limits;
  };
  struct Inputs {
    bool command_valid = false;  // a kPartition command is taken
    SmCommand command{};
    // Resident TBs: kernel of each valid slot.
    std::uint32_t slot_valid = 0;
    const std::array<KernelId, kMaxTbSlots>* slot_kernel = nullptr;
    // A TB that is launched: its kernel, its slot once there is one, what it needs.
    bool read = false;
    std::uint8_t read_kernel = 0;
    std::uint8_t read_slot = 0;
    ResourceVector read_need{};
  };
  // Of a plan, a kernel's part: where it begins, its TBs, whether it ends where the SM ends.
  struct Part {
    std::uint16_t registers = 0, shared_memory = 0, threads = 0;
    std::uint8_t tb_base = 0, tb_count = 0;
    bool at_end = false;
  };
  struct Outputs {
    bool judging = false;          // resident TBs are looked at
    std::uint32_t misaligned = 0;  // pulses: TBs out of place under the new ranges
  };
  struct State {
    bool partitioned = false;
    KernelMask valid = 0;
    std::array<Part, kMaxKernels> part{};
    KernelMask next_valid = 0;  // of the plan being received
    std::array<Part, kMaxKernels> next_part{};
    bool complete = false;  // it is complete
    KernelMask same = 0;    // kernels that begin where they began, or end with the SM as before
    KernelMask look = 0;    // the kernel whose slots are looked up, and the one that is judged
    KernelMask judge = 0;
    // Read in steps: the slots; the TB's number in its partition; its first warp slot and where its
    // registers and shared memory begin, 0 without partitions; its warp slots.
    std::uint32_t slots = 0;
    unsigned index = 0;
    unsigned first = 0;
    TbBase base{};
    std::uint64_t warps = 0;
  };

  PartitionCounters() : PartitionCounters(Config{}) {}
  explicit PartitionCounters(const Config& config)
      : limits_(config.limits),
        lookable_((1u << std::max(config.num_kernels, kMinLooks)) - 1),
        register_mask_(AllBelow(config.limits.registers)),
        shared_memory_mask_(AllBelow(config.limits.shared_memory)),
        before_mask_(std::max(AllBelow(config.limits.tbs - 1u), 1u)) {}

  Outputs Eval(const Inputs& in) const;
  void Tick(const Inputs& in);
  const State& state() const { return state_; }
  bool judging() const { return state_.complete || state_.look != 0 || state_.judge != 0; }

  // TB slots in which a TB of the kernel may be placed.
  std::uint32_t Slots(unsigned kernel) const;

 private:
  // The bits in which numbers up to this one are counted.
  static constexpr unsigned AllBelow(unsigned most) {
    unsigned mask = 0;
    while (mask < most) mask = 2 * mask + 1;
    return mask;
  }
  bool EndsWithTheSm(const PartitionRange& range) const;
  void Take(const SmCommand& command);
  void Complete();
  void Read(const Inputs& in);
  // Where the registers and shared memory of a TB of the kernel begin, with so many before it.
  TbBase Base(unsigned kernel, unsigned before, const ResourceVector& need) const;
  // Warp slots of a TB of the kernel, from its first one on.
  std::uint64_t Warps(unsigned kernel, unsigned first, unsigned warps) const;

  // Kernels are looked up for so many cycles at least.
  static constexpr unsigned kMinLooks = 4;

  ResourceVector limits_;
  unsigned lookable_;  // bit per cycle of it
  unsigned register_mask_, shared_memory_mask_, before_mask_;
  State state_;
};

}  // namespace smk
