// SPDX-License-Identifier: Apache-2.0
#include "control/driver/preempted_queue.h"

namespace smk {

PreemptedQueue::PreemptedQueue(const Config& config) : config_(config) {
  for (Queue& q : state_.queue) {
    q.ring.resize(config.depth);
    q.free_ring.resize(config.depth);
  }
}

void PreemptedQueue::FreeBuffer(Queue* queue, std::uint16_t buffer) {
  queue->free_ring[(queue->free_head + queue->free_count) % config_.depth] = buffer;
  ++queue->free_count;
}

void PreemptedQueue::Push(const SmEvent& event) {
  Queue& q = state_.queue[Index(event.kernel)];
  if (event.kind == EventKind::kBufferFree) {
    FreeBuffer(&q, event.buffer);
    return;
  }
  q.ring[(q.head + q.count) % config_.depth] = {event.tb, event.buffer,
                                                event.kind == EventKind::kFlushed};
  ++q.count;
}

// A TB that was flushed needs its buffer no longer than until it was popped, a cycle ago.
void PreemptedQueue::FreeFlushed() {
  if (!state_.popped || !state_.popped_entry.restart) return;
  FreeBuffer(&state_.queue[Index(state_.popped_kernel)], state_.popped_entry.buffer);
}

void PreemptedQueue::Pop(const Inputs& in) {
  state_.popped = in.pop_valid;
  if (!in.pop_valid) return;
  Queue& q = state_.queue[Index(in.pop_kernel)];
  state_.popped_kernel = in.pop_kernel;
  state_.popped_entry = q.ring[q.head];
  q.head = static_cast<std::uint16_t>((q.head + 1u) % config_.depth);
  --q.count;
}

// Lowest SM with a request that its kernel's free list can serve. The others wait.
void PreemptedQueue::Grant(const Inputs& in) {
  for (const unsigned sm : in.request_mask) state_.asked_kernel[sm] = in.request_kernel[sm];
  state_.none = state_.asked & in.withdraw_mask;
  state_.asked |= in.request_mask;
  state_.asked -= in.withdraw_mask;
  state_.grant = SmMask();
  for (const unsigned sm : state_.asked) {
    Queue& q = state_.queue[Index(state_.asked_kernel[sm])];
    if (q.free_count != 0) {
      state_.grant_buffer = q.free_ring[q.free_head];
      q.free_head = static_cast<std::uint16_t>((q.free_head + 1u) % config_.depth);
      --q.free_count;
    } else if (q.fresh != config_.depth) {
      state_.grant_buffer = q.fresh++;
    } else {
      continue;
    }
    state_.grant = SmMask::Of(sm);
    state_.asked.Clear(sm);
    return;
  }
}

void PreemptedQueue::Tick(const Inputs& in) {
  Grant(in);
  FreeFlushed();
  Pop(in);
  state_.ack = SmMask();
  if (state_.pending.Any()) {
    const unsigned sm = state_.pending.Lowest();
    Push(state_.pending_event[sm]);
    state_.ack = SmMask::Of(sm);
    state_.pending.Clear(sm);
  }
  for (const unsigned sm : in.event_mask) state_.pending_event[sm] = in.event[sm];
  state_.pending |= in.event_mask;
}

KernelMask PreemptedQueue::waiting() const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) mask |= empty(k) ? 0u : 1u << k;
  return mask;
}

}  // namespace smk
