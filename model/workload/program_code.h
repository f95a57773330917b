// SPDX-License-Identifier: Apache-2.0
// Compiled warp-level program: see workload/program.h for the contract.
#pragma once

#include <cstdint>
#include <utility>

#include "workload/program.h"
#include "workload/program_parts.h"

namespace smk {

// A program is immutable after compilation and shared by all runs of the process.
class Program {
 public:
  // `parts` come from the compiler and are consistent; a last instruction kExit is among them.
  explicit Program(ProgramParts parts) : parts_(std::move(parts)) {}

  // Places the cursor on the warp's first instruction. A program always has at least kExit.
  void Start(const WarpIdentity& id, WarpCursor* cursor) const {
    *cursor = WarpCursor{};
    Resolve(id, cursor, 0);
  }

  // The instruction under the cursor; always a real one, never a loop or branch bookkeeping node.
  const Instruction& At(const WarpCursor& cursor) const { return parts_.nodes[cursor.node]; }

  // Moves to the next instruction. Must not be called on kExit.
  void Advance(const WarpIdentity& id, WarpCursor* cursor) const {
    const unsigned after = parts_.after[cursor->node];
    if (__builtin_expect(after == 0, 1)) {
      ++cursor->node;
      return;
    }
    const ControlOp& op = parts_.control[after];
    if (op.kind == ControlOp::Kind::kNextToRun && cursor->trips_left[op.level] != 0) {
      --cursor->trips_left[op.level];
      ++cursor->trip[op.level];
      cursor->node = op.node;
      return;
    }
    Resolve(id, cursor, after);
  }

  // The distinct 128-byte lines (byte addresses, multiples of 128) that a global-memory instruction
  // touches; returns their number, 1..kMaxLines. Pure: may be called more than once.
  unsigned Lines(const Instruction& instruction, const WarpIdentity& id, const WarpCursor& cursor,
                 std::uint64_t lines[kMaxLines]) const;

  unsigned num_registers() const { return parts_.num_registers; }
  // For summaries and tests.
  const ProgramParts& parts() const { return parts_; }

 private:
  // Executes control operations from `pc` until one gives an instruction.
  void Resolve(const WarpIdentity& id, WarpCursor* cursor, unsigned pc) const;
  unsigned Trips(const TripSource& source, const WarpIdentity& id, const WarpCursor& cursor) const;

  ProgramParts parts_;
};

}  // namespace smk
