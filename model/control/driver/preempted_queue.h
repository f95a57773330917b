// SPDX-License-Identifier: Apache-2.0
// Reference of smk_preempted_queue: TBs that left an SM before they finished.
//
// Purpose     One first-in first-out queue per kernel of preempted (or flushed) TBs, and the free
//             list of its context buffers. A buffer is reserved before a TB may leave, so a TB is
//             never without a place; full means that no TB of the kernel can leave.
// Paper       [SMK] Sec. 5.1 (Preempted TB Queue, steps 4 and i); deviation [D8].
// Interface   request: pulse per SM, kept until its grant or until it is withdrawn; each has one
//             answer, and an SM one request at a time. event: pulse per SM, acknowledged
//             when queued; an SM sends no second acknowledged event before that. pop: pulse from
//             smk_tb_dispatch.
// Latency     Grant and acknowledge 1 cycle after they win arbitration (lowest SM first).
// Throughput  One grant, one queued event and one pop per cycle.
// Reset       All queues empty, all buffers free.
// Doc         docs/blocks/preempted_queue.md
#pragma once

#include <vector>

#include "control/messages.h"

namespace smk {

class PreemptedQueue {
 public:
  struct Config {
    unsigned num_sms = 16;
    unsigned depth = 512;  // per kernel
  };
  struct Entry {
    TbId tb{0};
    std::uint16_t buffer = 0;
    bool restart = false;  // flushed: starts again, no context
  };
  struct Inputs {
    SmMask request_mask{};  // SMs that ask for a buffer
    std::array<KernelId, kMaxSms> request_kernel{};
    SmMask withdraw_mask{};  // SMs that need it no more
    SmMask event_mask{};     // SMs with a new acknowledged event
    std::array<SmEvent, kMaxSms> event{};
    bool pop_valid = false;
    KernelId pop_kernel{0};
  };
  // One kernel's ring of entries and its free list. Buffers never used yet count up from `fresh`.
  struct Queue {
    std::vector<Entry> ring;
    std::vector<std::uint16_t> free_ring;
    std::uint16_t head = 0, count = 0;
    std::uint16_t free_head = 0, free_count = 0;
    std::uint16_t fresh = 0;
  };
  struct State {
    std::array<Queue, kMaxKernels> queue;
    SmMask pending{};  // captured events not yet queued
    std::array<SmEvent, kMaxSms> pending_event{};
    SmMask ack{};    // pulse
    SmMask grant{};  // pulse, one hot
    SmMask none{};   // pulse: withdrawn, no buffer comes
    SmMask asked{};  // requests that wait, and for which kernel
    std::array<KernelId, kMaxSms> asked_kernel{};
    // What was popped in the last cycle; a flushed TB's buffer is free from the next one on.
    bool popped = false;
    KernelId popped_kernel{0};
    Entry popped_entry;
    std::uint16_t grant_buffer = 0;
  };
  // All outputs are registers.
  using Outputs = State;

  explicit PreemptedQueue(const Config& config);
  const Outputs& Eval(const Inputs&) const { return state_; }
  void Tick(const Inputs& in);
  const State& state() const { return state_; }

  bool empty(unsigned kernel) const { return state_.queue[kernel].count == 0; }
  unsigned count(unsigned kernel) const { return state_.queue[kernel].count; }
  const Entry& front(unsigned kernel) const {
    return state_.queue[kernel].ring[state_.queue[kernel].head];
  }
  unsigned buffers_free(unsigned kernel) const {
    return state_.queue[kernel].free_count + config_.depth - state_.queue[kernel].fresh;
  }
  KernelMask waiting() const;

 private:
  void FreeBuffer(Queue* queue, std::uint16_t buffer);
  void Push(const SmEvent& event);
  void FreeFlushed();
  void Pop(const Inputs& in);
  void Grant(const Inputs& in);

  Config config_;
  State state_;
};

}  // namespace smk
