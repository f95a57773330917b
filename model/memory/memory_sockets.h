// SPDX-License-Identifier: Apache-2.0
// The halves of TLM-2.0 that every part of the memory system has and none uses.
#pragma once

#include <systemc>
#include <tlm>

#include "memory/memory_transaction.h"

namespace smk {

// Between SystemC's relative times and the absolute core cycles that the parts reckon with. Made at
// the start of a b_transport, in which SystemC's time stands still.
class TransportClock {
 public:
  TransportClock() : now_(sc_core::sc_time_stamp().value()) {}

  Cycle RequestCycle(const sc_core::sc_time& delay) const {
    return (now_ + delay.value() + (kTimePerCycle - 1)) / kTimePerCycle;
  }
  sc_core::sc_time DelayUntil(Cycle cycle) const {
    return sc_core::sc_time::from_value(cycle * kTimePerCycle - now_);
  }

 private:
  std::uint64_t now_;
};

// A part that serves requests in core cycles.
class LineTarget {
 public:
  virtual ~LineTarget() = default;
  // What b_transport does: the cycle of completion of a request that comes at `arrival`.
  virtual Cycle Serve(LineAccess* access, Cycle arrival) = 0;
  // The same for those who know which of both it is. Atomics are reads.
  virtual Cycle Read(LineAccess* access, Cycle arrival) { return Serve(access, arrival); }
  virtual Cycle Write(LineAccess* access, Cycle arrival) { return Serve(access, arrival); }
};

// A target that takes blocking transport only: no debug, no direct memory (there are no data), and
// a non-blocking call is a mistake of the initiator. The first base of its parts, LineTarget before
// all: then a call of Serve() through a socket needs no other `this`.
class BlockingTarget : public LineTarget, public tlm::tlm_fw_transport_if<> {
 public:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    const TransportClock clock;
    auto& extension = *payload.get_extension<MemoryExtension>();
    LineAccess access = AccessOf(payload, extension);
    delay = clock.DelayUntil(Serve(&access, clock.RequestCycle(delay)));
    extension.l2_hit = access.l2_hit;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& /*delay*/) final {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& /*dmi*/) final {
    return false;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& /*payload*/) final { return 0; }

 protected:
  static LineAccess AccessOf(const tlm::tlm_generic_payload& payload,
                             const MemoryExtension& extension) {
    MemoryAccess access = extension.atomic     ? MemoryAccess::kAtomic
                          : payload.is_write() ? MemoryAccess::kStore
                                               : MemoryAccess::kLoad;
    if (extension.kind == MemoryKind::kContext) {
      access = payload.is_write() ? MemoryAccess::kContextStore : MemoryAccess::kContextLoad;
    }
    return {payload.get_address(), payload.get_data_length(),
            extension.sectors,     extension.kernel,
            extension.sm,          access};
  }
};

// An initiator socket that is never called back.
class BlockingSocket : public tlm::tlm_initiator_socket<> {
 public:
  explicit BlockingSocket(const char* name) : tlm::tlm_initiator_socket<>(name) { bind(backward_); }
  using tlm::tlm_initiator_socket<>::bind;

  // Sends a request to what the socket is bound to. To one of our own parts that is a call; to any
  // other it is b_transport with a payload. After elaboration.
  Cycle Serve(LineAccess* access, Cycle start) {
    return target_ != nullptr ? target_->Serve(access, start) : Transport(access, start);
  }
  Cycle Read(LineAccess* access, Cycle start) {
    return target_ != nullptr ? target_->Read(access, start) : Transport(access, start);
  }
  Cycle Write(LineAccess* access, Cycle start) {
    return target_ != nullptr ? target_->Write(access, start) : Transport(access, start);
  }

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

  void end_of_elaboration() override {
    target_ = dynamic_cast<LineTarget*>(static_cast<tlm::tlm_fw_transport_if<>*>(operator->()));
  }
  Cycle Transport(LineAccess* access, Cycle start) {
    const TransportClock clock;
    request_.Set(*access);
    sc_core::sc_time delay = clock.DelayUntil(start);
    (*this)->b_transport(request_.payload(), delay);
    access->l2_hit = request_.extension().l2_hit;
    return clock.RequestCycle(delay);
  }

  Backward backward_;
  LineTarget* target_ = nullptr;  // none: somebody else's part
  MemoryTransaction request_;
};

}  // namespace smk
