// SPDX-License-Identifier: Apache-2.0
// What a memory instruction of a trace asks of the machine: its lines, or its passes through the
// banks of shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/opcodes.h"
#include "trace/parser.h"

namespace smk {

// The memory that an access goes to.
enum class TraceSpace : std::uint8_t { kNone, kGlobal, kShared, kLocal };

// Where the addresses of `instruction` point. Generic ones are looked up in the header's windows;
// without those they are taken for shared memory, as Accel-Sim does.
TraceSpace SpaceOf(TraceKind kind, const TraceInstruction& instruction, const TraceHeader& header);

// Lines in the order of the lanes that touch them first, at most kMaxLines; numbers in the
// program's memory. Each is there once, but for atomics: lanes that want the same bytes of a line
// are in different transactions, each a line of its own here. `warp` counts all warps of the grid:
// threads' local memories are side by side, word by word, as the hardware lays them out.
struct TraceLineSet {
  unsigned count = 0;
  std::array<std::uint32_t, kMaxLines> line{};
  std::array<SectorMask, kMaxLines> sectors{};  // of each line
};
TraceLineSet LinesOf(const TraceInstruction& instruction, TraceSpace space, std::uint64_t warp,
                     bool atomic);

// Passes through 32 banks of 4 bytes: the most different words that one bank is asked for. Lanes
// that want the same word share a pass, but for atomics.
unsigned BankPasses(const TraceInstruction& instruction, bool atomic);

// Appends the access in its shortest form (trace_stream.h).
void EncodeLines(const TraceLineSet& lines, std::vector<std::uint8_t>* out);

}  // namespace smk
