// SPDX-License-Identifier: Apache-2.0
#include <Vsmall_cosim_top.h>
#include <Vsmall_cosim_top___024root.h>
#include <Vsmall_cosim_top_smk_pkg.h>

#include "cosim/chip/top_control.h"
#include "cosim/chip/top_model.h"

namespace smk {

std::unique_ptr<ControlPlane> MakeSmallTopControl(const PolicyConfig& policy) {
  return std::make_unique<TopControl<Vsmall_cosim_top, Vsmall_cosim_top_smk_pkg>>(policy);
}

}  // namespace smk
