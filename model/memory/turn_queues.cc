// SPDX-License-Identifier: Apache-2.0
#include "memory/turn_queues.h"

#include <algorithm>

namespace smk {

void TurnQueues::Ask(const TurnPacket& packet, unsigned flits, Cycle now) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(packets_.size()));
    packets_.emplace_back();
    links_.emplace_back();
  }
  const std::uint32_t name = free_.back();
  free_.pop_back();
  packets_[name] = packet;
  requests_.Push(Index(packet.sm), {now, name, packet.slice, static_cast<std::uint16_t>(flits)});
  next_ = std::min(next_, now);
}

// Replies that are ready leave the L2 for the slice's queue.
void TurnQueues::Queue(unsigned slice, Cycle now) {
  ReplyOrder& coming = coming_[slice];
  while (coming.first() <= now && replies_.waiting(slice) < kQueue) {
    const std::uint32_t name = coming.Pop(links_);
    const TurnPacket& packet = packets_[name];
    replies_.Push(slice,
                  {now, name, static_cast<std::uint16_t>(Index(packet.sm)), packet.reply_flits});
  }
  first_[slice] = coming.first();
}

void TurnQueues::FindNext(Cycle now) {
  const Cycle first = *std::min_element(first_.begin(), first_.end());
  next_ = std::min({requests_.next(), replies_.next(), std::max(first, now + 1)});
}

}  // namespace smk
