// SPDX-License-Identifier: Apache-2.0
// A preemption engine with a TB table's registers, a driver and a memory around it.
#pragma once

#include <array>

#include "control/sm/preempt_engine.h"

namespace smk {

// Kernel 1: 2 units of registers, 1 of shared memory, 2 warps: 16 + 2 + 2 + 1 = 21 lines, so a
// buffer has 32 lines of 128 bytes, 4096 bytes.
struct PreemptEngineBench {
  static constexpr unsigned kLines = 21;
  static constexpr std::uint64_t kBase = 0x10000000;

  PreemptEngine engine;
  PreemptEngine::Inputs wires;  // pulses are cleared after each cycle
  std::array<KernelId, kMaxTbSlots> slot_kernel;
  std::array<TbId, kMaxTbSlots> slot_tb{};
  std::array<std::uint16_t, kMaxTbSlots> slot_buffer{};
  KernelViews views{};

  PreemptEngineBench() {
    slot_kernel.fill(KernelId{1});
    for (unsigned slot = 0; slot < kMaxTbSlots; ++slot) {
      slot_tb[slot] = static_cast<TbId>(slot + 50);
      slot_buffer[slot] = static_cast<std::uint16_t>(slot + 7);
    }
    views[1].need = {2, 1, 2, 1};
    views[1].context_base = kBase;
    views[1].context_lines = kLines;
    views[1].context_log2_lines = 5;
    wires.slot_kernel = &slot_kernel;
    wires.slot_tb = &slot_tb;
    wires.slot_buffer = &slot_buffer;
    wires.kernels = &views;
    wires.context_ready = true;
  }

  // One cycle with `wires`; keeps `running` as a TB table would.
  PreemptEngine::Outputs Step() {
    const PreemptEngine::Outputs out = engine.Eval(wires);
    wires.event_sent = out.event_valid && take_events;
    engine.Tick(wires, out);
    if (out.release_valid) wires.running &= ~(1u << Index(out.release_slot));
    if (out.loaded_valid) wires.running |= 1u << Index(out.loaded_slot);
    wires.running &= ~wires.finished;
    wires.leave = wires.load = wires.finished = 0;
    wires.leave_counted = wires.mode_valid = false;
    wires.context_done = 0;
    wires.buffer_valid = wires.buffer_none = wires.event_ack = false;
    return out;
  }
  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) Step();
  }
  // Until the first buffer is requested.
  void Leave(std::uint32_t slots, bool counted = false) {
    wires.leave = slots;
    wires.leave_counted = counted;
    wires.mode_valid = true;
    wires.whole_sm = false;
    Run(3);
  }
  void Evict(std::uint32_t slots, PreemptMode mode) {
    wires.leave = slots;
    wires.mode_valid = true;
    wires.whole_sm = true;
    wires.mode = mode;
    Run(3);
  }
  // Until the TB has stopped.
  void GiveBuffer(unsigned buffer) {
    wires.buffer_valid = true;
    wires.buffer = static_cast<std::uint16_t>(buffer);
    Run(4);
  }
  // From the buffer to the first line offered: the TB is quiet at once.
  void Drain(unsigned buffer) {
    GiveBuffer(buffer);
    wires.quiet = ~0u;
    while (step() == PreemptEngine::Step::kDrain) Step();
  }
  // All lines go out, one per cycle; all are completed in the cycle after.
  PreemptEngine::Outputs Transfer() {
    for (unsigned i = 0; i < kLines; ++i) Step();
    wires.context_done = kLines;
    return Step();
  }
  // The report and its acknowledgement, until a buffer is requested for the next TB.
  SmEvent Report() {
    const SmEvent event = Step().event;
    wires.event_ack = true;
    Run(3);
    return event;
  }
  PreemptEngine::Outputs Look() const { return engine.Eval(wires); }
  PreemptEngine::Step step() const { return engine.state().step; }

  bool take_events = true;
};

}  // namespace smk
