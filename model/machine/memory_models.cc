// SPDX-License-Identifier: Apache-2.0
#include "machine/memory_models.h"

#include "base/error.h"
#include "machine/machine_config.h"

namespace smk {

const std::vector<MemoryModel>& MemoryModels() {
  static const std::vector<MemoryModel> kModels = {
      {"gddr", "crossbar, L2 slices and GDDR5 controllers with all their limits", MakeGddrMemory},
      {"fixed", "every line after memory.fixed_latency cycles, as many at a time as are asked for",
       MakeFixedMemory}};
  return kModels;
}

std::unique_ptr<MemoryPort> MakeMemory(const MachineConfig& machine) {
  std::string names;
  for (const MemoryModel& model : MemoryModels()) {
    if (machine.memory.model == model.name) return model.make(machine);
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  throw InputError("memory.model: expected one of " + names + ", got " + machine.memory.model);
}

}  // namespace smk
