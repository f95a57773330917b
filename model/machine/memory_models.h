// SPDX-License-Identifier: Apache-2.0
// The memory systems that a machine can have behind its SMs: what the key `memory.model` names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "machine/memory_port.h"

namespace smk {

struct MachineConfig;

// One of them. A new one is a file with its class and a row of MemoryModels().
struct MemoryModel {
  const char* name;
  const char* sentence;
  // Inside a SimulationContext, before SystemC's time starts.
  std::unique_ptr<MemoryPort> (*make)(const MachineConfig& machine);
};

// The first is the default of a machine.
const std::vector<MemoryModel>& MemoryModels();

// The memory of a machine, whose `memory.model` must be one of the names.
std::unique_ptr<MemoryPort> MakeMemory(const MachineConfig& machine);

// The models.
std::unique_ptr<MemoryPort> MakeGddrMemory(const MachineConfig& machine);
std::unique_ptr<MemoryPort> MakeFixedMemory(const MachineConfig& machine);

}  // namespace smk
