// SPDX-License-Identifier: Apache-2.0
// What an SM sees of the memory system: one call per 128-byte line, answered with its completion
// time.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "memory/memory_stats.h"

namespace smk {

enum class MemoryAccess : std::uint8_t { kLoad, kStore, kAtomic, kContextLoad, kContextStore };

// A line, and which of its sectors are asked for.
struct LineRequest {
  LineRequest(std::uint64_t line_address, SectorMask wanted = kAllSectors)
      : address(line_address), sectors(wanted) {}
  std::uint64_t address;
  SectorMask sectors;
};

// The SM's side of the memory system. Contract: Access() is called in nondecreasing order of `now`
// over all SMs, and the reservations it makes are never taken back.
class MemoryPort {
 public:
  virtual ~MemoryPort() = default;
  // The cycle, after `now`, in which the data is back at the SM (loads and atomics) or the write
  // has been accepted at its destination.
  virtual Cycle Access(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line,
                       Cycle now) = 0;
  // What was counted so far, by kernel slot.
  virtual MemoryStats stats() const = 0;
  // SystemC's time, in cycles; the calls of Access() that follow are at most a quantum ahead of it.
  virtual void NoteTime(Cycle /*systemc_now*/) {}
};

}  // namespace smk
