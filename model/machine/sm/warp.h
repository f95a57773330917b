// SPDX-License-Identifier: Apache-2.0
// State of one warp slot of an SM.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "machine/lanes.h"
#include "machine/sm/collectors.h"
#include "machine/sm/decoded_code.h"
#include "machine/sm/thread_block.h"

namespace smk {

// Of a warp, what has issued and passes the operand collectors without a wait, so that its result's
// time is known: it has started when it is kCollectorCycles old. By cycles before the last: the
// lowest bits are those of the last.
struct Passing {
  std::uint32_t last = 0;    // cycle of the last issue
  std::uint32_t places = 0;  // Step::place of each result
  std::uint8_t results = 0;  // Step::result of each: two bits

  static constexpr unsigned kCycles = 4;
  void Add(std::uint32_t cycle, unsigned place, unsigned result) {
    const std::uint32_t gap = std::min(cycle - last, kCycles);
    places = static_cast<std::uint32_t>(std::uint64_t{places} << (8 * gap)) | place;
    results = static_cast<std::uint8_t>(results << (2 * gap) | result);
    last = cycle;
  }
  // There is such a result that has not started, when the last is so old.
  bool Has(Step::Result kind, unsigned age) const {
    static_assert(kCollectorCycles < kCycles);
    static_assert(Step::kMemory == 1 && Step::kShort == 2);
    constexpr unsigned kAll = (1u << (2 * kCollectorCycles)) - 1;
    return (results & kAll >> (2 * age) & kind * 0x55) != 0;
  }
};

// What the SM model keeps of a warp besides its bits in the masks: where it is in its program and
// when each register can be read (the scoreboard). The first cache line of the host has all that
// every issue touches but the registers.
struct alignas(64) Warp {
  const Step* next = nullptr;  // that it issues next
  const Code* code = nullptr;
  ThreadBlock* block = nullptr;
  std::uint64_t* account = nullptr;  // where its issues are counted, see Issues
  std::uint32_t earliest = 0;        // first cycle in which `next` is in the instruction buffer
  std::uint8_t kernel = 0;
  std::uint8_t tb_slot = 0;
  std::uint8_t buffered = 0;  // instructions in the buffer, `next` among them
  bool merged = false;        // of a group of a merged launch
  Passing passing;

  // When all operands of `next` can be read and its destination be written.
  Stamp Operands() const { return Operands(*next); }
  [[gnu::always_inline]] Stamp Operands(const Step& step) const {
    const Stamp a = std::max(ready_at[step.place[0]], ready_at[step.place[1]]);
    const Stamp b = std::max(ready_at[step.place[2]], ready_at[step.place[3]]);
    return std::max(a, b);
  }
  // When all of its results are there, but for those of asynchronous copies.
  Stamp AllResults() const {
    const unsigned end = std::min(code->places, kFirstAsyncRegister + 1u);
    return *std::max_element(ready_at.begin(), ready_at.begin() + end);
  }
  // When the last of its results that are known is there.
  Cycle LastResult() const {
    Stamp last = 0;
    for (unsigned place = 0; place < code->places; ++place) {
      if (ready_at[place] < kUnknownShort) last = std::max(last, ready_at[place]);
    }
    return last / 2;
  }

  // By Step::place: the first element stands for "no operand" and is always 0, so that of
  // the array only the beginning is touched.
  alignas(64) std::array<Stamp, 256> ready_at{};

  // A result of Step::joined is on its way; it is not known when it will be there.
  void Join(unsigned place) {
    ++joined[place % kAsyncRegisters].open;
    ready_at[place] = kUnknownMemory;
  }
  // That is known now. The register can be read when all are there.
  void JoinedAt(unsigned place, Stamp at) {
    Joined& group = joined[place % kAsyncRegisters];
    group.last = std::max(group.last, at);
    if (--group.open == 0) ready_at[place] = group.last;
  }
  struct Joined {
    std::uint32_t open = 0;  // results
    Stamp last = 0;
  };
  std::array<Joined, kAsyncRegisters> joined{};  // by place
  WarpIdentity identity;
  // Its `node` is that of `next` only after SetCursor().
  WarpCursor cursor;
  void SetCursor() {
    if (next != nullptr) cursor.node = static_cast<std::uint16_t>(next - code->steps.data());
  }
};
static_assert(offsetof(Warp, ready_at) == 64);

}  // namespace smk
