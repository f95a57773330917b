// SPDX-License-Identifier: Apache-2.0
// Everything behind the SMs: crossbar, L2 slices, memory controllers.
//
// Purpose     One TLM-2.0 target socket per SM; the contract of a request is memory_transaction.h.
// Structure   sm_socket[i] -> Crossbar -> L2Slice -> MemoryController; context requests go from the
//             crossbar to the controller without touching an L2 (SMK Sec. 5.1).
// Timing      Every shared resource is reserved in time when a request passes: there are no events,
//             no waits and no allocation per request. Unloaded latencies are in
//             docs/memory_model.md.
// Use         Bind an initiator socket to sm_socket(), or call Transport(), which is the same
//             path for an initiator without sockets. SystemC allows one elaboration per context:
//             see SimulationContext.
#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "config/machine_config.h"
#include "memory/memory_port.h"
#include "memory/memory_stats.h"
#include "memory/memory_transaction.h"

namespace smk {

class Crossbar;
class L2Slice;
class MemoryController;

// See the head of this file.
class MemorySystem : public sc_core::sc_module {
 public:
  using SmSocket =
      tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

  // `machine` is checked by MachineConfig::Load; here its values are taken as they are.
  MemorySystem(sc_core::sc_module_name name, const MachineConfig& machine);
  ~MemorySystem() override;

  // Socket of one SM, to be bound before the simulation starts; one that no SM uses may stay
  // unbound.
  SmSocket& sm_socket(SmId sm);

  // The request's extension names the SM. Only after elaboration (sc_start).
  void Transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  // The same without a payload: the cycle of completion of a request that is sent at `now`. Throws
  // CheckFailure when the address is not that of a line; nothing else is checked.
  Cycle Serve(LineAccess access, Cycle now);

  // Requests that wait for their turn; see MemoryPort.
  bool InTurn() const;
  bool Full(SmId sm) const;
  unsigned Ask(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line, Ticket ticket,
               Cycle now);
  Cycle NextTurn() const;
  void TakeTurns(Cycle now, MemoryListener* listener);

  // Sum over all parts; cheap enough to be called once per epoch.
  // As MemoryPort::stats(); without `now`, of all that was asked.
  MemoryStats stats(Cycle now = ~Cycle{0}) const;

 private:
  std::vector<std::unique_ptr<MemoryController>> controllers_;
  std::vector<std::unique_ptr<L2Slice>> slices_;
  std::unique_ptr<Crossbar> crossbar_;
};

}  // namespace smk
