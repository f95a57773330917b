// SPDX-License-Identifier: Apache-2.0
// The RTL of any machine: its configuration, its files, and what `smk rtl build` has made of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/control_plane.h"
#include "cosim/rtl_control.h"

namespace smk::sim {

// The text of the smk_config.svh for a control plane; `title` says whose it is. Throws InputError,
// with the reason, when the RTL does not support it: see SMK_CHECK_CONFIG in
// rtl/common/smk_assert.svh.
std::string RtlNumbers(const ControlConfig& config, const std::string& title);

// The files of the RTL below the folder rtl: all but the packages of configurations.
std::vector<std::string> RtlFiles();
// Absolute, of a file or folder in rtl, sim or model: beside the program.
std::string RtlSource(const std::string& name);

// The folder of all that was built. Throws InputError when there is no cache.
std::string RtlCache();
// The folder in the cache for what is made of this configuration and these sources.
std::string RtlFolder(const ControlConfig& config);
// What a run depends on whose RTL was built: its name, a hash of configuration and sources.
std::string RtlName(const ControlConfig& config);
// The shared object in it: its parts, these with compiled gates, or the whole chip; "" when there
// is none. Parts with blocks as gates are found by their path only.
inline constexpr char kBuiltParts[] = "rtl.so", kBuiltCompiled[] = "compiled.so",
                      kBuiltChip[] = "chip.so", kBuiltGates[] = "gates.so";
std::string BuiltRtl(const ControlConfig& config, const std::string& object = kBuiltParts);

// Whether the RTL of this machine comes with the program: linked into it, or beside it as
// lib/smk/rtl_<machine>.so. Throws InputError when an object there is of other sources.
bool HasAnyRtl(const ControlConfig& config);
// Names of the machines whose RTL does, with commas between them.
std::string RtlMachines();

// RTL that comes with the program or was built, or that of a shared object. Throws InputError as
// MakeRtlControl does.
std::unique_ptr<ControlPlane> MakeAnyRtlControl(const ControlConfig& config,
                                                const PolicyConfig& policy,
                                                const RtlOptions& options,
                                                const std::string& object = "");
// Compiled gates, likewise. Throws InputError as MakeCompiledControl does.
std::unique_ptr<ControlPlane> MakeAnyCompiledControl(const ControlConfig& config,
                                                     const PolicyConfig& policy);
// The whole chip as one model, which was built. Throws InputError when it was not, or when the
// links between its driver and its SMs shall have relay stations.
std::unique_ptr<ControlPlane> MakeChipControl(const ControlConfig& config,
                                              const PolicyConfig& policy);
void RequireChip(const ControlConfig& config, const std::string& machine);

}  // namespace smk::sim
