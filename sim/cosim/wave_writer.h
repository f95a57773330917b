// SPDX-License-Identifier: Apache-2.0
// One FST file for all models of a co-simulation.
//
// Purpose     Records the cycles of a window. Cycle n is the nanosecond from n to n + 1, the
//             clock high in its first half; values are those at the end of the cycle, when all
//             wires have settled.
// Errors      InputError when the file cannot be opened, or when the models were built without
//             waves (SMK_TRACE=OFF). std::runtime_error when it cannot be written (disk full): then
//             it is removed. A run that ends early leaves a closed, readable file.
#pragma once

#include <verilated_fst_c.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "cosim/rtl_control.h"
#include "waves/gtkw.h"

namespace smk {

class WaveWriter {
 public:
  // Most is written at the end; `failure`, if any, gets the reason when that fails.
  WaveWriter(const WaveRequest& request, std::string* failure)
      : request_(request), failure_(failure) {}
  ~WaveWriter();
  WaveWriter(const WaveWriter&) = delete;
  WaveWriter& operator=(const WaveWriter&) = delete;

  // All models first, then the file.
  template <typename Model>
  void Trace([[maybe_unused]] Model* model) {
#if VM_TRACE_FST
    model->trace(fst_.get(), 99);
#else
    throw InputError("--wave: built with SMK_TRACE=OFF");
#endif
  }
  void Open();

  bool Wants(Cycle now) const { return now >= request_.from && now < request_.to; }
  // The wires of a cycle, in its first and in its second half.
  void DumpHigh(Cycle now) { Dump(kWaveCycle * now); }
  void DumpLow(Cycle now) { Dump(kWaveCycle * now + kWaveCycle / 2); }

 private:
  void Dump(std::uint64_t time);
  // After a write that has failed.
  void Abandon();

  WaveRequest request_;
  std::string* failure_;
  std::unique_ptr<VerilatedFstC> fst_ = std::make_unique<VerilatedFstC>();
};

}  // namespace smk
