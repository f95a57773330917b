// SPDX-License-Identifier: Apache-2.0
// Random SMs around a preempted queue.
#pragma once

#include <array>
#include <deque>

#include "common/lockstep.h"
#include "control/driver/preempted_queue.h"

namespace smk {

inline void AddQueueEvent(PreemptedQueue::Inputs* in, unsigned sm, EventKind kind, unsigned kernel,
                          unsigned tb, unsigned buffer) {
  in->event_mask.Set(sm);
  SmEvent& event = in->event[sm];
  event.valid = true;
  event.kind = kind;
  event.kernel = static_cast<KernelId>(kernel);
  event.tb = static_cast<TbId>(tb);
  event.buffer = static_cast<std::uint16_t>(buffer);
}

// SMs that ask for buffers, save, flush or give up, and load what is popped. In some phases TBs
// leave and hardly come back, until no buffer is left; in others all come back.
class QueueTraffic {
 public:
  QueueTraffic(std::uint64_t seed, unsigned sms, unsigned kernels)
      : dice_(seed), num_sms_(sms), num_kernels_(kernels) {}

  PreemptedQueue::Inputs Next(const PreemptedQueue& queue, unsigned cycle) {
    if (cycle % 2048 == 0) ChangePhase();
    PreemptedQueue::Inputs in;
    for (unsigned sm = 0; sm < num_sms_; ++sm) {
      Request(queue, sm, &in);
      Report(queue, sm, &in);
    }
    CountTwo(queue.state());
    const unsigned k = AnyKernel();
    if (!queue.empty(k) && dice_.Percent(pop_)) Pop(queue, k, &in);
    return in;
  }
  // Cycles in which a request found no buffer, and in which two buffers of a kernel came back.
  unsigned waited() const { return waited_; }
  unsigned two_came_back() const { return two_came_back_; }

 private:
  struct Context {
    EventKind kind = EventKind::kSaved;
    unsigned kernel = 0, tb = 0, buffer = 0;
  };
  struct Sm {
    bool requests = false, gone = false;
    unsigned kernel = 0;
    bool reported = false;  // not yet acknowledged
    std::deque<Context> contexts;
  };

  void ChangePhase() {
    const bool fills = dice_.Percent(50);
    pop_ = fills ? dice_.Below(5) : 20 + dice_.Below(81);
    request_ = fills ? 100 : 1 + dice_.Below(60);
    report_ = dice_.Percent(50) ? 100 : 2 + dice_.Below(40);
    flush_ = dice_.Percent(30) ? 90 : dice_.Below(60);
    hot_ = dice_.Percent(50) ? 100 : 25;
    hot_kernel_ = dice_.Below(num_kernels_);
  }
  unsigned AnyKernel() { return dice_.Percent(hot_) ? hot_kernel_ : dice_.Below(num_kernels_); }

  void Request(const PreemptedQueue& queue, unsigned sm, PreemptedQueue::Inputs* in) {
    Sm& s = sms_[sm];
    if (!s.requests && dice_.Percent(request_)) {
      s.requests = true;
      s.kernel = AnyKernel();
      in->request_mask.Set(sm);
      in->request_kernel[sm] = static_cast<KernelId>(s.kernel);
      return;
    }
    if (!s.requests) return;
    if (queue.state().grant.Test(sm)) {
      const EventKind kind = dice_.Percent(flush_) ? EventKind::kFlushed
                             : dice_.Percent(80)   ? EventKind::kSaved
                                                   : EventKind::kBufferFree;
      s.contexts.push_back(
          {kind, s.kernel, static_cast<unsigned>(dice_.Bits()), queue.state().grant_buffer});
      s.requests = s.gone = false;
      return;
    }
    if (queue.state().none.Test(sm)) s.requests = s.gone = false;
    if (queue.buffers_free(s.kernel) == 0) ++waited_;
    // The TB finished while it waited.
    if (!s.requests || s.gone || !dice_.Percent(1)) return;
    s.gone = true;
    in->withdraw_mask.Set(sm);
  }
  void Report(const PreemptedQueue& queue, unsigned sm, PreemptedQueue::Inputs* in) {
    Sm& s = sms_[sm];
    if (s.reported) {
      s.reported = !queue.state().ack.Test(sm);
    } else if (!s.contexts.empty() && dice_.Percent(report_)) {
      const Context c = s.contexts.front();
      s.contexts.pop_front();
      AddQueueEvent(in, sm, c.kind, c.kernel, c.tb, c.buffer);
      s.reported = true;
    }
  }
  void Pop(const PreemptedQueue& queue, unsigned k, PreemptedQueue::Inputs* in) {
    const PreemptedQueue::Entry& entry = queue.front(k);
    in->pop_valid = true;
    in->pop_kernel = static_cast<KernelId>(k);
    if (!entry.restart) {
      sms_[dice_.Below(num_sms_)].contexts.push_back({EventKind::kBufferFree, k, 0, entry.buffer});
    }
  }
  // The buffer of the flushed TB that was popped, and one that is reported.
  void CountTwo(const PreemptedQueue::State& s) {
    if (!s.popped || !s.popped_entry.restart || s.pending.None()) return;
    const SmEvent& event = s.pending_event[s.pending.Lowest()];
    const bool same = event.kind == EventKind::kBufferFree && event.kernel == s.popped_kernel;
    two_came_back_ += same ? 1 : 0;
  }

  Dice dice_;
  unsigned num_sms_, num_kernels_;
  std::array<Sm, kMaxSms> sms_;
  unsigned pop_ = 0, request_ = 0, report_ = 0, flush_ = 0, hot_ = 0, hot_kernel_ = 0;
  unsigned waited_ = 0, two_came_back_ = 0;
};

}  // namespace smk
