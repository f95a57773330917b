// SPDX-License-Identifier: Apache-2.0
#include "cosim/configs/v100.h"

#include "cosim/machine_rtl_of.h"

namespace smk {

const MachineRtl& V100Rtl() { return MachineRtlOf<RtlV100, LanesV100>(); }

}  // namespace smk
