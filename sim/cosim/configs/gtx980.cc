// SPDX-License-Identifier: Apache-2.0
#include "cosim/configs/gtx980.h"

#include "cosim/machine_rtl_of.h"

namespace smk {

const MachineRtl& Gtx980Rtl() { return MachineRtlOf<RtlGtx980, LanesGtx980>(); }

}  // namespace smk
