// SPDX-License-Identifier: Apache-2.0
// A kernel's warp-level program in compiled form, and how a warp walks through it.
//
// Purpose   What the SM model executes: a flat array of instructions with register numbers,
//           structured loops and conditionals resolved by a small cursor, and line addresses
//           computed on demand.
// Contract  Everything here is a pure function of (program, TB, warp, cursor, seed): two runs, or a
//           run with a preemption in the middle, see the same instructions and the same addresses.
// Speed     At() and Advance() run once per issued warp instruction and are inline; nothing
//           allocates.
// Traces    of real GPUs are programs too: a table of instructions, and for each warp a record of
//           the order in which it executes them (trace_stream.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/resources.h"

namespace smk {

// What unit executes an instruction. Latency and initiation interval come from the machine file.
enum class OpClass : std::uint8_t {
  kAlu,         // floating-point add, multiply, fma; integer add, logic, compare, convert: SP pipe
  kImul,        // integer multiply, multiply-add: SFU pipe in the papers' simulator
  kSfu,         // transcendental, division: SFU pipe
  kDp,          // double precision
  kLoadShared,  // `conflicts` passes through the banks
  kStoreShared,
  kAtomicShared,
  kLoadConst,     // constant cache; `conflicts` distinct addresses
  kLoadGlobal,    // through L1
  kTexture,       // through L1, like kLoadGlobal
  kStoreGlobal,   // write-through
  kAtomicGlobal,  // at L2, returns a value when dst is set
  kBarrier,       // of the whole TB
  kBranch,        // costs an issue slot and the branch delay
  kExit,
};
inline constexpr unsigned kNumOpClasses = 15;

inline constexpr std::uint8_t kNoRegister = 0xff;
// Registers that several instructions in flight may write (Special::kJoins): the last ones.
inline constexpr unsigned kAsyncRegisters = 8;
inline constexpr std::uint8_t kFirstAsyncRegister = kNoRegister - kAsyncRegisters;
inline constexpr unsigned kMaxRegisters = 48;  // virtual registers of a warp, for dependences
inline constexpr unsigned kMaxLoops = 6;       // nesting depth
inline constexpr unsigned kMaxLines = 32;      // distinct 128-byte lines of one warp access

// What an instruction does besides what its class does.
enum class Special : std::uint8_t {
  kNone,
  // An asynchronous copy. `dst` is one of kAsyncRegisters; who reads it waits for all that write
  // it.
  kJoins,
  // A memory barrier: the warp's next instruction waits for the results of all before it, but for
  // those of asynchronous copies.
  kMembar,
};

// One warp instruction.
struct Instruction {
  OpClass op = OpClass::kAlu;
  std::uint8_t dst = kNoRegister;
  std::uint8_t src[3] = {kNoRegister, kNoRegister, kNoRegister};
  std::uint8_t conflicts = 1;     // shared: bank passes; const: distinct addresses
  std::uint16_t access = 0;       // index of the memory access, global ops only
  bool ends_idempotence = false;  // once issued, the TB can no longer be flushed
  Special special = Special::kNone;
};

// Where a warp is. Trivially copyable: it is part of a saved context. A trace keeps its position
// in the loop counters.
struct WarpCursor {
  std::uint16_t node = 0;  // position in the program's instruction list
  std::uint16_t trips_left[kMaxLoops] = {};
  std::uint16_t trip[kMaxLoops] = {};  // loop counters, from 0; 0 outside the loop
};

// Which warp of which TB of which launch; fixed while the warp lives.
struct WarpIdentity {
  std::uint32_t tb = 0;  // linear TB index
  std::uint16_t tb_x = 0, tb_y = 0, tb_z = 0;
  std::uint16_t warp = 0;    // within the TB
  std::uint64_t key = 0;     // hash of (seed, program, launch, tb, warp): the warp's own draws
  std::uint64_t tb_key = 0;  // hash of (seed, program, launch, tb): draws all warps of a TB share
  std::uint64_t base = 0;    // byte address of the program's memory, a multiple of 128
  const std::uint8_t* trace = nullptr;  // the warp's record, if the program is a trace
};

}  // namespace smk
