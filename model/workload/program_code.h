// SPDX-License-Identifier: Apache-2.0
// Compiled warp-level program: see workload/program.h for the contract.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "workload/program.h"
#include "workload/program_parts.h"
#include "workload/trace_stream.h"

namespace smk {

// What each lane of an access asks for.
struct LaneAddresses {
  unsigned count = 0;  // lanes, from lane 0 on; 0: they are not known one by one
  unsigned bytes = 0;  // of each
  std::array<std::uint64_t, kWarpThreads> address{};
};

// A program is immutable after compilation and shared by all runs of the process.
class Program {
 public:
  // `parts` come from the compiler and are consistent; a last instruction kExit is among them.
  // `records` are those of a trace, else null.
  explicit Program(ProgramParts parts, std::shared_ptr<const TraceRecords> records = nullptr);

  // Places the cursor on the warp's first instruction. A program always has at least kExit.
  void Start(const WarpIdentity& id, WarpCursor* cursor) const {
    *cursor = WarpCursor{};
    Resolve(id, cursor, 0);
  }

  // The instruction under the cursor; always a real one, never a loop or branch bookkeeping node.
  const Instruction& At(const WarpCursor& cursor) const { return parts_.nodes[cursor.node]; }

  // Where the instruction under the cursor stands in the code: what is fetched together with it.
  unsigned Place(const WarpCursor& cursor) const { return parts_.code[cursor.node]; }

  // Moves to the next instruction. Must not be called on kExit. Returns whether it stands anywhere
  // else than behind the one before. Inlined by force: the machine calls it for every instruction.
  [[gnu::always_inline]] bool Advance(const WarpIdentity& id, WarpCursor* cursor) const {
    const unsigned node = cursor->node;
    const unsigned after = parts_.after[node];
    if (__builtin_expect(after == 0, 1)) {
      ++cursor->node;
      return false;
    }
    const ControlOp& op = parts_.control[after];
    if (op.kind == ControlOp::Kind::kNextToRun && cursor->trips_left[op.level] != 0) {
      --cursor->trips_left[op.level];
      ++cursor->trip[op.level];
      cursor->node = op.node;
      return op.node != node + 1;
    }
    if (op.kind >= ControlOp::Kind::kTraceNext) {
      AdvanceTrace(id, cursor, op.kind);
    } else {
      Resolve(id, cursor, after);
    }
    return parts_.code[cursor->node] != parts_.code[node] + 1;
  }

  // The distinct 128-byte lines (byte addresses, multiples of 128) that a global-memory instruction
  // touches; returns their number, 1..kMaxLines. Pure: may be called more than once. `sectors`, if
  // it is not null, gets the sectors of each line; a gather's lanes are taken to be side by side in
  // each of its lines.
  unsigned Lines(const Instruction& instruction, const WarpIdentity& id, const WarpCursor& cursor,
                 std::uint64_t lines[kMaxLines], SectorMask* sectors = nullptr) const;

  // The same access lane by lane.
  LaneAddresses Lanes(const Instruction& instruction, const WarpIdentity& id,
                      const WarpCursor& cursor) const;

  // Record of one warp: WarpIdentity::trace. Null when the program is no trace.
  const std::uint8_t* Record(std::uint32_t tb, unsigned warp) const {
    return records_ == nullptr ? nullptr : records_->Warp(tb, warp);
  }

  // No other program of this process has it, or will.
  std::uint64_t id() const { return id_; }
  unsigned num_registers() const { return parts_.num_registers; }
  // For summaries and tests.
  const ProgramParts& parts() const { return parts_; }

 private:
  unsigned ActiveLanes(const Access& access, const WarpIdentity& id) const {
    return id.warp == parts_.last_warp && parts_.last_lanes < access.lanes ? parts_.last_lanes
                                                                           : access.lanes;
  }
  // Executes control operations from `pc` until one gives an instruction.
  void Resolve(const WarpIdentity& id, WarpCursor* cursor, unsigned pc) const;
  // Goes on in the record of a trace.
  static void AdvanceTrace(const WarpIdentity& id, WarpCursor* cursor, ControlOp::Kind kind) {
    TracePosition position = TracePosition::Of(*cursor);
    if (kind == ControlOp::Kind::kTraceAccess) {
      position.data += AccessBytes(id.trace + position.data);
    }
    if (cursor->node != position.last) {
      ++cursor->node;
    } else {
      position.run += kRunBytes;
      cursor->node = ReadTrace<std::uint16_t>(id.trace + position.run);
      position.last = ReadTrace<std::uint16_t>(id.trace + position.run + 2);
    }
    position.Keep(cursor);
  }
  static void StartTrace(const WarpIdentity& id, WarpCursor* cursor);
  unsigned Trips(const TripSource& source, const WarpIdentity& id, const WarpCursor& cursor) const;

  static std::uint64_t NewId();

  std::uint64_t id_ = NewId();
  ProgramParts parts_;
  std::shared_ptr<const TraceRecords> records_;
};

}  // namespace smk
