// SPDX-License-Identifier: Apache-2.0
// Counters of the memory system, by kernel slot.
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.h"

namespace smk {

using SlotCounters = std::array<std::uint64_t, kNumKernels>;

// Every counter only grows. An access is one request for one 128-byte line.
struct MemoryStats {
  SlotCounters l2_accesses{};       // demand reads, writes and atomics
  SlotCounters l2_hits{};           // of these: the line was present (and whole, for a read)
  SlotCounters l2_merges{};         // of these: line in flight, completes with it (not a hit)
  SlotCounters dram_read_bytes{};   // of L2 misses
  SlotCounters dram_write_bytes{};  // of L2 evictions, for the kernel that last wrote the line
  SlotCounters context_bytes{};     // context lines stored and loaded
  std::uint64_t row_hits = 0;       // DRAM accesses that needed no activation
  std::uint64_t row_misses = 0;     // DRAM accesses that activated their row
  // For which a calendar no longer knew what was free: Calendar::late().
  std::uint64_t late_reservations = 0;

  MemoryStats& operator+=(const MemoryStats& o) {
    for (unsigned k = 0; k < kNumKernels; ++k) {
      l2_accesses[k] += o.l2_accesses[k];
      l2_hits[k] += o.l2_hits[k];
      l2_merges[k] += o.l2_merges[k];
      dram_read_bytes[k] += o.dram_read_bytes[k];
      dram_write_bytes[k] += o.dram_write_bytes[k];
      context_bytes[k] += o.context_bytes[k];
    }
    row_hits += o.row_hits;
    row_misses += o.row_misses;
    late_reservations += o.late_reservations;
    return *this;
  }
};

}  // namespace smk
