// SPDX-License-Identifier: Apache-2.0
// The shared object of `smk rtl build`: compiled by build_rtl.sh, beside what Verilator has made of
// one configuration. Not a part of the program.
#include <Vbuilt_cosim_arbiter.h>
#include <Vbuilt_cosim_driver.h>
#include <Vbuilt_cosim_driver_smk_pkg.h>
#include <Vbuilt_cosim_planner.h>
#include <Vbuilt_cosim_profile.h>
#include <Vbuilt_cosim_profiler.h>
#include <Vbuilt_cosim_sample.h>
#include <Vbuilt_cosim_scheduler.h>
#include <Vbuilt_cosim_tables.h>
#include <Vbuilt_cosim_tables___024root.h>
#include <Vbuilt_cosim_usage.h>

#include "cosim/built/built_object.h"
#include "cosim/no_waves.h"
#include "cosim/rtl_control_of.h"

namespace smk {
namespace {

SMK_RTL_CONFIG(RtlBuilt, built, built);

}  // namespace

ControlPlane* MakeBuilt(const ControlConfig& config, const PolicyConfig& policy,
                        const RtlOptions& options) {
  return new RtlControl<RtlBuilt, NoWaves>(config, policy, options);
}

}  // namespace smk
