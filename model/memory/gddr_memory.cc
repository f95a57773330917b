// SPDX-License-Identifier: Apache-2.0
// The memory model `gddr`: a MemorySystem as the SMs see it.
#include <algorithm>

#include "config/machine_config.h"
#include "memory/memory_models.h"
#include "memory/memory_system.h"

namespace smk {
namespace {

// Requests run ahead of SystemC's time.
class GddrMemory : public MemoryPort {
 public:
  explicit GddrMemory(const MachineConfig& machine) : memory_("memory", machine) {}

  // Flattened: a call more would save and restore the registers once more for the crossbar.
  [[gnu::flatten]] Cycle Access(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line,
                                Cycle now) override {
    // Member by member. An aggregate is copied in words that have just been written in bytes, for
    // which the host waits.
    LineAccess request;
    request.address = line.address;
    if (line.sectors != kAllSectors) {
      request.sectors = line.sectors;
      request.bytes = BytesOf(line.sectors);
    }
    request.kernel = kernel;
    request.sm = sm;
    request.access = access;
    return std::max(memory_.Serve(request, now), now + 1);
  }
  bool InTurn() const override { return memory_.InTurn(); }
  bool Full(SmId sm) const override { return memory_.Full(sm); }
  unsigned Ask(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line, Ticket ticket,
               Cycle now) override {
    return memory_.Ask(sm, kernel, access, line, ticket, now);
  }
  Cycle NextTurn() const override { return memory_.NextTurn(); }
  void TakeTurns(Cycle now, MemoryListener* listener) override { memory_.TakeTurns(now, listener); }
  MemoryStats stats(Cycle now) const override { return memory_.stats(now); }

 private:
  MemorySystem memory_;
};

}  // namespace

std::unique_ptr<MemoryPort> MakeGddrMemory(const MachineConfig& machine) {
  return std::make_unique<GddrMemory>(machine);
}

}  // namespace smk
