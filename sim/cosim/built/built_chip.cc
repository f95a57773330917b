// SPDX-License-Identifier: Apache-2.0
// The shared object of `smk rtl build --chip`: compiled by build_rtl.sh, beside what Verilator has
// made of smk_top in one configuration. Not a part of the program.
#include <Vbuilt_cosim_top.h>
#include <Vbuilt_cosim_top___024root.h>
#include <Vbuilt_cosim_top_smk_pkg.h>

#include "cosim/built/built_object.h"
#include "cosim/chip/top_model.h"

namespace smk {

ControlPlane* MakeBuilt(const ControlConfig&, const PolicyConfig& policy, const RtlOptions&) {
  return new TopControl<Vbuilt_cosim_top, Vbuilt_cosim_top_smk_pkg>(policy);
}

}  // namespace smk
