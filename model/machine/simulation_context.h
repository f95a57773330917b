// SPDX-License-Identifier: Apache-2.0
// A SystemC kernel of its own for one simulation.
#pragma once

#include <systemc>

namespace smk {

// SystemC keeps its kernel (module names, time, elaboration) in one global context, and a context
// can be elaborated only once. While a SimulationContext lives, a fresh context takes that place,
// so a process can run one simulation after another. Modules must be created and destroyed inside
// its lifetime; lives do not overlap except by nesting.
class SimulationContext {
 public:
  SimulationContext() : outer_(sc_core::sc_curr_simcontext) {
    sc_core::sc_curr_simcontext = new sc_core::sc_simcontext;
    own_ = sc_core::sc_curr_simcontext;
  }
  ~SimulationContext() {
    delete own_;
    sc_core::sc_curr_simcontext = outer_;
  }
  SimulationContext(const SimulationContext&) = delete;
  SimulationContext& operator=(const SimulationContext&) = delete;

 private:
  sc_core::sc_simcontext* outer_;
  sc_core::sc_simcontext* own_;
};

}  // namespace smk
