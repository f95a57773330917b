// SPDX-License-Identifier: Apache-2.0
#include "cosim/rtl_control.h"

#include "base/error.h"
#include "control/reference_control.h"
#include "cosim/rtl_configs.h"
#include "cosim/rtl_control_of.h"
#include "cosim/wave_writer.h"

namespace smk {
namespace {

template <typename Rtl>
std::unique_ptr<ControlPlane> Make(const ControlConfig& config, const PolicyConfig& policy,
                                   const RtlOptions& options) {
  return std::make_unique<RtlControl<Rtl, WaveWriter>>(config, policy, options);
}

}  // namespace

bool HasRtl(const ControlConfig& config) {
  return Fits<RtlGtx980>(config) || Fits<RtlFermi>(config) || Fits<RtlSmall>(config) ||
         Fits<RtlV100>(config);
}

std::string RtlConfigurations() {
  return std::string(RtlGtx980::kName) + ", " + RtlFermi::kName + ", " + RtlV100::kName;
}

std::unique_ptr<ControlPlane> MakeRtlControl(const ControlConfig& config,
                                             const PolicyConfig& policy,
                                             const RtlOptions& options) {
  CheckControl(config, policy);
  if (Fits<RtlGtx980>(config)) return Make<RtlGtx980>(config, policy, options);
  if (Fits<RtlFermi>(config)) return Make<RtlFermi>(config, policy, options);
  if (Fits<RtlSmall>(config)) return Make<RtlSmall>(config, policy, options);
  if (Fits<RtlV100>(config)) return Make<RtlV100>(config, policy, options);
  throw InputError("control: the RTL is built for the SMs of " + RtlConfigurations() +
                   "; with another number of SMs, schedulers or resources use --control reference");
}

}  // namespace smk
