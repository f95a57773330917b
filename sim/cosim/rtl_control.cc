// SPDX-License-Identifier: Apache-2.0
#include "cosim/rtl_control.h"

#include <type_traits>

#include "base/error.h"
#include "control/reference_control.h"
#include "cosim/rtl_configs.h"
#include "cosim/rtl_control_of.h"
#include "cosim/wave_writer.h"

namespace smk {
namespace {

using BuiltIn = RtlList<RtlGtx980, RtlFermi, RtlSmall, RtlV100>;

}  // namespace

bool HasRtl(const ControlConfig& config) { return BuiltIn::Has(config); }

std::string RtlConfigurations() {
  return std::string(RtlGtx980::kName) + ", " + RtlFermi::kName + ", " + RtlV100::kName;
}

std::unique_ptr<ControlPlane> MakeRtlControl(const ControlConfig& config,
                                             const PolicyConfig& policy,
                                             const RtlOptions& options) {
  CheckControl(config, policy);
  auto made = BuiltIn::MakeFor(config, [&](auto* rtl) {
    using Rtl = std::remove_pointer_t<decltype(rtl)>;
    return std::make_unique<RtlControl<Rtl, WaveWriter>>(config, policy, options);
  });
  if (made != nullptr) return made;
  throw InputError("control: the RTL is built for the SMs of " + RtlConfigurations() +
                   "; with another number of SMs, schedulers or resources use --control reference");
}

}  // namespace smk
