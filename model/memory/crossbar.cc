// SPDX-License-Identifier: Apache-2.0
#include "memory/crossbar.h"

#include <algorithm>
#include <string>

namespace smk {
namespace {

std::vector<std::unique_ptr<BlockingSocket>> MakeSockets(const std::string& name, unsigned count) {
  std::vector<std::unique_ptr<BlockingSocket>> sockets;
  for (unsigned i = 0; i < count; ++i) {
    sockets.push_back(std::make_unique<BlockingSocket>((name + std::to_string(i)).c_str()));
  }
  return sockets;
}

}  // namespace

Crossbar::Crossbar(sc_core::sc_module_name name, const MachineConfig& machine)
    : sc_core::sc_module(name),
      map_(machine.memory),
      drawn_map_(machine.memory.partition == "drawn" ? std::make_unique<DrawnMap>(machine.memory)
                                                     : nullptr),
      sms_(machine.sms),
      flit_bytes_(machine.memory.xbar_bytes_per_cycle),
      sector_flits_(static_cast<unsigned>(flit_bytes_.Up(kSectorBytes + kSectorHeaderBytes))),
      sectored_(machine.memory.sector_bytes != kLineBytes),
      in_order_(machine.memory.xbar_order != "free"),
      acknowledged_(machine.memory.writes == "acknowledged"),
      plain_(drawn_map_ == nullptr && !sectored_ && !in_order_),
      latency_(machine.memory.xbar_latency),
      address_end_(TagEnd(machine.memory)),
      sm_ports_(machine.sms),
      slice_ports_(machine.memory.controllers * machine.memory.l2_slices_per_controller),
      slice_sockets_(MakeSockets("slice_", static_cast<unsigned>(slice_ports_.size()))),
      controller_sockets_(MakeSockets("controller_", machine.memory.controllers)) {
  if (machine.memory.xbar_order == "turns") {
    const auto slices = static_cast<unsigned>(slice_ports_.size());
    turns_ = std::make_unique<TurnQueues>(machine.sms, slices, latency_);
  }
  for (unsigned sm = 0; sm < machine.sms; ++sm) {
    sm_sockets_.push_back(std::make_unique<SmSocket>(("sm_" + std::to_string(sm)).c_str()));
    sm_sockets_.back()->bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  }
}

tlm::tlm_response_status Crossbar::Check(const LineAccess& access) const {
  if (Index(access.sm) >= sms_ || Index(access.kernel) >= kNumKernels) {
    return tlm::TLM_GENERIC_ERROR_RESPONSE;
  }
  if (!Has(access.address)) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (access.bytes - 1 >= kLineBytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

void Crossbar::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const auto* extension = payload.get_extension<MemoryExtension>();
  tlm::tlm_response_status status = tlm::TLM_GENERIC_ERROR_RESPONSE;
  if (extension != nullptr) status = Check(AccessOf(payload, *extension));
  if (status == tlm::TLM_OK_RESPONSE && payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    status = tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return;
  }
  BlockingTarget::b_transport(payload, delay);
}

std::uint64_t Crossbar::late_reservations() const {
  std::uint64_t sum = 0;
  for (const SmPort& port : sm_ports_) sum += port.reply.late();
  for (const SlicePort& port : slice_ports_) sum += port.request.late() + port.reply.late();
  return sum;
}

// The cycle after the last flit has passed the second port.
[[gnu::always_inline]] inline Cycle Crossbar::Travel(Calendar& from, Calendar& to, Cycle start,
                                                     unsigned flits) const {
  const Calendar::Span out = from.Take(start, flits);
  const Calendar::Span in = to.Take(out.begin + latency_, flits);
  return std::max(in.end, out.end + latency_);
}

// The same for requests, which leave in order.
[[gnu::always_inline]] inline Cycle Crossbar::TravelFreely(Cycle* next, Calendar& to, Cycle start,
                                                           unsigned flits) const {
  const Cycle leave = std::max(start, *next);
  *next = leave + flits;
  return std::max(to.Take(leave + latency_, flits).end, *next + latency_);
}

// One decision for all that most machines have not.
Cycle Crossbar::Serve(LineAccess* access, Cycle start) {
  return plain_ ? ServeAs<true>(access, start) : ServeAny(access, start);
}

[[gnu::noinline]] Cycle Crossbar::ServeAny(LineAccess* access, Cycle start) {
  return ServeAs<false>(access, start);
}

template <bool Plain>
inline Cycle Crossbar::ServeAs(LineAccess* access, Cycle start) {
  const bool sectored = !Plain && sectored_, in_order = !Plain && in_order_;
  const AddressMap::Place place = Plain ? map_.Locate(access->address) : Locate(access->address);
  SmPort& sm = sm_ports_[Index(access->sm)];
  SlicePort& slice = slice_ports_[place.slice];
  const unsigned sectors = access->bytes / kSectorBytes;
  const unsigned data =
      sectored ? sectors * sector_flits_ : static_cast<unsigned>(flit_bytes_.Up(access->bytes));
  const unsigned head = sectored ? sectors : 1;
  const bool has_data = access->store() || access->atomic();
  const unsigned flits = !has_data ? head : sectored ? data : head + data;
  const Cycle last = in_order ? TravelInOrder(&sm.next_request, slice.request, start, flits)
                              : TravelFreely(&sm.next_request, slice.request, start, flits);
  // The slice serves a sector per cycle while the others still come, so that it ends with the last.
  const Cycle arrival = sectored ? last - (sectors - 1) : last;
  access->address = place.local_address;
  BlockingSocket& to =
      access->context() ? *controller_sockets_[place.controller] : *slice_sockets_[place.slice];
  const Cycle ready = to.Serve(access, arrival);
  if (access->store() && !acknowledged_) return ready;
  const unsigned reply = access->store() ? head : data;
  return in_order ? TravelBlocking(slice.reply, sm.reply, ready, reply)
                  : Travel(slice.reply, sm.reply, ready, reply);
}

// The cycle after the last flit has passed the second port; each leaves the first when the second
// takes it.
Cycle Crossbar::TravelInOrder(Cycle* next, Calendar& to, Cycle start, unsigned flits) const {
  Cycle leave = std::max(start, *next);
  for (; flits != 0; --flits) leave = to.Take(leave + latency_, 1).end - latency_;
  *next = leave;
  return leave + latency_;
}

// The same for replies, whose order is not that of the calls: a flit that waits for the second port
// keeps the first one busy.
Cycle Crossbar::TravelBlocking(Calendar& from, Calendar& to, Cycle start, unsigned flits) const {
  Cycle leave = start;
  for (; flits != 0; --flits) {
    const Cycle head = from.Take(leave, 1).begin;
    leave = to.Take(head + latency_, 1).begin - latency_ + 1;
    from.Close(head, leave);
  }
  return leave + latency_;
}

}  // namespace smk
