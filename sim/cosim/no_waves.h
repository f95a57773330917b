// SPDX-License-Identifier: Apache-2.0
// In the place of WaveWriter where models are verilated without waveforms.
#pragma once

#include <string>

#include "base/error.h"
#include "base/ids.h"
#include "base/wave_request.h"

namespace smk {

class NoWaves {
 public:
  NoWaves(const WaveRequest&, std::string*) {
    throw InputError("--wave: RTL that smk rtl build has made has no waveforms");
  }
  template <typename Model>
  void Trace(Model*) {}
  void Open() {}
  bool Wants(Cycle) const { return false; }
  void DumpHigh(Cycle) {}
  void DumpLow(Cycle) {}
};

}  // namespace smk
