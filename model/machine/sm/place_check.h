// SPDX-License-Identifier: Apache-2.0
// Check of a run, always on: where the TBs of one SM lie.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/resources.h"
#include "control/control_plane.h"

namespace smk {

// Registers and shared memory of the TBs on one SM: each TB lies inside the SM and, where there are
// partitions, inside that of its kernel, and no two have anything in common. Stands beside the
// check that TBs do not take more than the SM has, and is counted with it.
class PlaceCheck {
 public:
  PlaceCheck(SmId sm, const ResourceVector& limits) : sm_(sm), limits_(limits) {}

  // A TB takes the slot: it begins at `base`; its kernel's partition is `part`, if it has one.
  void Claim(unsigned slot, const TbBase& base, const ResourceVector& need,
             const std::optional<PartitionRange>& part, Cycle now);
  // The slot is free again.
  void Free(unsigned slot) { tbs_[slot] = {}; }

 private:
  // [base, limit) in allocation units.
  struct Range {
    unsigned base = 0, limit = 0;
    bool empty() const { return base == limit; }
    bool In(const Range& whole) const { return whole.base <= base && limit <= whole.limit; }
    bool Meets(const Range& other) const {
      return !empty() && !other.empty() && base < other.limit && other.base < limit;
    }
    std::string Text() const {
      return "[" + std::to_string(base) + ", " + std::to_string(limit) + ")";
    }
  };
  struct Tb {
    Range registers, shared_memory;
  };
  void Check(unsigned slot, const char* what, Range Tb::*range, const Range& sm,
             const std::optional<Range>& part, Cycle now) const;

  SmId sm_;
  ResourceVector limits_;
  std::array<Tb, kMaxTbSlots> tbs_{};  // of a free slot empty
};

}  // namespace smk
