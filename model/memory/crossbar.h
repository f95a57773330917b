// SPDX-License-Identifier: Apache-2.0
// The network between the SMs and the memory partitions.
#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/divisor.h"
#include "config/machine_config.h"
#include "memory/address_map.h"
#include "memory/calendar.h"
#include "memory/memory_port.h"
#include "memory/memory_sockets.h"
#include "memory/turn_queues.h"

namespace smk {

inline constexpr unsigned kSectorHeaderBytes = 8;  // of a sector's packet

// Purpose     Carries requests from SMs to L2 slices, or for contexts through the slice's port to
//             its controller, and data back; translates addresses into those of the controller.
// Reserved    Four sets of ports, one flit of xbar_bytes_per_cycle per cycle each: of every SM and
//             of every slice, for requests and for replies.
// Sectors     Where lines have sectors, each is a packet of its own in both directions: a request
//             of one flit, or data with a header of 8 bytes. The slice serves them as they come.
// Order       xbar_order `fifo`: an SM's requests leave in their order, each when its slice's port
//             takes it; one that waits holds back those behind it, whatever their slices are
//             (head-of-line blocking of an input-queued crossbar). `turns`: the same, and ports
//             serve those that wait in turn; requests are asked and answered later, see TurnQueues.
//             b_transport, which has to answer at once, is then as with `fifo`.
// Packets     A request is one flit; a write or atomic carries its data behind it; a reply is its
//             data. A write is accepted at its destination and has no reply, or with writes
//             `acknowledged` one of a flit, per sector where there are sectors. Flits follow each
//             other through the network without waiting for the whole packet (cut-through), and
//             packets of one port may interleave.
// Fairness    A port serves in the order of arrival, but with `turns`.
class Crossbar final : public BlockingTarget, public sc_core::sc_module {
 public:
  Crossbar(sc_core::sc_module_name name, const MachineConfig& machine);

  // One that no SM needs may stay unbound.
  using SmSocket =
      tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  SmSocket& sm_socket(SmId sm) { return *sm_sockets_.at(Index(sm)); }
  BlockingSocket& slice_socket(unsigned slice) { return *slice_sockets_[slice]; }
  BlockingSocket& controller_socket(unsigned controller) {
    return *controller_sockets_[controller];
  }

  // Whether it is the address of a line.
  bool Has(std::uint64_t address) const {
    return address % kLineBytes == 0 && address < address_end_;
  }
  // TLM_OK_RESPONSE for a request that keeps to the contract.
  tlm::tlm_response_status Check(const LineAccess& access) const;
  // Of one that does. Its address is then the controller's.
  Cycle Serve(LineAccess* access, Cycle start) override;
  // Refuses what does not.
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;

  std::uint64_t late_reservations() const;

  // Requests that wait for their turn, as in MemoryPort; only with `turns`.
  bool in_turn() const { return turns_ != nullptr; }
  bool Full(SmId sm) const { return turns_->Full(sm); }
  unsigned Ask(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line, Ticket ticket,
               Cycle now);
  Cycle NextTurn() const { return turns_->next(); }
  void TakeTurns(Cycle now, MemoryListener* listener);

 private:
  static constexpr unsigned kPortWindow = 32768;  // cycles that a port's calendar looks ahead

  // An SM's requests come in the order of their times and leave in it: no gap is ever filled.
  struct SmPort {
    Cycle next_request = 0;  // after the last flit that has left
    Calendar reply{kPortWindow};
  };
  struct SlicePort {
    Calendar request{kPortWindow}, reply{kPortWindow};
  };

  AddressMap::Place Locate(std::uint64_t address) {
    return drawn_map_ != nullptr ? drawn_map_->Locate(address) : map_.Locate(address);
  }
  Cycle ServeAny(LineAccess* access, Cycle start);
  template <bool Plain>
  Cycle ServeAs(LineAccess* access, Cycle start);
  Cycle ServeTurn(const TurnPacket& packet, Cycle arrival);
  Cycle TravelFreely(Cycle* next, Calendar& to, Cycle start, unsigned flits) const;
  Cycle Travel(Calendar& from, Calendar& to, Cycle start, unsigned flits) const;
  Cycle TravelBlocking(Calendar& from, Calendar& to, Cycle start, unsigned flits) const;
  Cycle TravelInOrder(Cycle* next, Calendar& to, Cycle start, unsigned flits) const;

  const AddressMap map_;
  std::unique_ptr<DrawnMap> drawn_map_;  // instead of map_, if partition is `drawn`
  const unsigned sms_;
  const Divisor flit_bytes_;
  const unsigned sector_flits_;
  const bool sectored_, in_order_, acknowledged_;
  const bool plain_;  // lines are neither drawn nor in sectors, and no port waits for another
  const Cycle latency_;
  const std::uint64_t address_end_;
  std::vector<SmPort> sm_ports_;
  std::vector<SlicePort> slice_ports_;
  std::unique_ptr<TurnQueues> turns_;  // if the order is `turns`
  std::vector<std::unique_ptr<SmSocket>> sm_sockets_;
  std::vector<std::unique_ptr<BlockingSocket>> slice_sockets_, controller_sockets_;
};

}  // namespace smk
