// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_system.h"

#include <string>

#include "base/error.h"
#include "memory/crossbar.h"
#include "memory/l2_slice.h"
#include "memory/memory_controller.h"

namespace smk {

namespace {

[[noreturn, gnu::cold, gnu::noinline]] void RefuseAddress(SmId sm, Cycle now) {
  tlm::tlm_generic_payload refused;
  refused.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  throw CheckFailure("cycle " + std::to_string(now) + ": SM " + std::to_string(Index(sm)) +
                     ": memory refused a request: " + refused.get_response_string());
}

}  // namespace

MemorySystem::MemorySystem(sc_core::sc_module_name name, const MachineConfig& machine)
    : sc_core::sc_module(name) {
  const MemoryConfig& memory = machine.memory;
  const unsigned slices = memory.l2_slices_per_controller;
  crossbar_ = std::make_unique<Crossbar>("crossbar", machine);
  for (unsigned c = 0; c < memory.controllers; ++c) {
    // The last port is for contexts.
    controllers_.push_back(std::make_unique<MemoryController>(
        ("controller_" + std::to_string(c)).c_str(), machine, slices + 1));
    crossbar_->controller_socket(c).bind(controllers_[c]->socket(slices));
    for (unsigned s = 0; s < slices; ++s) {
      const unsigned index = c * slices + s;
      slices_.push_back(
          std::make_unique<L2Slice>(("l2_slice_" + std::to_string(index)).c_str(), memory));
      slices_[index]->memory_socket().bind(controllers_[c]->socket(s));
      crossbar_->slice_socket(index).bind(slices_[index]->socket());
    }
  }
}

MemorySystem::~MemorySystem() = default;

MemorySystem::SmSocket& MemorySystem::sm_socket(SmId sm) { return crossbar_->sm_socket(sm); }

void MemorySystem::Transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  crossbar_->b_transport(payload, delay);
}

Cycle MemorySystem::Serve(LineAccess access, Cycle now) {
  if (__builtin_expect(!crossbar_->Has(access.address), 0)) RefuseAddress(access.sm, now);
  return crossbar_->Serve(&access, now);
}

bool MemorySystem::InTurn() const { return crossbar_->in_turn(); }
bool MemorySystem::Full(SmId sm) const { return crossbar_->Full(sm); }
Cycle MemorySystem::NextTurn() const { return crossbar_->NextTurn(); }

unsigned MemorySystem::Ask(SmId sm, KernelId kernel, MemoryAccess access, LineRequest line,
                           Ticket ticket, Cycle now) {
  return crossbar_->Ask(sm, kernel, access, line, ticket, now);
}

void MemorySystem::TakeTurns(Cycle now, MemoryListener* listener) {
  crossbar_->TakeTurns(now, listener);
}

MemoryStats MemorySystem::stats(Cycle now) const {
  MemoryStats sum;
  sum.late_reservations = crossbar_->late_reservations();
  for (const auto& slice : slices_) {
    sum += slice->stats();
    sum.late_reservations += slice->late_reservations();
  }
  for (const auto& controller : controllers_) {
    sum += controller->stats(now);
    sum.late_reservations += controller->late_reservations();
  }
  return sum;
}

}  // namespace smk
