// SPDX-License-Identifier: Apache-2.0
// One direction of a crossbar with input queues, whose outputs serve the inputs in turn.
//
// Purpose     Says in each cycle which packets pass: at most one to an output, and one from an
//             input.
// Queues      One per input, first in first out: only its head asks for an output, and one that
//             waits holds back those behind it (head-of-line blocking).
// Turns       An output that several heads ask for takes the first of them, counted from the input
//             behind the one that it took last: iSLIP with one iteration (McKeown, IEEE/ACM Trans.
//             Networking 1999), in which a head is granted by its output only. With `stride` 2 it
//             counts from the second behind it, or from input 0 where that is beyond the last.
// Packets     One of n flits keeps both its ports for n cycles.
// Speed       Nothing is allocated after construction; next() says when there is work again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace smk {

// See the head of this file.
class TurnSwitch {
 public:
  struct Packet {
    Cycle ready = 0;         // when it can pass at the earliest
    std::uint32_t name = 0;  // of the caller's choice
    std::uint16_t output = 0;
    std::uint16_t flits = 1;
  };
  static constexpr Cycle kNoWork = ~Cycle{0};
  static constexpr unsigned kRoom = 1024;  // packets that a queue holds

  TurnSwitch(unsigned inputs, unsigned outputs, unsigned stride = 1)
      : stride_(stride), queues_(inputs), outputs_(outputs) {
    for (Queue& queue : queues_) queue.packets.resize(kRoom);
  }

  // Packets that wait at the input; at most kRoom.
  unsigned waiting(unsigned input) const { return queues_[input].tail - queues_[input].head; }

  // Appends a packet that is ready no sooner than those before it.
  void Push(unsigned input, const Packet& packet) {
    Queue& queue = queues_[input];
    queue.packets[queue.tail++ % kRoom] = packet;
    next_ = std::min(next_, packet.ready);
  }

  // No packet can pass before this cycle; kNoWork: none waits.
  Cycle next() const { return next_; }

  // The packets that pass in `now`: calls pass(input, packet) for each, in the order of the
  // outputs. An output for which open(output) is false takes none. Cycles must not go back.
  template <typename Open, typename Pass>
  void Step(Cycle now, const Open& open, const Pass& pass) {
    if (next_ > now) return;
    next_ = kNoWork;
    const auto inputs = static_cast<unsigned>(queues_.size());
    const auto outputs = static_cast<unsigned>(outputs_.size());
    for (unsigned input = 0; input < inputs; ++input) Ask(input, now);
    for (unsigned number = 0; number < outputs; ++number) {
      Output& output = outputs_[number];
      const unsigned input = output.winner;
      if (input == kNobody) continue;
      output.winner = kNobody;
      if (!open(number)) continue;
      Queue& queue = queues_[input];
      const Packet packet = queue.packets[queue.head++ % kRoom];
      output.free_at = queue.free_at = now + packet.flits;
      output.turn = input + stride_ < inputs ? input + stride_ : 0;
      pass(input, packet);
    }
  }

 private:
  static constexpr unsigned kNobody = ~0u;
  struct Queue {
    std::vector<Packet> packets;  // a ring
    unsigned head = 0, tail = 0;  // counted without end
    Cycle free_at = 0;            // its port
  };
  struct Output {
    unsigned turn = 0;          // the input whose turn it is
    unsigned winner = kNobody;  // within Step(): who asks for it and comes first
    Cycle free_at = 0;
  };

  // The input's head asks for its output. Inputs ask in the order of their numbers, so that the
  // first one that asks comes first, but for the first one from `turn` on.
  void Ask(unsigned input, Cycle now) {
    const Queue& queue = queues_[input];
    if (queue.head == queue.tail) return;
    const Packet& head = queue.packets[queue.head % kRoom];
    const Cycle at = std::max(head.ready, queue.free_at);
    if (at > now) {
      next_ = std::min(next_, at);
      return;
    }
    next_ = now + 1;
    Output& output = outputs_[head.output];
    if (output.free_at > now) return;
    const unsigned winner = output.winner;
    if (winner == kNobody || (winner < output.turn && input >= output.turn)) output.winner = input;
  }

  const unsigned stride_;
  std::vector<Queue> queues_;
  std::vector<Output> outputs_;
  Cycle next_ = kNoWork;
};

}  // namespace smk
