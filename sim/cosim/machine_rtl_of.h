// SPDX-License-Identifier: Apache-2.0
// A MachineRtl of the classes of one configuration: see configs/.
#pragma once

#include "cosim/lanes/lane_issue.h"
#include "cosim/machine_rtl.h"
#include "cosim/no_waves.h"
#include "cosim/rtl_control_of.h"
#include "cosim/wave_writer.h"

namespace smk {

template <typename Rtl, typename Lanes>
const MachineRtl& MachineRtlOf() {
  static constexpr MachineRtl kRtl = {
      Rtl::kName, [](const ControlConfig& config) { return Fits<Rtl>(config); },
      [](const ControlConfig& config, const PolicyConfig& policy,
         const RtlOptions& options) -> std::unique_ptr<ControlPlane> {
        return std::make_unique<RtlControl<Rtl, WaveWriter>>(config, policy, options);
      },
      [](const ControlConfig& config, const PolicyConfig& policy) -> std::unique_ptr<ControlPlane> {
        return std::make_unique<RtlControl<Lanes, NoWaves, LaneIssue<Lanes>>>(config, policy,
                                                                              RtlOptions{});
      }};
  return kRtl;
}

}  // namespace smk
