// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_models.h"

#include <array>

#include "base/error.h"
#include "config/machine_config.h"

namespace smk {
namespace {

// In the order of kMemoryModels.
constexpr std::array kMakers{MakeGddrMemory, MakeFixedMemory};
static_assert(kMakers.size() == kMemoryModels.size());

}  // namespace

std::unique_ptr<MemoryPort> MakeMemory(const MachineConfig& machine) {
  std::string names;
  for (unsigned i = 0; i < kMakers.size(); ++i) {
    if (machine.memory.model == kMemoryModels[i]) return kMakers[i](machine);
    names += (names.empty() ? "" : ", ") + std::string(kMemoryModels[i]);
  }
  throw InputError("memory.model: expected one of " + names + ", got " + machine.memory.model);
}

}  // namespace smk
