// SPDX-License-Identifier: Apache-2.0
#include "control/preempted_queue.h"

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

void PreemptedQueue::Pop(unsigned kernel) {
  Queue& q = state_.queue[kernel];
  const Entry entry = q.ring[q.head];
  q.head = static_cast<std::uint16_t>((q.head + 1u) % config_.depth);
  --q.count;
  if (entry.restart) FreeBuffer(&q, entry.buffer);
}

// Lowest SM with a request that its kernel's free list can serve; not one that was granted just now
// and has not yet seen it.
void PreemptedQueue::Grant(const Inputs& in) {
  const SmMask candidates = in.request_mask & ~state_.grant;
  state_.grant = 0;
  for (SmMask m = candidates; m != 0; m &= m - 1) {
    const unsigned sm = static_cast<unsigned>(__builtin_ctz(m));
    Queue& q = state_.queue[Index(in.request_kernel[sm])];
    if (q.free_count != 0) {
      state_.grant_buffer = q.free_ring[q.free_head];
      q.free_head = static_cast<std::uint16_t>((q.free_head + 1u) % config_.depth);
      --q.free_count;
    } else if (q.fresh != config_.depth) {
      state_.grant_buffer = q.fresh++;
    } else {
      continue;
    }
    state_.grant = 1u << sm;
    return;
  }
}

void PreemptedQueue::Tick(const Inputs& in) {
  Grant(in);
  if (in.pop_valid) Pop(Index(in.pop_kernel));
  state_.ack = 0;
  if (state_.pending != 0) {
    const unsigned sm = static_cast<unsigned>(__builtin_ctz(state_.pending));
    Push(state_.pending_event[sm]);
    state_.ack = 1u << sm;
    state_.pending &= state_.pending - 1;
  }
  for (SmMask m = in.event_mask; m != 0; m &= m - 1) {
    const unsigned sm = static_cast<unsigned>(__builtin_ctz(m));
    state_.pending_event[sm] = in.event[sm];
  }
  state_.pending |= in.event_mask;
}

KernelMask PreemptedQueue::waiting() const {
  KernelMask mask = 0;
  for (unsigned k = 0; k < kMaxKernels; ++k) mask |= empty(k) ? 0u : 1u << k;
  return mask;
}

}  // namespace smk
