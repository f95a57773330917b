// SPDX-License-Identifier: Apache-2.0
#include "cosim/wave_writer.h"

#include "base/error.h"

namespace smk {

void WaveWriter::Open() {
  fst_.set_time_unit("1ps");
  fst_.set_time_resolution("1ps");
  fst_.open(request_.path.c_str());
  if (!fst_.isOpen()) throw InputError(request_.path + ": cannot write the waveform");
}

}  // namespace smk
