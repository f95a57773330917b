// SPDX-License-Identifier: Apache-2.0
// The memory systems that a machine can have behind its SMs: what the key `memory.model` names.
#pragma once

#include <memory>

#include "memory/memory_port.h"

namespace smk {

struct MachineConfig;

// The memory of a machine, whose `memory.model` must be one of kMemoryModels. Inside a
// SimulationContext, before SystemC's time starts.
std::unique_ptr<MemoryPort> MakeMemory(const MachineConfig& machine);

// `gddr`: crossbar, L2 slices and GDDR5 controllers with all their limits.
std::unique_ptr<MemoryPort> MakeGddrMemory(const MachineConfig& machine);
// `fixed`: every line after memory.fixed_latency cycles, as many at a time as are asked for.
std::unique_ptr<MemoryPort> MakeFixedMemory(const MachineConfig& machine);

}  // namespace smk
