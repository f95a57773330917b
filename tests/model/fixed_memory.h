// SPDX-License-Identifier: Apache-2.0
// Memory for tests of the SM.
#pragma once

#include <vector>

#include "memory/memory_port.h"

namespace smk {

// Answers every line after the same time and remembers when it was asked.
class FixedMemory : public MemoryPort {
 public:
  struct Call {
    MemoryAccess access;
    std::uint64_t address;
    Cycle at;
    SectorMask sectors = kAllSectors;
  };
  Cycle Access(SmId, KernelId, MemoryAccess access, LineRequest line, Cycle now) override {
    calls.push_back({access, line.address, now, line.sectors});
    return now + latency;
  }
  MemoryStats stats(Cycle /*now*/) const override { return {}; }
  Cycle latency = 300;
  std::vector<Call> calls;
};

}  // namespace smk
