// SPDX-License-Identifier: Apache-2.0
#include "cosim/configs/small.h"

#include "cosim/machine_rtl_of.h"

namespace smk {

const MachineRtl& SmallRtl() { return MachineRtlOf<RtlSmall, LanesSmall>(); }

}  // namespace smk
