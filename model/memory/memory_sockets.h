// SPDX-License-Identifier: Apache-2.0
// The halves of TLM-2.0 that every part of the memory system has and none uses.
#pragma once

#include <systemc>
#include <tlm>
#include <type_traits>

#include "memory/memory_transaction.h"

namespace smk {

// A target that takes blocking transport only: no debug, no direct memory (there are no data), and
// a non-blocking call is a mistake of the initiator.
class BlockingTarget : public tlm::tlm_fw_transport_if<> {
 public:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& /*delay*/) final {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& /*dmi*/) final {
    return false;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& /*payload*/) final { return 0; }
};

// An initiator socket that is never called back.
class BlockingSocket : public tlm::tlm_initiator_socket<> {
 public:
  explicit BlockingSocket(const char* name) : tlm::tlm_initiator_socket<>(name) { bind(backward_); }
  using tlm::tlm_initiator_socket<>::bind;

 private:
  // Answers what no target of ours ever asks.
  class Backward : public tlm::tlm_bw_transport_if<> {
   public:
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& /*payload*/,
                                       tlm::tlm_phase& /*phase*/,
                                       sc_core::sc_time& /*delay*/) override {
      return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}
  };
  Backward backward_;
};

// Between SystemC's relative times and the absolute core cycles that the parts reckon with. Made at
// the start of a b_transport, in which SystemC's time stands still.
class TransportClock {
 public:
  TransportClock() : now_(sc_core::sc_time_stamp().value()) {}

  Cycle RequestCycle(const sc_core::sc_time& delay) const {
    return (now_ + delay.value() + (kTimePerCycle - 1)) / kTimePerCycle;
  }
  // Sets the delay to end at `cycle`. Writes sc_time's only member in place, as a class of standard
  // layout allows: sc_time::from_value() is a call into the library, several times per transaction.
  void DelayUntil(Cycle cycle, sc_core::sc_time& delay) const {
    static_assert(std::is_standard_layout_v<sc_core::sc_time> &&
                  sizeof(sc_core::sc_time) == sizeof(sc_core::sc_time::value_type));
    *reinterpret_cast<sc_core::sc_time::value_type*>(&delay) = cycle * kTimePerCycle - now_;
  }

 private:
  std::uint64_t now_;
};

}  // namespace smk
