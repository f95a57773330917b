// SPDX-License-Identifier: Apache-2.0
// Requests that wait at the crossbar for their turn, and their replies.
//
// Purpose     The crossbar with memory.xbar_order `turns`: two TurnSwitches, SMs to slices and
//             back.
//             Who passes when depends on who else comes meanwhile, so that an answer is known only
//             when the reply passes: Ask() takes a request, Step() tells the completions.
// Packets     A line asks with a packet per sector; each is served and answered by itself. Without
//             sectors a packet is the line.
// Queues      kQueue packets each. An SM's LSU must wait while its queue is full (Full()); the
//             lines of contexts, of which few are on their way, need not. A reply that finds its
//             queue full stays in the slice, and a slice with kInSlice requests takes no more.
// L2, DRAM    are asked when a request passes, and answer at once with the time of the reply.
// Idle        next() is the next cycle in which Step() has work; nothing happens between.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "memory/memory_port.h"
#include "memory/reply_order.h"
#include "memory/turn_switch.h"

namespace smk {

// What of a request is needed behind the crossbar.
struct TurnPacket {
  std::uint64_t address = 0;  // in the controller's address space
  Ticket ticket = 0;
  std::uint16_t slice = 0, controller = 0;
  std::uint16_t reply_flits = 0;  // 0: no reply
  SmId sm{0};
  KernelId kernel{0};
  MemoryAccess access = MemoryAccess::kLoad;
  SectorMask sectors = kAllSectors;
};

// See the head of this file.
class TurnQueues {
 public:
  // Of the simulator that this is after: an input queue of 256 packets before a router's of 64.
  static constexpr unsigned kQueue = 320;
  // Requests in a slice, from its port to the queue of its reply: 120 in the delay before its L2, a
  // miss in each of 256 MSHRs, and a queue of 64 towards the crossbar.
  static constexpr unsigned kInSlice = 120 + 256 + 64;
  // Its iSLIP looks for the first input above the one behind that served last (upper_bound).
  static constexpr unsigned kStride = 2;

  TurnQueues(unsigned sms, unsigned slices, Cycle latency)
      : latency_(latency),
        requests_(sms, slices, kStride),
        replies_(slices, sms, kStride),
        coming_(slices),
        first_(slices, kNever) {}

  bool Full(SmId sm) const {
    return requests_.waiting(Index(sm)) + kLineBytes / kSectorBytes > kQueue;
  }
  // A packet of `flits` joins its SM's queue in the cycle `now`.
  void Ask(const TurnPacket& packet, unsigned flits, Cycle now);

  Cycle next() const { return next_; }
  // serve(packet, arrival) gives the cycle in which the reply can leave the slice or, where there
  // is none, in which the request is complete; answer(packet, done) is called with each completion.
  template <typename Serve, typename Answer>
  void Step(Cycle now, const Serve& serve, const Answer& answer) {
    for (unsigned slice = 0; slice < first_.size(); ++slice) {
      if (first_[slice] <= now) Queue(slice, now);
    }
    requests_.Step(
        now, [this](unsigned slice) { return coming_[slice].size() < kInSlice; },
        [&](unsigned /*sm*/, const TurnSwitch::Packet& request) {
          const TurnPacket& packet = packets_[request.name];
          const Cycle ready = serve(packet, now + request.flits + latency_);
          if (packet.reply_flits != 0) {
            coming_[packet.slice].Push(ready, request.name, &links_);
            first_[packet.slice] = coming_[packet.slice].first();
          } else {
            answer(packet, ready);
            free_.push_back(request.name);
          }
        });
    replies_.Step(
        now, [](unsigned /*sm*/) { return true; },
        [&](unsigned /*slice*/, const TurnSwitch::Packet& reply) {
          answer(packets_[reply.name], now + reply.flits + latency_);
          free_.push_back(reply.name);
        });
    FindNext(now);
  }

 private:
  void Queue(unsigned slice, Cycle now);
  void FindNext(Cycle now);

  const Cycle latency_;
  TurnSwitch requests_, replies_;
  std::vector<ReplyOrder> coming_;   // by slice: replies that have not left it
  std::vector<Cycle> first_;         // likewise: when the first of those is ready
  std::vector<TurnPacket> packets_;  // by name
  std::vector<ReplyLink> links_;     // likewise, of coming_
  std::vector<std::uint32_t> free_;  // names
  Cycle next_ = TurnSwitch::kNoWork;
};

}  // namespace smk
