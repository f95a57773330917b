// SPDX-License-Identifier: Apache-2.0
// What every shared object of `smk rtl build` exports (built_rtl.h): included by its one source,
// which defines MakeBuilt().
#pragma once

#include "cosim/built/built_rtl.h"

namespace smk {

ControlPlane* MakeBuilt(const ControlConfig& config, const PolicyConfig& policy,
                        const RtlOptions& options);

}  // namespace smk

extern "C" {

__attribute__((visibility("default"))) unsigned long SmkSeamLayout() { return smk::kSeamLayout; }

__attribute__((visibility("default"))) smk::ControlPlane* SmkMakeRtl(
    const smk::ControlConfig* config, const smk::PolicyConfig* policy,
    const smk::RtlOptions* options) {
  return smk::MakeBuilt(*config, *policy, *options);
}

}  // extern "C"
