// SPDX-License-Identifier: Apache-2.0
#include <Vlinked_cosim_top.h>
#include <Vlinked_cosim_top___024root.h>
#include <Vlinked_cosim_top_smk_pkg.h>

#include "cosim/chip/top_control.h"
#include "cosim/chip/top_model.h"

namespace smk {

std::unique_ptr<ControlPlane> MakeLinkedTopControl(const PolicyConfig& policy) {
  return std::make_unique<TopControl<Vlinked_cosim_top, Vlinked_cosim_top_smk_pkg>>(policy);
}

}  // namespace smk
