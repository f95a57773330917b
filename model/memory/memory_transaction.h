// SPDX-License-Identifier: Apache-2.0
// What travels through the memory system: a TLM generic payload and one extension.
//
// Purpose     Contract between an SM (initiator) and MemorySystem (target), TLM-2.0 b_transport;
//             and LineAccess, the same request as our own parts pass it on.
// Payload     command READ or WRITE; address of a 128-byte line, aligned; data length in bytes, at
//             most 128 (less for a write that touches only part of the line); no data pointer. The
//             response status is TLM_OK_RESPONSE, or TLM_ADDRESS_ERROR_RESPONSE /
//             TLM_BURST_ERROR_RESPONSE when that contract is broken.
// Time        Request time is sc_time_stamp() + delay at entry. At return delay is the completion:
//             data back at the SM for reads and atomics, accepted at its destination for other
//             writes. Nothing waits, so one SC_THREAD may send thousands of requests ahead of
//             SystemC's time.
// Order       Request times may go back by a little between calls (a few cycles cost nothing); see
//             Calendar for what happens when they go back by thousands.
// Unit        One core cycle is one nominal nanosecond whatever the core clock is.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "base/ids.h"
#include "memory/memory_port.h"

namespace smk {

inline constexpr std::uint64_t kTimePerCycle = 1000;  // sc_time units (1 ps) of one core cycle

inline sc_core::sc_time CoreCycles(Cycle cycles) {
  return sc_core::sc_time::from_value(cycles * kTimePerCycle);
}

// Whole core cycles, rounded up.
inline Cycle ToCycles(const sc_core::sc_time& time) {
  return (time.value() + (kTimePerCycle - 1)) / kTimePerCycle;
}

enum class MemoryKind : std::uint8_t {
  kDemand,   // of a kernel's own instructions: through the L2
  kContext,  // of a preempted TB (SMK Sec. 5.1): directly to the memory controller
};

// Who sends the request and how it is to be treated; `l2_hit` is the answer.
class MemoryExtension : public tlm::tlm_extension<MemoryExtension> {
 public:
  KernelId kernel{0};
  SmId sm{0};
  MemoryKind kind = MemoryKind::kDemand;
  SectorMask sectors = kAllSectors;  // of the line; the data length is theirs where lines have any
  bool atomic = false;               // read-modify-write at the L2: data travel both ways
  bool l2_hit = false;               // out: the line was present. A line in flight counts as a miss

  tlm::tlm_extension_base* clone() const override { return new MemoryExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const MemoryExtension&>(other);
  }
};

// The same request without a payload, for LineTarget.
struct LineAccess {
  std::uint64_t address = 0;  // of the line; behind the crossbar, in its controller's addresses
  unsigned bytes = kLineBytes;
  SectorMask sectors = kAllSectors;
  // In words of their own: compilers put bytes side by side together before they store them.
  alignas(4) KernelId kernel{0};
  alignas(4) SmId sm{0};
  alignas(4) MemoryAccess access = MemoryAccess::kLoad;
  bool l2_hit = false;  // out

  bool store() const { return IsStore(access); }
  bool atomic() const { return access == MemoryAccess::kAtomic; }
  bool context() const { return OfContext(access); }
};

// A payload with its extension, made once and used for every request of its owner.
class MemoryTransaction {
 public:
  MemoryTransaction() : extension_(new MemoryExtension) { payload_.set_extension(extension_); }
  MemoryTransaction(const MemoryTransaction&) = delete;
  MemoryTransaction& operator=(const MemoryTransaction&) = delete;

  void SetRead(std::uint64_t line_address, unsigned bytes = kLineBytes) {
    Set(tlm::TLM_READ_COMMAND, line_address, bytes);
  }
  void SetWrite(std::uint64_t line_address, unsigned bytes = kLineBytes) {
    Set(tlm::TLM_WRITE_COMMAND, line_address, bytes);
  }
  void Set(const LineAccess& access) {
    Set(access.store() ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, access.address,
        access.bytes);
    extension_->kernel = access.kernel;
    extension_->sm = access.sm;
    extension_->kind = access.context() ? MemoryKind::kContext : MemoryKind::kDemand;
    extension_->sectors = access.sectors;
    extension_->atomic = access.atomic();
  }
  MemoryExtension& extension() { return *extension_; }
  tlm::tlm_generic_payload& payload() { return payload_; }

 private:
  void Set(tlm::tlm_command command, std::uint64_t line_address, unsigned bytes) {
    payload_.set_command(command);
    payload_.set_address(line_address);
    payload_.set_data_length(bytes);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  }

  tlm::tlm_generic_payload payload_;  // owns the extension
  MemoryExtension* extension_;
};

}  // namespace smk
