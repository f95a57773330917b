// SPDX-License-Identifier: Apache-2.0
// What a shared object of `smk rtl build` and the program say to each other.
#pragma once

#include "control/control_probe.h"
#include "cosim/rtl_control.h"

namespace smk {

// Differs when the program and the shared object were made of other headers.
constexpr unsigned long kSeamLayout =
    ((((((sizeof(ControlConfig) * 31 + sizeof(PolicyConfig)) * 31 + sizeof(HostInputs)) * 31 +
        sizeof(HostOutputs)) *
           31 +
       sizeof(SmInputs)) *
          31 +
      sizeof(SmOutputs)) *
         31 +
     sizeof(Decision)) *
        31 +
    sizeof(DriverToSm) + sizeof(SmToDriver) + sizeof(RtlOptions) + kMaxSms;

constexpr char kLayoutSymbol[] = "SmkSeamLayout";  // unsigned long()
constexpr char kMakeSymbol[] = "SmkMakeRtl";
using MakeBuiltRtl = ControlPlane*(const ControlConfig*, const PolicyConfig*, const RtlOptions*);

}  // namespace smk
