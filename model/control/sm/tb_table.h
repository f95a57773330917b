// SPDX-License-Identifier: Apache-2.0
// Reference of smk_tb_table: the TB slots and warp slots of one SM.
//
// Purpose     Gives an arriving TB the lowest free TB slot and its warps the lowest free warp slots
//             among those it may use, one warp per cycle, and frees them when the TB is gone.
// Paper       [SMK] Sec. 5.1, 5.4 (warps are spread over the schedulers).
// Interface   dispatch: pulse, only while !launching. warp_start: one warp per cycle. finished,
//             release, loaded: pulses. activate: pulse when the last warp of a new TB is placed, or
//             a restored TB's context is loaded. load: pulse when the last warp of a restored TB is
//             placed.
// Latency     With a place at once: slot 2 cycles after dispatch, first warp 6; a TB of W warps is
//             active after W + 5.
// Throughput  One TB per W + 6 cycles.
// Reset       Empty.
// Doc         docs/blocks/tb_table.md
// Warp slot w belongs to scheduler w mod the number of schedulers.
#pragma once

#include "control/messages.h"

namespace smk {

class TbTable {
 public:
  struct Config {
    unsigned num_schedulers = 4;
    unsigned num_warps = 64;
    unsigned num_slots = 32;
  };
  struct Inputs {
    bool dispatch_valid = false;
    SmCommand dispatch{};
    // For the kernel being launched, when they are looked at; launch_warps: warps per TB.
    bool found = true;  // there is a place for it
    std::uint32_t allowed_slots = 0;
    std::uint64_t allowed_warps = 0;
    std::uint8_t launch_warps = 0;
    TbBase launch_base{};        // where its registers and shared memory begin
    std::uint32_t finished = 0;  // pulse per slot
    bool release_valid = false;  // the preemption engine frees a slot
    TbSlot release_slot{0};
    bool loaded_valid = false;  // the preemption engine has loaded a slot's context
    TbSlot loaded_slot{0};
  };
  struct Outputs {
    WarpStart warp_start{};
    std::uint32_t activate = 0;  // pulse
    std::uint32_t load = 0;      // pulse: all warps of a restored TB are placed
  };
  // Of a launch: what the kernel may use is looked up in steps, then warps start.
  enum class Step : std::uint8_t { kNone, kSlots, kChoose, kIndex, kFirst, kWarps, kStart };
  struct State {
    std::uint32_t valid = 0;
    std::uint32_t running = 0;  // active: neither being launched nor waiting for its context
    std::array<KernelId, kMaxTbSlots> kernel{};
    std::array<TbId, kMaxTbSlots> tb{};
    std::array<std::uint16_t, kMaxTbSlots> buffer{};
    std::uint64_t warp_valid = 0;
    std::array<std::uint64_t, kMaxTbSlots> warps{};  // RTL: slot number per warp
    Step step = Step::kNone;
    SmCommand launch{};
    TbSlot launch_slot{0};
    std::uint8_t launch_warp = 0;  // next warp of the TB
  };

  explicit TbTable(const Config& config) : config_(config) {}
  Outputs Eval(const Inputs& in) const;
  void Tick(const Inputs& in, const Outputs& out);
  const State& state() const { return state_; }
  bool launching() const { return state_.step != Step::kNone; }

  // Warps of a slot on one scheduler, as a mask of indices within the scheduler.
  WarpMask SchedulerWarps(std::uint64_t warps, unsigned scheduler) const;

 private:
  void Free(unsigned slot);
  void Choose(std::uint32_t allowed_slots);

  Config config_;
  State state_;
};

}  // namespace smk
