// SPDX-License-Identifier: Apache-2.0
// A SystemC kernel of its own for one simulation.
#pragma once

#include <systemc>

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace smk {

// SystemC's processes have stacks of their own. It tells the address sanitizer when one of them
// goes on, but not whose stack it is when the last has ended (2.3.4: sc_cor_pkg_qt::abort). The
// sanitizer would go on with that of the process, and report errors where an exception has passed.
// Called on the caller's own stack after sc_start; does nothing without the sanitizer.
inline void BackOnThreadStack() {
#if defined(__SANITIZE_ADDRESS__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* bottom = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &bottom, &size);
  pthread_attr_destroy(&attributes);
  __sanitizer_start_switch_fiber(nullptr, bottom, size);
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

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
