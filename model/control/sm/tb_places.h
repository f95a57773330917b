// SPDX-License-Identifier: Apache-2.0
// Reference of smk_tb_places: where the TBs of one SM without partitions lie.
//
// Purpose     Gives a TB its registers and shared memory: where an earlier TB of its kernel lay,
//             else behind all others, else in the first gap of each memory. Without such gaps the
//             TB waits until another one leaves.
// Paper       none ([SMK] 6.1: both memories are linearly addressed); deviations [D70] to [D73].
// Interface   look: pulse, a TB of this kernel comes. found: its place is known, in these slots
//             (allowed); chosen: pulse, it takes this slot. base follows. Outputs are registers.
// Latency     found 1 cycle after look, or after a walk over the slots: slots + 5 cycles, and as
//             many for each TB that is in the way at most. base 2 cycles after chosen.
// Throughput  One TB at a time.
// Reset       Nothing lies anywhere.
// Doc         docs/blocks/tb_places.md
// With partitions smk_partition_counters says where TBs lie, and this block does nothing.
#pragma once

#include "control/control_plane.h"
#include "control/messages.h"

namespace smk {

class TbPlaces {
 public:
  struct Config {
    unsigned num_slots = 32;
    ResourceVector limits = ControlConfig{}.limits;
  };
  struct Inputs {
    bool partitioned = false;
    const KernelViews* kernels = nullptr;  // what a TB of each needs
    // Resident TBs; the kernel of the TB that is, or was last, in each slot; TBs that go now.
    std::uint32_t slot_valid = 0;
    const std::array<KernelId, kMaxTbSlots>* slot_kernel = nullptr;
    std::uint32_t gone = 0;
    std::uint32_t pending = 0;  // empty slots that may not be taken yet
    // The TB that is launched, of this kernel: it is looked for a place; it has this slot.
    bool launching = false;
    bool look = false;
    bool chosen = false;
    std::uint8_t kernel = 0;
    std::uint8_t slot = 0;
  };
  enum class Step : std::uint8_t {
    kRest,
    kBegin,  // the walk begins at the bottom of both memories
    kSum,    // where the TB would end there
    kWalk,   // do the TBs of all slots lie elsewhere?
    kWait,   // until a TB goes
    kFound
  };
  // In one memory.
  struct Memory {
    std::array<std::uint16_t, kMaxTbSlots> base{};  // of the TB that is, or was last, in a slot
    std::uint16_t top = 0;                          // nothing lies from here on
    std::uint16_t at = 0, end = 0;                  // where the new TB may lie
    // A slot's TB, read, and where it ends, one cycle later.
    std::uint16_t read_base = 0, read_need = 0;
    std::uint16_t low = 0, high = 0;
  };
  struct State {
    Step step = Step::kRest;
    Memory registers, shared_memory;
    std::uint32_t kept = 0;   // empty slots whose last place is nobody else's
    std::uint32_t slots = 0;  // in which the TB may be placed
    bool keeps = false;       // it lies where an earlier one lay
    bool walked = false;      // it lies in a gap
    bool waiting = false;     // it has found no gap
    bool waits = false;       // pulse: that begins
    bool news = false;        // a TB has gone since the walk began
    std::uint8_t index = 0;   // slot to be read
    std::uint8_t count = 0;   // cycles since it was last moved
    bool read_valid = false;  // the slot that was read is taken
    bool valid = false;       // one cycle later
  };
  using Outputs = State;

  TbPlaces() : TbPlaces(Config{}) {}
  explicit TbPlaces(const Config& config);
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }
  // Its place is known.
  bool found() const { return state_.step == Step::kFound; }
  TbBase base() const { return {state_.registers.read_base, state_.shared_memory.read_base}; }

 private:
  void Look(const Inputs& in);
  void Begin();
  void Sum(const Inputs& in);
  void Walk(const Inputs& in);
  void Wait(const Inputs& in);
  void Choose(const Inputs& in);
  std::uint32_t Kept(const Inputs& in, bool chosen) const;
  void Read(const Inputs& in, unsigned slot);
  void GiveUp(const Inputs& in);

  Config config_;
  std::uint32_t all_;  // slots
  State state_;
};

}  // namespace smk
