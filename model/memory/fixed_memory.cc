// SPDX-License-Identifier: Apache-2.0
// The memory model `fixed`.
#include "config/machine_config.h"
#include "memory/memory_models.h"

namespace smk {
namespace {

// Every line, of whatever kind, takes the same time. There are no caches behind the SMs, so that
// each line is one of DRAM, and no bandwidth, rows or queues.
class FixedMemory : public MemoryPort {
 public:
  explicit FixedMemory(Cycle latency) : latency_(latency) {}

  Cycle Access(SmId /*sm*/, KernelId kernel, MemoryAccess access, LineRequest /*line*/,
               Cycle now) override {
    const unsigned k = Index(kernel);
    switch (access) {
      case MemoryAccess::kContextLoad:
      case MemoryAccess::kContextStore:
        stats_.context_bytes[k] += kLineBytes;
        break;
      case MemoryAccess::kStore:
        ++stats_.l2_accesses[k];
        stats_.dram_write_bytes[k] += kLineBytes;
        break;
      case MemoryAccess::kAtomic:
        stats_.dram_write_bytes[k] += kLineBytes;
        [[fallthrough]];
      case MemoryAccess::kLoad:
        ++stats_.l2_accesses[k];
        stats_.dram_read_bytes[k] += kLineBytes;
        break;
    }
    return now + latency_;
  }
  MemoryStats stats(Cycle /*now*/) const override { return stats_; }

 private:
  const Cycle latency_;
  MemoryStats stats_;
};

}  // namespace

std::unique_ptr<MemoryPort> MakeFixedMemory(const MachineConfig& machine) {
  return std::make_unique<FixedMemory>(machine.memory.fixed_latency);
}

}  // namespace smk
