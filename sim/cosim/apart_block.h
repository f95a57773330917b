// SPDX-License-Identifier: Apache-2.0
// A block of the driver that is evaluated apart from it: see sim_driver.
//
// Purpose     Evaluated only while it is busy, hears something else, or says a pulse.
// Interface   Hear() settles what the block hears in a cycle, Edge() clocks it.
#pragma once

#include <cstring>
#include <string>

#include "cosim/verilated_unit.h"

namespace smk {

// `Model` has the ports hears_i, says_o, pulse_o and busy_o.
template <typename Model>
class ApartBlock {
 public:
  ApartBlock(VerilatedContext* context, const std::string& scope) : unit_(context, scope) {}

  template <typename Port>
  void Reset(const Port& hears) {
    unit_->hears_i = hears;
    unit_.Reset();
  }
  // What it hears from now on; true when that is something else.
  template <typename Port>
  bool Hear(const Port& hears) {
    if (std::memcmp(&unit_->hears_i, &hears, sizeof hears) == 0) return false;
    unit_->hears_i = hears;
    Touch();
    return true;
  }
  // After another of its inputs has changed.
  void Touch() {
    unit_.Settle();
    heard_ = true;
  }
  // The clock edge of a cycle, with `all` even if it changes nothing. What it says goes to `says`;
  // true when somebody must look at it.
  template <typename Port>
  bool Edge(bool all, Port* says) {
    if (!all && !heard_ && unit_->busy_o == 0 && unit_->pulse_o == 0) return false;
    heard_ = false;
    unit_.Cycle();
    const bool other = std::memcmp(says, &unit_->says_o, sizeof *says) != 0;
    if (other) *says = unit_->says_o;
    return other || unit_->pulse_o != 0;
  }
  bool busy() const { return unit_->busy_o != 0; }
  const Model& model() const { return *unit_.operator->(); }
  VerilatedUnit<Model>* unit() { return &unit_; }

 private:
  VerilatedUnit<Model> unit_;
  bool heard_ = false;
};

}  // namespace smk
