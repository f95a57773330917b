// SPDX-License-Identifier: Apache-2.0
// How the instructions of one warp of a trace are kept: what TraceBuilder writes, once, and Program
// reads, once per run.
//
// A warp's record is a number of runs, the runs, and its memory accesses. A run is a first and a
// last instruction of the kernel's table, executed one after the other; an access is the list of
// lines that one global-memory instruction touches, in order of execution.
//
//   u32 runs | runs x (u16 first, u16 last) | accesses
//   access: u8 (lines - 1) | form << 5 | parts << 7, then by form
//     kConsecutive  u32 first line
//     kDelta8/16    u32 first line, then lines - 1 signed differences
//     kList         u32 each
//   and with `parts`, four bits for each line: its sectors, two lines in a byte, the first below.
//   Without, all lines are wanted whole.
//
// Lines are numbers of 128 bytes in the program's memory of 64 GB. A TB's record is the offsets of
// its warps' records (u32 each), and those. Integers are little-endian and not aligned.
#pragma once

#include <cstdint>
#include <cstring>

#include "workload/program.h"

namespace smk {

using TraceByte = std::uint8_t;

inline constexpr unsigned kTraceMemoryBits = 36;  // addresses are taken modulo 64 GB

enum class LineForm : std::uint8_t { kConsecutive, kDelta8, kDelta16, kList };

template <typename T>
T ReadTrace(const TraceByte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Where a warp is in its record. It takes the place of the loop counters in the cursor.
struct TracePosition {
  std::uint32_t run = 0;   // byte offset of the current run
  std::uint32_t data = 0;  // byte offset of the next access
  std::uint16_t last = 0;  // last instruction of the current run

  static TracePosition Of(const WarpCursor& cursor) {
    TracePosition position;
    std::memcpy(&position, cursor.trip, sizeof position);
    return position;
  }
  void Keep(WarpCursor* cursor) const { std::memcpy(cursor->trip, this, sizeof *this); }
};
static_assert(sizeof(TracePosition) <= sizeof(WarpCursor::trip));

inline constexpr unsigned kRunBytes = 4;

inline constexpr TraceByte kTraceParts = 0x80;

// Bytes of the lines of the access at `data`; its sectors follow them.
inline unsigned LineBytesOf(const TraceByte* data) {
  const unsigned lines = (*data & 31) + 1u;
  switch (static_cast<LineForm>(*data >> 5 & 3)) {
    case LineForm::kConsecutive:
      return 5;
    case LineForm::kDelta8:
      return 4 + lines;
    case LineForm::kDelta16:
      return 3 + 2 * lines;
    case LineForm::kList:
      break;
  }
  return 1 + 4 * lines;
}

// Bytes of the access at `data`.
inline unsigned AccessBytes(const TraceByte* data) {
  const unsigned parts = (*data & kTraceParts) != 0 ? (*data & 31) / 2 + 1u : 0;
  return LineBytesOf(data) + parts;
}

// Sectors of each line of the access at `data`.
inline void AccessSectors(const TraceByte* data, SectorMask* sectors) {
  const unsigned count = (*data & 31) + 1u;
  const TraceByte* const parts = data + LineBytesOf(data);
  const bool whole = (*data & kTraceParts) == 0;
  for (unsigned i = 0; i < count; ++i) {
    sectors[i] = whole ? kAllSectors : parts[i / 2] >> (i % 2 * 4) & kAllSectors;
  }
}

// The lines of the access at `data` as byte addresses above `base`; returns their number. `sectors`
// may be null.
inline unsigned AccessLines(const TraceByte* data, std::uint64_t base, std::uint64_t* lines,
                            SectorMask* sectors = nullptr) {
  if (sectors != nullptr) AccessSectors(data, sectors);
  const unsigned count = (*data & 31) + 1u;
  const auto form = static_cast<LineForm>(*data >> 5 & 3);
  ++data;
  std::uint64_t line = base + std::uint64_t{ReadTrace<std::uint32_t>(data)} * kLineBytes;
  lines[0] = line;
  if (form == LineForm::kConsecutive) {
    for (unsigned i = 1; i < count; ++i) lines[i] = line += kLineBytes;
    return count;
  }
  data += 4;
  for (unsigned i = 1; i < count; ++i) {
    if (form == LineForm::kList) {
      line = base + std::uint64_t{ReadTrace<std::uint32_t>(data)} * kLineBytes;
      data += 4;
    } else if (form == LineForm::kDelta8) {
      line += static_cast<std::uint64_t>(std::int64_t{ReadTrace<std::int8_t>(data)} * kLineBytes);
      data += 1;
    } else {
      line += static_cast<std::uint64_t>(std::int64_t{ReadTrace<std::int16_t>(data)} * kLineBytes);
      data += 2;
    }
    lines[i] = line;
  }
  return count;
}

// The records of one kernel, in memory that stays where it is.
class TraceRecords {
 public:
  virtual ~TraceRecords() = default;
  // Record of one warp; called when the warp is placed on an SM.
  virtual const TraceByte* Warp(std::uint32_t tb, unsigned warp) const = 0;
};

}  // namespace smk
