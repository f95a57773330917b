// SPDX-License-Identifier: Apache-2.0
#include <Vgtx980_cosim_top.h>
#include <Vgtx980_cosim_top___024root.h>
#include <Vgtx980_cosim_top_smk_pkg.h>

#include "cosim/chip/top_control.h"
#include "cosim/chip/top_model.h"

namespace smk {

std::unique_ptr<ControlPlane> MakeGtx980TopControl(const PolicyConfig& policy) {
  return std::make_unique<TopControl<Vgtx980_cosim_top, Vgtx980_cosim_top_smk_pkg>>(policy);
}

}  // namespace smk
