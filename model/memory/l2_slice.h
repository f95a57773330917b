// SPDX-License-Identifier: Apache-2.0
// One slice of the L2 cache.
#pragma once

#include <cstddef>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/divisor.h"
#include "config/machine_config.h"
#include "memory/cache_sets.h"
#include "memory/calendar.h"
#include "memory/memory_sockets.h"
#include "memory/memory_stats.h"
#include "memory/place_ring.h"
#include "memory/sector_times.h"

namespace smk {

// Purpose     Set-associative, LRU, write-back cache of the lines that AddressMap gives it;
//             addresses are those of its controller.
// Reserved    Cycles of the data array (l2_bytes_per_cycle), MSHRs, places of the eviction buffer.
// Reads       A hit's data leave `latency` cycles after it arrives. A miss leaves for the
//             controller at that time, and its data go on to the SM when they come back.
// In flight   A read of a line in flight completes with it (no DRAM access); one that finds
//             mshr_merges others waiting goes through the pipeline again after them.
// Writes      Allocate without a fetch and are accepted when the data array has taken them; those
//             that are acknowledged have their reply `latency` cycles later. A line
//             knows how many of its bytes were written, but not which: writes to parts of a line
//             are taken to be disjoint until it is whole. A read of a line that is not whole
//             fetches it.
//             With l2_write_miss `fetch` a store that misses, or whose line is in flight, goes on
//             to the controller; a miss reads the line, which is not dirty then.
// Sectors     Where lines have sectors, the line knows which are here: a read fetches those that
//             are missing, and a written one is taken to be written whole. Each is in flight by
//             itself: what of a line is here is hit while others are fetched. Merges are counted,
//             and victims chosen, by the line.
// Atomics     Read, then write in the same place: one more pass through the data array.
// Evictions   Dirty bytes go to the controller when the line is replaced. A line in flight stays.
class L2Slice final : public BlockingTarget, public sc_core::sc_module {
 public:
  L2Slice(sc_core::sc_module_name name, const MemoryConfig& config);

  tlm::tlm_target_socket<>& socket() { return socket_; }
  BlockingSocket& memory_socket() { return memory_socket_; }
  const MemoryStats& stats() const { return stats_; }
  std::uint64_t late_reservations() const { return array_.late(); }

  // Until a read's data leave the slice, or a write is accepted. Sets l2_hit.
  Cycle Serve(LineAccess* access, Cycle arrival) override;
  Cycle Read(LineAccess* access, Cycle arrival) override;
  Cycle Write(LineAccess* access, Cycle arrival) override;

 private:
  struct Line {
    std::uint64_t address = 0;
    std::uint32_t ready = 0;  // when all of its data are here: a run has fewer than 2^31 cycles
    std::uint8_t valid = 0;   // bytes; where lines have sectors, their mask
    std::uint8_t dirty = 0;   // likewise
    std::uint8_t merges = 0;  // reads that wait for the line in flight
    KernelId writer{0};
  };
  // A request, and where its line is to be found.
  struct Access {
    const LineAccess& line;
    Cycle arrival;
    unsigned set;
    std::uint32_t tag;
  };

  Access Decode(const LineAccess& line, Cycle arrival) const;
  Line* Find(const Access& access);
  unsigned Victim(unsigned set, Cycle arrival) const;
  unsigned FirstReady(const Line* lines) const;
  Line* Replace(const Access& access, Cycle* start);
  void WriteOut(const Line& line, unsigned bytes, KernelId kernel, SmId sm, Cycle delay,
                Cycle* start);
  // The access by value: a reference would keep it in memory where it is made.
  Cycle WriteMiss(Access access, Line* line);
  void Count(LineAccess* request, bool hit);
  Cycle ReadPresent(const Access& access, Line* line, unsigned passes, bool* hit);
  Cycle Fetch(const Access& access, Line* line, Cycle start, unsigned passes);
  Cycle AddSectors(SectorMask wanted, Line* line, Cycle ready);
  void Modify(const Access& access, Line* line);
  // When all that the access wants is here, if nothing is missing; at most its arrival if it is.
  Cycle Ready(const Access& access, const Line& line) const;
  // Bytes of the access that the line has not got.
  unsigned Missing(const Access& access, const Line& line) const;
  std::size_t Number(const Line& line) const {
    return static_cast<std::size_t>(&line - lines_.data());
  }
  unsigned Bytes(std::uint8_t amount) const { return sectored_ ? BytesOf(amount) : amount; }

  tlm::tlm_target_socket<> socket_;
  BlockingSocket memory_socket_;
  unsigned ways_, set_bits_;
  std::uint64_t set_mask_, chunk_mask_;  // of a line's number
  unsigned slice_bits_;
  unsigned merges_;
  Divisor bytes_per_cycle_;
  bool sectored_, fetches_writes_;
  Cycle latency_, write_latency_;

  CacheSets sets_;
  std::vector<Line> lines_;  // by set and way
  Calendar array_;
  PlaceRing mshrs_, evictions_;
  MemoryStats stats_;
  SectorTimes times_;  // by number of a line
};

}  // namespace smk
