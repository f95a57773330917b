// SPDX-License-Identifier: Apache-2.0
#include "cosim/configs/fermi.h"

#include "cosim/machine_rtl_of.h"

namespace smk {

const MachineRtl& FermiRtl() { return MachineRtlOf<RtlFermi, LanesFermi>(); }

}  // namespace smk
