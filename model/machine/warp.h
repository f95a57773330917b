// SPDX-License-Identifier: Apache-2.0
// State of one warp slot of an SM.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "machine/lanes.h"
#include "machine/thread_block.h"
#include "workload/program_code.h"

namespace smk {

// What the SM model keeps of a warp besides its bits in the masks: where it is in its program and
// when each register can be read (the scoreboard).
struct Warp {
  const Program* program = nullptr;
  ThreadBlock* block = nullptr;
  const Instruction* next = nullptr;  // under the cursor
  Cycle earliest = 0;                 // first cycle in which `next` is in the instruction buffer
  std::uint8_t buffered = 0;          // instructions in the buffer, `next` among them
  std::uint8_t kernel = 0;
  std::uint8_t tb_slot = 0;
  std::uint8_t warp_in_tb = 0;
  std::uint8_t threads = 0;
  std::uint8_t port = 0;    // which execution port `next` needs
  std::uint8_t reason = 0;  // what it waits for while it is not ready
  WarpCursor cursor;
  WarpIdentity identity;
  // By register. Element kNoRegister stands for "no operand" and is always 0: of the 256 elements
  // only those of the program's registers and the last are ever touched.
  std::array<Stamp, 256> ready_at{};

  // When all operands of `next` can be read and its destination be written.
  Stamp Operands() const {
    const Stamp a = std::max(ready_at[next->dst], ready_at[next->src[0]]);
    const Stamp b = std::max(ready_at[next->src[1]], ready_at[next->src[2]]);
    return std::max(a, b);
  }
};

}  // namespace smk
