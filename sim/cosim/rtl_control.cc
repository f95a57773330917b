// SPDX-License-Identifier: Apache-2.0
#include "cosim/rtl_control.h"

#include <vector>

#include "base/error.h"
#include "control/reference_control.h"
#include "cosim/machine_rtl.h"

namespace smk {
namespace {

std::vector<const MachineRtl*>& Linked() {
  static std::vector<const MachineRtl*> linked = {&Gtx980Rtl()};
  return linked;
}

const MachineRtl& RtlFor(const ControlConfig& config, const PolicyConfig& policy) {
  CheckControl(config, policy);
  if (const MachineRtl* const rtl = FindRtl(config)) return *rtl;
  throw InputError(std::string("control: the RTL is built for the SMs of ") + Linked()[0]->name +
                   "; with another number of SMs, schedulers or resources use --control reference");
}

}  // namespace

const MachineRtl* FindRtl(const ControlConfig& config) {
  for (const MachineRtl* const rtl : Linked()) {
    if (rtl->fits(config)) return rtl;
  }
  return nullptr;
}

void AddRtl(const MachineRtl& rtl) { Linked().push_back(&rtl); }

std::unique_ptr<ControlPlane> MakeRtlControl(const ControlConfig& config,
                                             const PolicyConfig& policy,
                                             const RtlOptions& options) {
  return RtlFor(config, policy).make(config, policy, options);
}

std::unique_ptr<ControlPlane> MakeCompiledControl(const ControlConfig& config,
                                                  const PolicyConfig& policy) {
  return RtlFor(config, policy).make_compiled(config, policy);
}

}  // namespace smk
