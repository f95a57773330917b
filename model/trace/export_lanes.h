// SPDX-License-Identifier: Apache-2.0
// The lanes with which an exported trace tells what an access of a program asks for.
#pragma once

#include <cstdint>

#include "trace/parser.h"
#include "workload/program_code.h"

namespace smk {

// What the machine asks memory for: lines of the program's memory, and the sectors of each.
struct AskedLines {
  unsigned count = 0;
  std::uint64_t line[kMaxLines];  // byte addresses
  SectorMask sectors[kMaxLines];
};

// Fills in lanes, their width and their addresses, so that LinesOf() gives what is asked:
// 1. The program's own lanes, if they are known and at most a sector wide each. Lanes of an atomic
//    that want what another one wants are left out: in a program they are in one transaction.
// 2. Lanes that cover the sectors, in order. As many as the warp has threads if that is enough, and
//    as narrow as 32 lanes allow.
// 3. If no width does it, the lines, with as many of their sectors as lanes can tell.
// `base` is the address of the program's memory, `threads` are those of the warp.
void SetExportLanes(const AskedLines& asked, const LaneAddresses& own, std::uint64_t base,
                    unsigned threads, bool atomic, TraceInstruction* access);

}  // namespace smk
