// SPDX-License-Identifier: Apache-2.0
// The waveform of a lockstep run, when the command line asks for it (WaveOptions): of the first run
// of a test, as DIR/<block>.<Test>.fst.
//
// Cycle n is the nanosecond from n to n + 1. Registers change at its start, with the rising edge of
// the clock; inputs arrive in its middle; what is compared stands at its end.
#pragma once

#include <verilated.h>
#if VM_TRACE
#include <verilated_fst_c.h>
#endif

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "common/lockstep_log.h"
#include "test_options.h"
#include "waves/gtkw.h"

namespace smk {

#if VM_TRACE

class WaveFile {
 public:
  // Before the model is made.
  WaveFile(const std::string& block, VerilatedContext* context)
      : options_(GetTestOptions().wave), block_(block) {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    if (options_.dir.empty() || test == nullptr) return;
    test_ = test->name();
    if (!options_.test.empty() && options_.test != test_) return;
    const auto& waves = GetLockstepLog().waves;
    if (std::any_of(waves.begin(), waves.end(), [&](const LockstepLog::Wave& wave) {
          return wave.block == block_ && wave.test == test_;
        })) {
      return;
    }
    context->traceEverOn(true);
    file_ = std::make_unique<VerilatedFstC>();
  }
  template <typename Dut>
  void Attach(Dut* dut) {
    if (!file_) return;
    file_->set_time_unit("1ps");
    file_->set_time_resolution("1ps");
    dut->trace(file_.get(), 99);
  }
  // The wires of a cycle, in its middle.
  void DumpWires(std::uint64_t cycle) {
    if (file_) Dump(cycle, cycle * kWaveCycle + kWaveCycle / 2);
  }
  // The edge that ends it.
  void DumpEdge(std::uint64_t cycle) {
    if (file_) Dump(cycle, (cycle + 1) * kWaveCycle);
  }
  void Close() {
    if (file_ && open_) file_->close();
    file_.reset();
  }

 private:
  void Dump(std::uint64_t cycle, std::uint64_t time) {
    if (cycle < options_.from) return;
    if (cycle - options_.from >= options_.cycles) return Close();
    if (!open_) Open();
    // A cycle's wires may be looked at twice.
    time_ = std::max(time, time_ + 1);
    file_->dump(time_);
  }
  void Open() {
    const std::string name = options_.file.empty() ? block_ + "." + test_ : options_.file;
    const std::string path = options_.dir + "/" + name + ".fst";
    file_->open(path.c_str());
    open_ = true;
    GetLockstepLog().waves.push_back({block_, test_, path});
  }

  const WaveOptions& options_;
  std::string block_, test_;
  std::unique_ptr<VerilatedFstC> file_;
  bool open_ = false;
  std::uint64_t time_ = 0;
};

#else

// Built without waveforms.
class WaveFile {
 public:
  WaveFile(const std::string&, VerilatedContext*) {}
  template <typename Dut>
  void Attach(Dut*) {}
  void DumpWires(std::uint64_t) {}
  void DumpEdge(std::uint64_t) {}
  void Close() {}
};

#endif

}  // namespace smk
