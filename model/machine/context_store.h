// SPDX-License-Identifier: Apache-2.0
// Saved contexts of TBs, and the traffic that moves them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "control/control_plane.h"
#include "machine/run_checks.h"
#include "machine/sm/completion_heap.h"
#include "machine/sm/open_requests.h"
#include "memory/memory_port.h"
#include "workload/launch.h"

namespace smk {

inline constexpr unsigned kMaxTbWarps = kMaxWarps;

// The architectural state of a TB: what a context save must keep. Registers and shared memory have
// no values in the model; where each warp is stands for them.
struct TbContext {
  KernelId kernel{0};
  std::uint32_t launch = 0;
  TbId tb{0};
  bool flushable = false;
  std::uint64_t exited = 0;      // bit per warp of the TB
  std::uint64_t at_barrier = 0;  // bit per warp of the TB
  std::array<WarpCursor, kMaxTbWarps> cursors{};
};

// Contexts in memory, one per buffer of each kernel's context region. A buffer holds at most one,
// which is taken out exactly once; it lies in the region as a whole.
class ContextStore {
 public:
  explicit ContextStore(RunChecks& checks) : checks_(checks) {}

  // Keeps `context` in the buffer at byte address `address`.
  void Put(const Launch& launch, std::uint64_t address, const TbContext& context, unsigned sm,
           Cycle now);
  // Takes the context out; it must be there, and of this kernel, launch and TB.
  const TbContext& Take(const Launch& launch, KernelId kernel, TbId tb, std::uint64_t address,
                        unsigned sm, Cycle now);
  // Number of contexts in memory.
  std::uint64_t held() const { return held_; }

 private:
  struct Buffer {
    bool full = false;
    TbContext context;
  };
  // The buffer at an address, which must be the start of one.
  Buffer& At(const Launch& launch, KernelId kernel, std::uint64_t address, unsigned sm, Cycle now);

  RunChecks& checks_;
  std::array<std::vector<Buffer>, kNumKernels> buffers_;
  std::uint64_t held_ = 0;
};

// One SM's context traffic: sends each line to memory and checks that a TB's context moves
// completely, each line once, in one direction, to or from one buffer.
class ContextTraffic {
 public:
  static constexpr unsigned kInFlight = 64;  // lines on their way
  // In all tickets of contexts and in no other.
  static constexpr Ticket kContextTicket = Ticket{1} << 31;

  // No TB has a context of more than `most_lines`.
  ContextTraffic(SmId sm, MemoryPort& memory, RunChecks& checks, bool ideal, unsigned most_lines)
      : in_flight_(kInFlight),
        sm_(sm),
        memory_(memory),
        checks_(checks),
        ideal_(ideal),
        in_turn_(!ideal && memory.InTurn()),
        most_lines_(most_lines),
        words_((most_lines + 63) / 64),
        seen_(kMaxTbSlots * words_) {}

  // Room for one more line.
  bool Ready(Cycle now) const {
    return in_flight_.size() < kInFlight || in_flight_.Earliest() <= now;
  }
  // Lines that completed since the last call.
  unsigned TakeDone(Cycle now) { return in_flight_.Earliest() > now ? 0 : in_flight_.Expire(now); }
  Cycle NextEvent() const { return in_flight_.Earliest(); }

  // A TB has taken the slot; nothing of it has moved.
  void Clear(TbSlot slot) { moves_[Index(slot)] = Move{}; }
  // Accepts one line of the TB in the slot.
  void Accept(const ContextRequest& request, const Launch& launch, KernelId kernel, Cycle now);
  // An answer of memory, where requests wait for their turn.
  void Answer(Ticket ticket, Cycle done);
  // Checks that the whole context has been stored (or loaded) and gives the buffer's address.
  std::uint64_t Finish(TbSlot slot, bool store, const Launch& launch, Cycle now);

  std::uint64_t bytes(KernelId kernel) const { return bytes_[Index(kernel)]; }

 private:
  struct Move {
    bool started = false;
    bool store = false;
    std::uint64_t base = 0;  // address of line 0
    unsigned lines = 0;      // accepted so far
    Cycle done = 0;          // completion of the last of them
  };

  void Begin(const ContextRequest& request, const Launch& launch);
  // Notes that the line is sent; false when it was before.
  bool See(const ContextRequest& request);
  void Ask(const ContextRequest& request, KernelId kernel, MemoryAccess access, Cycle now);

  CompletionHeap in_flight_;
  SmId sm_;
  MemoryPort& memory_;
  RunChecks& checks_;
  bool ideal_;
  bool in_turn_;
  unsigned most_lines_;
  std::size_t words_;                // of one TB in seen_
  std::vector<std::uint64_t> seen_;  // a bit per line: sent in the move of its TB slot
  OpenRequests<TbSlot> open_;
  std::array<Move, kMaxTbSlots> moves_{};
  std::array<std::uint64_t, kNumKernels> bytes_{};
};

}  // namespace smk
