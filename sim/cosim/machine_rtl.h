// SPDX-License-Identifier: Apache-2.0
// The RTL of one configuration, as what makes control planes of it.
//
// Purpose     A program has the RTL of gtx980. That of another configuration is a library of its
//             own: a test links it, and the program loads it as a shared object, if it is there.
// Interface   One function per configuration, in configs/. Callers use rtl_control.h.
#pragma once

#include <memory>

#include "control/control_plane.h"
#include "cosim/rtl_control.h"

namespace smk {

struct MachineRtl {
  const char* name;  // of the configuration
  bool (*fits)(const ControlConfig&);
  // Verilated, and with compiled gates; of a machine that fits.
  std::unique_ptr<ControlPlane> (*make)(const ControlConfig&, const PolicyConfig&,
                                        const RtlOptions&);
  std::unique_ptr<ControlPlane> (*make_compiled)(const ControlConfig&, const PolicyConfig&);
};

const MachineRtl& Gtx980Rtl();
const MachineRtl& FermiRtl();
const MachineRtl& V100Rtl();
const MachineRtl& SmallRtl();  // no machine's: of tests

// Of those that the program has; null when none fits.
const MachineRtl* FindRtl(const ControlConfig& config);
// Before the first control plane is made.
void AddRtl(const MachineRtl& rtl);

// The shared object of a configuration exports these two.
constexpr char kMachineRtlSymbol[] = "SmkMachineRtl";  // const MachineRtl*()
constexpr char kRtlSourcesSymbol[] = "SmkRtlSources";  // const char*()
// A hash of what is compiled into both, the RTL and the headers. It tells an object of other
// sources.
const char* RtlSources();

}  // namespace smk
