// SPDX-License-Identifier: Apache-2.0
// The RTL of all configurations, for the program that this is linked into.
#include "cosim/machine_rtl.h"

namespace smk {
namespace {

[[maybe_unused]] const bool kAdded = [] {
  AddRtl(FermiRtl());
  AddRtl(V100Rtl());
  AddRtl(SmallRtl());
  return true;
}();

}  // namespace
}  // namespace smk
