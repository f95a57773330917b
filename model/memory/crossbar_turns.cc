// SPDX-License-Identifier: Apache-2.0
// Crossbar: requests that wait for their turn.
#include <string>

#include "base/error.h"
#include "memory/crossbar.h"

namespace smk {

unsigned Crossbar::Ask(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line,
                       Ticket ticket, Cycle now) {
  if (!Has(line.address)) {
    throw CheckFailure("cycle " + std::to_string(now) + ": SM " + std::to_string(Index(sm)) +
                       ": memory refused address " + std::to_string(line.address));
  }
  const AddressMap::Place place = Locate(line.address);
  const bool store = IsStore(access);
  const bool carries = store || access == MemoryAccess::kAtomic;
  const unsigned data =
      flit_bytes_.Up(sectored_ ? kSectorBytes + kSectorHeaderBytes : BytesOf(line.sectors));
  const unsigned flits = !carries ? 1 : sectored_ ? data : 1 + data;
  TurnPacket packet;
  packet.address = place.local_address;
  packet.ticket = ticket;
  packet.slice = static_cast<std::uint16_t>(place.slice);
  packet.controller = static_cast<std::uint16_t>(place.controller);
  packet.reply_flits = static_cast<std::uint16_t>(!store ? data : acknowledged_ ? 1 : 0);
  packet.sm = sm;
  packet.kernel = kernel;
  packet.access = access;
  packet.sectors = line.sectors;
  if (!sectored_) {
    turns_->Ask(packet, flits, now);
    return 1;
  }
  unsigned packets = 0;
  for (unsigned left = line.sectors; left != 0; left &= left - 1, ++packets) {
    packet.sectors = static_cast<SectorMask>(left & (~left + 1));
    turns_->Ask(packet, flits, now);
  }
  return packets;
}

void Crossbar::TakeTurns(Cycle now, MemoryListener* listener) {
  turns_->Step(
      now, [this](const TurnPacket& packet, Cycle arrival) { return ServeTurn(packet, arrival); },
      [listener](const TurnPacket& packet, Cycle done) {
        listener->OnAnswer(packet.sm, packet.ticket, done);
      });
}

// What is behind the port of the slice.
inline Cycle Crossbar::ServeTurn(const TurnPacket& packet, Cycle arrival) {
  LineAccess access;
  access.address = packet.address;
  access.bytes = BytesOf(packet.sectors);
  access.sectors = packet.sectors;
  access.kernel = packet.kernel;
  access.sm = packet.sm;
  access.access = packet.access;
  BlockingSocket& to =
      access.context() ? *controller_sockets_[packet.controller] : *slice_sockets_[packet.slice];
  return to.Serve(&access, arrival);
}

}  // namespace smk
