// SPDX-License-Identifier: Apache-2.0
// The shared object of `smk rtl build --chip`: compiled by build_rtl.sh, beside what Verilator has
// made of smk_top in one configuration. Not a part of the program.
#include <Vbuilt_cosim_top.h>
#include <Vbuilt_cosim_top___024root.h>
#include <Vbuilt_cosim_top_smk_pkg.h>

#include "cosim/built_rtl.h"
#include "cosim/top_model.h"

extern "C" {

__attribute__((visibility("default"))) unsigned long SmkSeamLayout() { return smk::kSeamLayout; }

__attribute__((visibility("default"))) smk::ControlPlane* SmkMakeRtl(
    const smk::ControlConfig*, const smk::PolicyConfig* policy, const smk::RtlOptions*) {
  return new smk::TopControl<Vbuilt_cosim_top, Vbuilt_cosim_top_smk_pkg>(*policy);
}

}  // extern "C"
