// SPDX-License-Identifier: Apache-2.0
// Tags of an SM's L1 data cache, with the lines in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "config/machine_config.h"
#include "machine/lanes.h"
#include "memory/sector_times.h"

namespace smk {

// Set-associative, LRU, 128-byte lines, tags only. A line gets its place when the miss is sent and
// is in flight until its fill cycle; a line in flight is never replaced. If all ways of a set are
// in flight, the new line gets no place: it serves only the access that asked for it. Whoever
// does not want that asks PlaceAt() before. Sets are
// indexed by the exclusive or of three address fields when their number is a power of two
// (power-of-two strides would meet in one set otherwise), modulo if not. `bytes` of 0 means no
// cache. `sectored`: a line is fetched sector by sector; each is there in a cycle of its own, and
// the line is in flight until the last is. Stores and replacement look at the line.
class L1Cache {
 public:
  struct Line {
    std::uint64_t tag = ~std::uint64_t{0};
    std::uint32_t fill = 0;    // cycle from which all of its data is there
    std::uint32_t used = 0;    // LRU order
    std::uint16_t merges = 0;  // accesses served while in flight, the first included
    SectorMask sectors = 0;    // present or in flight
  };

  L1Cache(const CacheConfig& config, bool sectored);

  bool absent() const { return sets_ == 0; }
  // The line if some of it is present or in flight, moved to the young end; nullptr otherwise.
  Line* Find(std::uint64_t address);
  // When a missing line can have a place: at most `now` if there is one, else when the first line
  // of its set is there.
  Cycle PlaceAt(std::uint64_t address) const;
  // Gives a missing line a place, if there is one.
  void Allocate(std::uint64_t address, Cycle now, Cycle fill, SectorMask sectors = kAllSectors);
  // More sectors of a line that has a place, fetched together; none is present or in flight.
  void Add(Line* line, SectorMask sectors, Cycle fill);
  // When these sectors, all present or in flight, are there; at most `now` if they are.
  Cycle Ready(const Line& line, unsigned sectors, Cycle now) const {
    if (line.fill <= now || !times_.exists()) return line.fill;
    return times_.Last(Number(line), sectors);
  }
  // Write-evict: a store removes its line, unless it is in flight.
  void Evict(std::uint64_t address, Cycle now);
  // Invalidates all lines but those in flight.
  void Flush(Cycle now);

 private:
  std::size_t FirstOfSet(std::uint64_t tag) const;
  Line* Set(std::uint64_t tag) { return &lines_[FirstOfSet(tag)]; }
  // The line of a set that has the tag, or nullptr.
  Line* In(Line* set, std::uint64_t tag) const;
  std::size_t Number(const Line& line) const {
    return static_cast<std::size_t>(&line - lines_.data());
  }

  std::vector<Line> lines_;
  unsigned ways_;
  unsigned sets_;
  unsigned shift_ = 0;  // log2 of a power-of-two number of sets
  bool power_of_two_ = false;
  std::uint32_t clock_ = 0;
  SectorTimes times_;
};

}  // namespace smk
