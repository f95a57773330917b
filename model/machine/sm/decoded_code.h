// SPDX-License-Identifier: Apache-2.0
// Programs as the SMs of one machine issue them: what each instruction needs and costs, decoded
// once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "machine/sm/sm_shape.h"
#include "workload/program_code.h"

namespace smk {

// One instruction of a program. All that an ordinary issue looks at.
struct alignas(16) Step {
  std::uint8_t place[4] = {};    // of dst and src: the register's number plus one, 0 for none
  std::uint16_t latency = 0;     // from the issue, or its first pass in the LSU, to the result
  std::uint16_t initiation = 1;  // cycles for which it takes its pipe, or the banks
  std::uint8_t op = 0;
  SmShape::Port port = SmShape::kNoPort;
  std::uint8_t memory = 0;   // 1: waiting for the result is waiting for memory
  std::uint8_t result = 0;   // what kind of result: below
  std::uint8_t fetched = 1;  // instructions that a fetch from here brings
  bool ends_run : 1;         // what comes next need not be the next in the list
  bool ends_idempotence : 1;
  bool off_chip : 1;        // global memory and textures
  bool membar : 1;          // Special::kMembar
  bool may_pass : 1;        // the collectors without a wait: its pipe is the scheduler's own
  std::uint8_t joined = 0;  // place of a result that others in flight write, too; not in `place`
  // Takes a pipe of the scheduler's own, or banks of memory on the chip, and nothing else; or waits
  // in the collectors first; or more. kPlain: such a pipe for one cycle, and it has a result.
  enum Way : std::uint8_t { kPlain, kPipe, kBanks, kCollected, kOther } way = kPipe;

  enum Result : std::uint8_t { kNone, kMemory, kShort };
};

// All of a step but what depends on its neighbours: `fetched` and `ends_run`.
Step Decode(const Instruction& instruction, const SmShape& shape);

// A program and its instructions.
struct Code {
  const Program* program = nullptr;
  std::vector<Step> steps;  // by WarpCursor::node
  unsigned places = 1;      // one more than the highest Step::place

  const Step* At(const WarpCursor& cursor) const { return &steps[cursor.node]; }
};

// All programs that SMs have executed.
class CodeTable {
 public:
  // `shape` outlives it.
  explicit CodeTable(const SmShape& shape) : shape_(shape) {}

  // Stays where it is.
  const Code& Of(const Program& program);

 private:
  struct Entry {
    std::uint64_t id;  // of the program: another may come to lie where it was
    std::unique_ptr<const Code> code;
  };

  std::unique_ptr<const Code> DecodeAll(const Program& program) const;

  const SmShape& shape_;
  std::vector<Entry> entries_;
  std::size_t last_ = 0;
};

}  // namespace smk
