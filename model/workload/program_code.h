// SPDX-License-Identifier: Apache-2.0
// Compiled warp-level program: see workload/program.h for the contract.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/program.h"

namespace smk {

// A program is immutable after compilation and shared by all runs of the process.
class Program {
 public:
  // Places the cursor on the warp's first instruction. A program always has at least kExit.
  void Start(const WarpIdentity& id, WarpCursor* cursor) const;

  // The instruction under the cursor; always a real one, never a loop or branch bookkeeping node.
  const Instruction& At(const WarpCursor& cursor) const { return nodes_[cursor.node]; }

  // Moves to the next instruction. Must not be called on kExit.
  void Advance(const WarpIdentity& id, WarpCursor* cursor) const;

  // The distinct 128-byte lines (byte addresses, multiples of 128) that a global-memory instruction
  // touches; returns their number, 1..kMaxLines. Pure: may be called more than once.
  unsigned Lines(const Instruction& instruction, const WarpIdentity& id, const WarpCursor& cursor,
                 std::uint64_t lines[kMaxLines]) const;

  unsigned num_registers() const { return num_registers_; }

 private:
  std::vector<Instruction> nodes_;
  unsigned num_registers_ = 0;
};

}  // namespace smk
