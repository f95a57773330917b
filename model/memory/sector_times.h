// SPDX-License-Identifier: Apache-2.0
// When each sector of the lines of a cache is here.
//
// Purpose     The sectors of a line are fetched one by one, so each comes at a time of its own. A
//             line itself has the time of its last one, and only while that is to come does it
//             matter which sectors are wanted.
// Interface   Lines are numbers. Times have 32 bits, as a run has fewer than 2^31 cycles.
// Whole lines Where lines have no sectors, there is nothing here: exists() is false, and nothing
//             else may be called.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace smk {

// See the head of this file.
class SectorTimes {
 public:
  explicit SectorTimes(std::size_t lines) : times_(lines) {}

  bool exists() const { return !times_.empty(); }
  void Set(std::size_t line, SectorMask sectors, Cycle at) {
    Times& times = times_[line];
    for (unsigned sector = 0; sector < times.size(); ++sector) {
      if ((sectors >> sector & 1) != 0) times[sector] = static_cast<std::uint32_t>(at);
    }
  }
  // Of the last of these; 0 if there are none.
  Cycle Last(std::size_t line, unsigned sectors) const {
    std::uint32_t last = 0;
    for (; sectors != 0; sectors &= sectors - 1) {
      last = std::max(last, times_[line][static_cast<unsigned>(__builtin_ctz(sectors))]);
    }
    return last;
  }

 private:
  using Times = std::array<std::uint32_t, kLineBytes / kSectorBytes>;

  std::vector<Times> times_;
};

}  // namespace smk
