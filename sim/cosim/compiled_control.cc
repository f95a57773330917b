// SPDX-License-Identifier: Apache-2.0
#include "cosim/compiled_control.h"

#include <type_traits>

#include "base/error.h"
#include "control/reference_control.h"
#include "cosim/lane_configs.h"
#include "cosim/lane_issue.h"
#include "cosim/no_waves.h"
#include "cosim/rtl_control.h"
#include "cosim/rtl_control_of.h"

namespace smk {
namespace {

using BuiltIn = RtlList<LanesGtx980, LanesFermi, LanesSmall, LanesV100>;

}  // namespace

bool HasCompiled(const ControlConfig& config) { return BuiltIn::Has(config); }

std::unique_ptr<ControlPlane> MakeCompiledControl(const ControlConfig& config,
                                                  const PolicyConfig& policy) {
  CheckControl(config, policy);
  auto made = BuiltIn::MakeFor(config, [&](auto* configuration) {
    using Lanes = std::remove_pointer_t<decltype(configuration)>;
    return std::make_unique<RtlControl<Lanes, NoWaves, LaneIssue<Lanes>>>(config, policy,
                                                                          RtlOptions{});
  });
  if (made != nullptr) return made;
  throw InputError("control: gates are compiled for the SMs of " + RtlConfigurations() +
                   "; with another number of SMs, schedulers or resources use --control rtl");
}

}  // namespace smk
