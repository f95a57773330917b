// SPDX-License-Identifier: Apache-2.0
// Warped-Slicer with short phases: what the driver's tests of it begin with.
#pragma once

#include "control/driver/driver.h"

namespace smk {

inline PolicyConfig Slicer() {
  PolicyConfig policy;
  policy.dispatch = DispatchMode::kSlicer;
  policy.preempt = PreemptMode::kDrain;
  policy.slicer_warmup = 500;
  policy.slicer_settle = 300;
  policy.slicer_window = 100;
  return policy;
}

}  // namespace smk
