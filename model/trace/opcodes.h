// SPDX-License-Identifier: Apache-2.0
// Which instruction class of the machine executes an opcode of NVIDIA's SASS.
#pragma once

#include <cstdint>
#include <string_view>

#include "workload/program.h"

namespace smk {

// What an opcode is, as far as the machine cares. The memory kinds say where the addresses point.
enum class TraceKind : std::uint8_t {
  kAlu,
  kImul,
  kSfu,
  kDp,
  kConstant,
  kBranch,
  kBarrier,
  kExit,
  kTexture,  // with addresses: through L1; without: as kSfu
  kLoadGlobal,
  kLoadShared,
  kLoadLocal,
  kLoadGeneric,  // global, shared or local, by its address
  kStoreGlobal,
  kStoreShared,
  kStoreLocal,
  kStoreGeneric,
  kAtomicGlobal,
  kAtomicShared,
  kCopyAsync,   // global to shared memory; the warp goes on
  kCloseAsync,  // copies before it are a group
  kWaitAsync,   // for groups of copies
  kMembar,      // a memory barrier
  kUnknown,
};

// The kind of a full mnemonic such as "LDG.E.64.SYS" in code for a compute capability (35 to 90).
TraceKind KindOfOpcode(std::string_view opcode, unsigned binary_version);

// The mnemonic up to its first dot.
std::string_view FirstToken(std::string_view opcode);

// The last part of the mnemonic of a texture load that is written as LDG; only our own traces have
// it. Accel-Sim, whose TEX asks for no memory, takes it for a load.
inline constexpr char kTexturePart[] = ".TEX";

// Distinct addresses of a constant load: N of a part "XN", which only our own traces have, else 1.
unsigned ConstantAddresses(std::string_view opcode);

// Changes when the table does.
std::uint64_t OpcodeTableHash();

}  // namespace smk
