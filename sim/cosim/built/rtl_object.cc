// SPDX-License-Identifier: Apache-2.0
// The shared object of one configuration, which CMake names: lib/smk/rtl_<name>.so.
#include "cosim/machine_rtl.h"
#include "rtl_sources.h"

extern "C" {

__attribute__((visibility("default"))) const char* SmkRtlSources() { return smk::kRtlSources; }

__attribute__((visibility("default"))) const smk::MachineRtl* SmkMachineRtl() {
  return &smk::SMK_MACHINE_RTL();
}

}  // extern "C"
