// SPDX-License-Identifier: Apache-2.0
// The memory model `gddr`: a MemorySystem as the SMs see it.
#include <algorithm>

#include "base/error.h"
#include "config/machine_config.h"
#include "memory/memory_models.h"
#include "memory/memory_system.h"

namespace smk {
namespace {

// Requests run ahead of SystemC's time, which NoteTime() tells, by their delay.
class GddrMemory : public MemoryPort {
 public:
  explicit GddrMemory(const MachineConfig& machine)
      : memory_("memory", machine), sectored_(machine.memory.sector_bytes != kLineBytes) {}

  Cycle Access(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line,
               Cycle now) override {
    const bool store = access == MemoryAccess::kStore || access == MemoryAccess::kContextStore;
    const bool context =
        access == MemoryAccess::kContextStore || access == MemoryAccess::kContextLoad;
    const SectorMask sectors = sectored_ ? line.sectors : kAllSectors;
    const unsigned bytes =
        sectored_ ? static_cast<unsigned>(__builtin_popcount(sectors)) * kSectorBytes : kLineBytes;
    if (store) {
      transaction_.SetWrite(line.address, bytes);
    } else {
      transaction_.SetRead(line.address, bytes);
    }
    MemoryExtension& extension = transaction_.extension();
    extension.kernel = kernel;
    extension.sectors = sectors;
    extension.sm = sm;
    extension.kind = context ? MemoryKind::kContext : MemoryKind::kDemand;
    extension.atomic = access == MemoryAccess::kAtomic;
    sc_core::sc_time delay = CoreCycles(now - systemc_now_);
    memory_.Transport(transaction_.payload(), delay);
    if (transaction_.payload().is_response_error()) {
      throw CheckFailure(
          "cycle " + std::to_string(now) + ": SM " + std::to_string(Index(sm)) +
          ": memory refused a request: " + transaction_.payload().get_response_string());
    }
    return std::max(systemc_now_ + ToCycles(delay), now + 1);
  }
  bool InTurn() const override { return memory_.InTurn(); }
  bool Full(SmId sm) const override { return memory_.Full(sm); }
  unsigned Ask(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line, Ticket ticket,
               Cycle now) override {
    return memory_.Ask(sm, kernel, access, line, ticket, now);
  }
  Cycle NextTurn() const override { return memory_.NextTurn(); }
  void TakeTurns(Cycle now, MemoryListener* listener) override { memory_.TakeTurns(now, listener); }
  MemoryStats stats() const override { return memory_.stats(); }
  void NoteTime(Cycle systemc_now) override { systemc_now_ = systemc_now; }

 private:
  MemorySystem memory_;
  const bool sectored_;
  MemoryTransaction transaction_;
  Cycle systemc_now_ = 0;
};

}  // namespace

std::unique_ptr<MemoryPort> MakeGddrMemory(const MachineConfig& machine) {
  return std::make_unique<GddrMemory>(machine);
}

}  // namespace smk
