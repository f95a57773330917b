// SPDX-License-Identifier: Apache-2.0
#include "rtl_sources.h"

#include "cosim/machine_rtl.h"

namespace smk {

const char* RtlSources() { return kRtlSources; }

}  // namespace smk
