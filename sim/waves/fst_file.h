// SPDX-License-Identifier: Apache-2.0
// Reads an FST file back: its signals, and when one of them has a value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace smk {

// One signal. Verilator puts a scope smk_<module> below the top of what it verilates; `scope`
// leaves such scopes out, so that a block's signals have the same names in every simulation.
struct WaveSignal {
  std::string path;   // as the file has it: dut.smk_tb_table.warp_start_o.tb_slot
  std::string range;  // "[4:0]", or nothing
  std::string scope;  // dut
  std::string name;   // in its module, with members of structs: warp_start_o.tb_slot
  unsigned width = 1;
  bool is_enum = false;  // the file has names for its values
  unsigned handle = 0;   // signals that are always equal have the same
};

class FstFile {
 public:
  // Throws std::runtime_error when the file cannot be read.
  explicit FstFile(const std::string& path);
  ~FstFile();
  FstFile(const FstFile&) = delete;
  FstFile& operator=(const FstFile&) = delete;

  // In the order of the file, without parameters.
  const std::vector<WaveSignal>& signals() const { return signals_; }
  std::uint64_t start() const;
  std::uint64_t end() const;
  // When the signal has this value for the first time after another one, or from the start.
  std::optional<std::uint64_t> FirstTime(const WaveSignal& signal, std::uint64_t value) const;

 private:
  void ReadSignals();

  void* reader_;
  std::vector<WaveSignal> signals_;
};

}  // namespace smk
