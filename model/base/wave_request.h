// SPDX-License-Identifier: Apache-2.0
// What a waveform of the RTL records.
#pragma once

#include <string>

#include "base/ids.h"

namespace smk {

// Cycles from <= cycle < to, into an FST file; nothing without a path.
struct WaveRequest {
  std::string path;
  Cycle from = 0;
  Cycle to = ~Cycle{0};
};

}  // namespace smk
