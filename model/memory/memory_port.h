// SPDX-License-Identifier: Apache-2.0
// What an SM sees of the memory system: one call per 128-byte line, answered with its completion
// time.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "memory/memory_stats.h"

namespace smk {

// Whose request it was, in the words of the SM that made it.
using Ticket = std::uint32_t;

// Bit 0: writes only; bit 2: of the context of a TB.
enum class MemoryAccess : std::uint8_t {
  kLoad = 0,
  kStore = 1,
  kAtomic = 2,
  kContextLoad = 4,
  kContextStore = 5,
};
constexpr bool IsStore(MemoryAccess access) { return (static_cast<unsigned>(access) & 1) != 0; }
constexpr bool OfContext(MemoryAccess access) { return (static_cast<unsigned>(access) & 4) != 0; }

// A line, and which of its sectors are asked for.
struct LineRequest {
  LineRequest(std::uint64_t line_address, SectorMask wanted = kAllSectors)
      : address(line_address), sectors(wanted) {}
  std::uint64_t address;
  SectorMask sectors;
};

// Hears of the requests that wait for their turn.
class MemoryListener {
 public:
  virtual ~MemoryListener() = default;
  // One of the answers to a request: complete in the cycle `done`, later than the present one.
  virtual void OnAnswer(SmId sm, Ticket ticket, Cycle done) = 0;
};

// The SM's side of the memory system. Contract: Access() is called in nondecreasing order of `now`
// over all SMs, and the reservations it makes are never taken back.
// Where requests wait for their turn, when one is complete depends on those that come after it:
// then Ask() takes the place of Access(), and TakeTurns() tells the completions.
class MemoryPort {
 public:
  virtual ~MemoryPort() = default;
  // The cycle, after `now`, in which the data is back at the SM (loads and atomics) or the write
  // has been accepted at its destination.
  virtual Cycle Access(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line,
                       Cycle now) = 0;
  // Requests wait for their turn.
  virtual bool InTurn() const { return false; }
  // The SM has no room for a line: Ask() has to wait.
  virtual bool Full(SmId /*sm*/) const { return false; }
  // Like Access(); the result is how many answers there will be.
  virtual unsigned Ask(SmId /*sm*/, KernelId /*kernel*/, MemoryAccess /*access*/,
                       LineRequest /*line*/, Ticket /*ticket*/, Cycle /*now*/) {
    return 0;
  }
  // The next cycle in which somebody's turn may come: TakeTurns() must be called at its end.
  virtual Cycle NextTurn() const { return ~Cycle{0}; }
  virtual void TakeTurns(Cycle /*now*/, MemoryListener* /*listener*/) {}
  // What was counted so far, by kernel slot; of DRAM's bytes those that were moved before `now`.
  virtual MemoryStats stats(Cycle now) const = 0;
};

}  // namespace smk
