// SPDX-License-Identifier: Apache-2.0
// One GDDR5 channel and its controller.
#pragma once

#include <array>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/divisor.h"
#include "config/machine_config.h"
#include "memory/calendar.h"
#include "memory/dram_bank.h"
#include "memory/memory_sockets.h"
#include "memory/memory_stats.h"
#include "memory/place_ring.h"

namespace smk {

// Purpose     Serves lines of its own address space (see AddressMap) from open-row DRAM banks.
// Reserved    Command slots of the data bus (one per tCCD), activations of the channel (one per
//             tRRD), banks (DramBank), places in the read queue and in the write buffer.
// Reads       Enter the queue when one of its places is free, join an opening of their row or
//             activate it, and take the first free slots of the bus.
// Writes      Are accepted into the write buffer and drained together when a batch is full; the
//             turnaround of the bus is paid once per batch. The buffer holds two batches.
// Time        Counts DRAM command clocks inside; requests cross from the core's clock and back by
//             rounding up to the next edge. dram_latency is added on the way back.
// Refresh     Closes the bus for tRFC at the end of every tREFI; it does not close rows.
class MemoryController final : public BlockingTarget, public sc_core::sc_module {
 public:
  // `ports` target sockets, one per initiator.
  MemoryController(sc_core::sc_module_name name, const MachineConfig& machine, unsigned ports);

  tlm::tlm_target_socket<>& socket(unsigned port) { return *sockets_[port]; }
  // Without the bytes that are moved later than `now`, as far as moves_ has them.
  MemoryStats stats(Cycle now) const;
  std::uint64_t late_reservations() const { return bus_.late() + activations_.late(); }

  // Until completion of a read; acceptance of a write.
  Cycle Serve(LineAccess* access, Cycle arrival) override;
  Cycle Read(LineAccess* access, Cycle arrival) override;
  Cycle Write(LineAccess* access, Cycle arrival) override;

 private:
  struct Location {
    unsigned bank = 0;
    unsigned slots = 0;  // of the data bus
    std::uint64_t row = 0;
  };

  Location Locate(std::uint64_t local_address, unsigned bytes) const;
  DramClock ToClocks(Cycle cycle) const { return Scale(cycle, clocks_per_cycle_); }
  Cycle ToCoreCycles(DramClock clock) const { return Scale(clock, cycles_per_clock_); }
  static std::uint64_t Scale(std::uint64_t value, std::uint64_t ratio);
  std::uint64_t Count(const LineAccess& access, bool store);
  void Note(std::uint64_t move, DramClock end);

  DramClock DrainWrites(DramClock now);
  // Plans one access; returns the end of its last slot as column commands count, before tCL or tWL.
  DramClock Plan(const Location& where, DramClock now, unsigned recovery);

  const MemoryConfig config_;
  std::vector<std::unique_ptr<tlm::tlm_target_socket<>>> sockets_;
  std::uint64_t clocks_per_cycle_, cycles_per_clock_;  // 16.48 fixed point
  Divisor bytes_per_slot_, clocks_per_slot_;
  unsigned column_bits_, bank_bits_;  // of a line's number
  unsigned turnaround_slots_;

  std::vector<DramBank> banks_;
  Calendar bus_;                 // slots of tCCD clocks
  Calendar activations_;         // slots of one clock
  PlaceRing queue_;              // of reads, in clocks
  std::vector<Location> batch_;  // writes accepted and not yet drained
  // When the last batch but one, and the last, left the buffer.
  std::array<DramClock, 2> drained_{};
  unsigned half_ = 0;  // of the buffer: where the batch gathers
  MemoryStats stats_;
  // Who moved how much, and when: the last ones, in a ring. A transfer is planned long before it
  // takes place. More than the ring holds are not planned ahead but in a backlog of half a megabyte
  // of one channel.
  struct Move {
    static constexpr unsigned kKernelBit = 8, kEndBit = 16;
    // Bit 0: a store; its bytes, a multiple of 32; kernel; clock of its end.
    std::uint64_t word = 0;

    bool store() const { return (word & 1) != 0; }
    unsigned bytes() const { return word & 0xfe; }
    unsigned kernel() const { return word >> kKernelBit & 0xff; }
    DramClock end() const { return word >> kEndBit; }
  };
  std::array<Move, 4096> moves_{};
  unsigned moved_ = 0;
};

}  // namespace smk
