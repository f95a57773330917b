// SPDX-License-Identifier: Apache-2.0
// A memory system by itself, with SMs that are loops of the test.
#pragma once

#include <functional>
#include <systemc>
#include <vector>

#include "machine/simulation_context.h"
#include "memory/memory_sockets.h"
#include "memory/memory_system.h"

namespace smk {

// Owns a SystemC context, so that every test has a memory system that starts empty at time zero.
// SystemC's time stays zero: requests are ahead of it by their delay.
class MemoryRig {
 public:
  struct Answer {
    Cycle done = 0;  // absolute
    bool l2_hit = false;
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  };

  explicit MemoryRig(const MachineConfig& machine) : machine_(machine), memory_("memory", machine) {
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                            sc_core::SC_DO_NOTHING);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  Answer Read(Cycle now, std::uint64_t address, unsigned sm = 0, unsigned bytes = kLineBytes) {
    request_.SetRead(address, bytes);
    return Send(now, sm, MemoryKind::kDemand, false);
  }
  Answer Write(Cycle now, std::uint64_t address, unsigned sm = 0, unsigned bytes = kLineBytes) {
    request_.SetWrite(address, bytes);
    return Send(now, sm, MemoryKind::kDemand, false);
  }
  Answer Atomic(Cycle now, std::uint64_t address, unsigned sm = 0) {
    request_.SetRead(address);
    return Send(now, sm, MemoryKind::kDemand, true);
  }
  Answer ReadContext(Cycle now, std::uint64_t address, unsigned sm = 0) {
    request_.SetRead(address);
    return Send(now, sm, MemoryKind::kContext, false);
  }
  Answer WriteContext(Cycle now, std::uint64_t address, unsigned sm = 0) {
    request_.SetWrite(address);
    return Send(now, sm, MemoryKind::kContext, false);
  }

  MemoryTransaction& request() { return request_; }
  MemorySystem& memory() { return memory_; }
  MemoryStats stats() const { return memory_.stats(); }
  const MachineConfig& machine() const { return machine_; }
  void set_kernel(KernelId kernel) { request_.extension().kernel = kernel; }

  Answer Send(Cycle now, unsigned sm, MemoryKind kind, bool atomic) {
    request_.extension().sm = SmId(sm);
    request_.extension().kind = kind;
    request_.extension().atomic = atomic;
    sc_core::sc_time delay = CoreCycles(now);
    memory_.Transport(request_.payload(), delay);
    return {ToCycles(delay), request_.extension().l2_hit, request_.payload().get_response_status()};
  }

 private:
  SimulationContext context_;
  MachineConfig machine_;
  MemorySystem memory_;
  MemoryTransaction request_;
};

// An SM with a socket, as the GPU has it.
class SocketSm : public sc_core::sc_module {
 public:
  explicit SocketSm(sc_core::sc_module_name name) : sc_module(name), socket("socket") {}
  BlockingSocket socket;
};

// Peak of the DRAM in bytes per core cycle, over all controllers.
inline double PeakDramBytes(const MachineConfig& machine) {
  return machine.memory.dram_bytes_per_clock * machine.memory.controllers *
         machine.memory.dram_clock_mhz / machine.core_clock_mhz;
}

// SMs that keep a number of requests in flight and send at most one per cycle.
class ClosedLoop {
 public:
  using Sender = std::function<Cycle(unsigned sm, Cycle now)>;  // gives the completion

  ClosedLoop(unsigned sms, unsigned in_flight) : free_at_(sms), completed_(sms) {
    for (auto& slots : free_at_) slots.assign(in_flight, 0);
  }

  // Runs the cycles [from, to); counts what completes within them.
  void Run(Cycle from, Cycle to, const Sender& send) {
    for (Cycle now = from; now < to; ++now) {
      for (unsigned sm = 0; sm < free_at_.size(); ++sm) {
        for (Cycle& slot : free_at_[sm]) {
          if (slot > now) continue;
          slot = send(sm, now);
          if (slot < to) ++completed_[sm];
          break;
        }
      }
    }
  }
  const std::vector<std::uint64_t>& completed() const { return completed_; }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : completed_) sum += n;
    return sum;
  }

 private:
  std::vector<std::vector<Cycle>> free_at_;
  std::vector<std::uint64_t> completed_;
};

}  // namespace smk
