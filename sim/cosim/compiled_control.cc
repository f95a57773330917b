// SPDX-License-Identifier: Apache-2.0
#include "cosim/compiled_control.h"

#include "base/error.h"
#include "control/reference_control.h"
#include "cosim/lane_configs.h"
#include "cosim/lane_issue.h"
#include "cosim/no_waves.h"
#include "cosim/rtl_control.h"
#include "cosim/rtl_control_of.h"

namespace smk {
namespace {

template <typename Lanes>
std::unique_ptr<ControlPlane> Make(const ControlConfig& config, const PolicyConfig& policy) {
  return std::make_unique<RtlControl<Lanes, NoWaves, LaneIssue<Lanes>>>(config, policy,
                                                                        RtlOptions{});
}

}  // namespace

bool HasCompiled(const ControlConfig& config) {
  return Fits<RtlGtx980>(config) || Fits<RtlFermi>(config) || Fits<RtlSmall>(config) ||
         Fits<RtlV100>(config);
}

std::unique_ptr<ControlPlane> MakeCompiledControl(const ControlConfig& config,
                                                  const PolicyConfig& policy) {
  CheckControl(config, policy);
  if (Fits<RtlGtx980>(config)) return Make<LanesGtx980>(config, policy);
  if (Fits<RtlFermi>(config)) return Make<LanesFermi>(config, policy);
  if (Fits<RtlSmall>(config)) return Make<LanesSmall>(config, policy);
  if (Fits<RtlV100>(config)) return Make<LanesV100>(config, policy);
  throw InputError("control: gates are compiled for the SMs of " + RtlConfigurations() +
                   "; with another number of SMs, schedulers or resources use --control rtl");
}

}  // namespace smk
