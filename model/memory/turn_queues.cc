// SPDX-License-Identifier: Apache-2.0
#include "memory/turn_queues.h"

#include <algorithm>

namespace smk {

void TurnQueues::Ask(const TurnPacket& packet, unsigned flits, Cycle now) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(packets_.size()));
    packets_.emplace_back();
  }
  const std::uint32_t name = free_.back();
  free_.pop_back();
  packets_[name] = packet;
  requests_.Push(Index(packet.sm), {now, name, packet.slice, static_cast<std::uint16_t>(flits)});
  next_ = std::min(next_, now);
}

// Replies that are ready leave the L2 for the slice's queue.
void TurnQueues::Queue(unsigned slice, Cycle now) {
  auto& coming = coming_[slice];
  while (!coming.empty() && coming.top().ready() <= now && replies_.waiting(slice) < kQueue) {
    const TurnPacket& packet = packets_[coming.top().name];
    replies_.Push(slice, {now, coming.top().name, static_cast<std::uint16_t>(Index(packet.sm)),
                          packet.reply_flits});
    coming.pop();
  }
  first_[slice] = coming.empty() ? kNever : coming.top().ready();
}

void TurnQueues::FindNext(Cycle now) {
  next_ = std::min(requests_.next(), replies_.next());
  for (const Cycle first : first_) next_ = std::min(next_, std::max(first, now + 1));
}

}  // namespace smk
