// SPDX-License-Identifier: Apache-2.0
// The parts of a compiled program: plain data that the compiler fills and Program executes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/program.h"

namespace smk {

// What an address, a condition or a trip count may depend on; loop counters follow, outermost
// first.
enum class Variable : std::uint8_t { kTb, kTbX, kTbY, kTbZ, kWarp, kLoop };
// Those before it are the TB's.
inline constexpr unsigned kWarpVariable = static_cast<unsigned>(Variable::kWarp);
inline constexpr unsigned kNumFixedVariables = 5;
inline constexpr unsigned kNumVariables = kNumFixedVariables + kMaxLoops;

constexpr std::uint32_t VariableValue(unsigned variable, const WarpIdentity& id,
                                      const WarpCursor& cursor) {
  switch (variable) {
    case 0:
      return id.tb;
    case 1:
      return id.tb_x;
    case 2:
      return id.tb_y;
    case 3:
      return id.tb_z;
    case 4:
      return id.warp;
    default:
      return cursor.trip[variable - kNumFixedVariables];
  }
}

// Bookkeeping between instructions. Executed by Advance() until an instruction is reached.
struct ControlOp {
  enum class Kind : std::uint8_t {
    kRun,          // continue at instruction `node`
    kLoop,         // draw the trips of loop `level` from `source`; none: go to `target`
    kNext,         // end of a body: next trip at `target`, or fall through
    kNextToRun,    // the same, when the body begins with the instruction `node`
    kIf,           // outcome of condition `source` without its first side: go to `target`
    kElse,         // end of the first side: without the second side go to `target`
    kTraceStart,   // a trace: the first instruction of the warp's record
    kTraceNext,    // a trace: what the record says comes next
    kTraceAccess,  // the same after a memory instruction
  };
  Kind kind = Kind::kRun;
  std::uint8_t level = 0;
  std::uint16_t node = 0;
  std::uint16_t target = 0;
  std::uint16_t source = 0;
};

// Where the trip count of a loop comes from.
struct TripSource {
  enum class Kind : std::uint8_t {
    kConstant,  // low
    kUniform,   // low..high, all equally likely
    kWeighted,  // first table entry whose bound is above 32 random bits
    kSteps,     // first table entry whose bound is above the variable
  };
  Kind kind = Kind::kConstant;
  bool per_tb = false;  // all warps of a TB draw the same
  std::uint8_t variable = 0;
  std::uint16_t low = 1;
  std::uint32_t range = 1;  // high - low + 1
  std::uint32_t first = 0;  // table entries
  std::uint32_t site = 0;
};

struct TripEntry {
  std::uint64_t below = 0;
  std::uint16_t trips = 0;
};

// Which sides of a conditional a warp executes: bit 0 the first, bit 1 the second.
struct Condition {
  enum class Kind : std::uint8_t { kChance, kCompare };
  Kind kind = Kind::kChance;
  bool per_tb = false;
  bool negate = false;
  std::uint8_t variable = 0;
  std::uint32_t site = 0;
  std::uint64_t first_below = 0;  // kChance: draw below executes the first side,
  std::uint64_t second_from = 0;  // at or above the second; both when they overlap
  std::uint32_t modulus = 0;      // kCompare: low <= variable (mod modulus) <= high; 0: no modulus
  std::uint32_t low = 0, high = 0;
};

// base + sum of coefficient x variable.
struct Affine {
  std::int64_t base = 0;
  std::array<std::int64_t, kNumVariables> coefficient{};
};

// A two-dimensional array, kept in tiles of one line each, row of tiles after row of tiles: the
// layout to which a texture is bound.
struct TileShape {
  std::uint32_t width = 0, height = 0;  // texels
  std::uint8_t bytes = 0;               // of a texel, a power of two
  std::uint8_t column_bits = 0;         // log2 of a tile's texels in a row
  std::uint8_t row_bits = 0;            // log2 of a tile's rows

  // 128-byte tiles: 16 columns of texels of up to 2 bytes, 8 of 4 and 8 bytes, 4 of 16 bytes.
  static constexpr TileShape Of(std::uint32_t width, std::uint32_t height, unsigned bytes) {
    TileShape shape{width, height, static_cast<std::uint8_t>(bytes)};
    shape.column_bits = bytes < 4 ? 4 : bytes < 16 ? 3 : 2;
    while ((bytes << shape.column_bits << shape.row_bits) < kLineBytes) ++shape.row_bits;
    return shape;
  }
  std::uint32_t TilesPerRow() const { return ((width - 1) >> column_bits) + 1; }
  std::uint64_t Size() const {
    return std::uint64_t{TilesPerRow()} * (((height - 1) >> row_bits) + 1) * kLineBytes;
  }
  // Byte offset of the line that has the texel; of the texel in its line.
  std::uint64_t Line(std::uint32_t x, std::uint32_t y) const {
    return (std::uint64_t{y >> row_bits} * TilesPerRow() + (x >> column_bits)) * kLineBytes;
  }
  std::uint32_t InLine(std::uint32_t x, std::uint32_t y) const {
    const std::uint32_t column = x & ((1u << column_bits) - 1);
    return ((y & ((1u << row_bits) - 1)) << column_bits | column) * bytes;
  }
};

// One texel per lane: that at position from + lane x step of a window `columns` wide whose first
// texel is (x, y). Coordinates are clamped to the array; lanes behind the window are idle.
struct Texels {
  TileShape tiles;
  Affine x, y, from;
  std::uint32_t columns = 32, rows = 1, step = 1;
};

// The lines that one global-memory instruction touches.
struct Access {
  enum class Pattern : std::uint8_t {
    kRun,     // all lanes in one contiguous range
    kLanes,   // rows of lanes, or a stride above a line
    kGather,  // random lines of a window
    kTexels,  // texels of a tiled array
    kTrace,   // as recorded
  };
  Pattern pattern = Pattern::kRun;
  bool ordered = true;  // kLanes: lines come in ascending order
  std::uint8_t lanes = 32;
  std::uint8_t row_lanes = 32;  // lanes per row
  std::uint32_t bytes = 4;      // per lane
  std::int32_t stride = 4;      // bytes between lanes of a row
  std::int64_t pitch = 0;       // bytes between rows
  std::uint64_t start = 0;      // of the array, in the program's memory; a multiple of 128
  std::uint64_t size = 0;       // of the array; a multiple of 128
  Affine offset;                // of lane 0, bytes
  std::uint32_t site = 0;
  std::uint32_t window_lines = 0;  // kGather
  std::uint32_t whole_lines = 0;   // kGather: mean distinct lines = whole + fraction
  std::uint64_t extra_below = 0;   // kGather: draw below gives one line more
  std::uint64_t far_below = 0;     // kGather: draw below sends a line anywhere in the array
  std::uint16_t texels = 0;        // kTexels: which of ProgramParts::texels
};

// What the compiler knows of an instruction beyond what the SM needs; for summaries and tests.
struct NodeInfo {
  double executions = 0;                             // expected, per warp
  int line = 0;                                      // of the source file
  std::array<std::uint16_t, kMaxLoops> max_trips{};  // of the loops around it
  unsigned depth = 0;
};

struct ProgramParts {
  std::vector<Instruction> nodes;
  std::vector<std::uint16_t> after;  // per node: 0 = the next node, else the control op to execute
  std::vector<ControlOp> control;
  std::vector<std::uint16_t> code;  // per node: its place in the code. Empty: node i is at i
  std::vector<TripSource> trips;
  std::vector<TripEntry> trip_table;
  std::vector<Condition> conditions;
  std::vector<Access> accesses;
  std::vector<std::string> access_names;  // array of each access
  std::vector<Texels> texels;
  std::vector<NodeInfo> info;
  unsigned num_registers = 0;
  unsigned last_warp = 0;    // index of the last warp of a TB
  unsigned last_lanes = 32;  // its threads
};

}  // namespace smk
