// SPDX-License-Identifier: Apache-2.0
// The blocks that `smk synth` knows, and the files they are made of.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace smk::sim {

// One [synthesis.<name>] of a tb/<block>/block.toml.
struct SynthBlock {
  std::string name;
  bool per_sm = false;
  bool wiring = false;
  std::vector<std::string> contains;
  std::vector<std::string> counters;  // registers that the papers call counters
};

// One configuration of rtl/config.
struct SynthConfig {
  std::string name;
  std::string numbers;  // its smk_config.svh
  unsigned sms = 0;
  unsigned kernels = 0;
  std::map<std::string, unsigned> sets;  // parameters of smk_pkg with other values
};

// What the drawers in tb/ say of synthesis, synth/configs.toml, and the RTL.
class SynthCatalogue {
 public:
  // `data_dir` is sim/ of a source tree; throws InputError when rtl/, synth/ or tb/ is not beside
  // it.
  explicit SynthCatalogue(const std::string& data_dir);

  const std::vector<SynthBlock>& blocks() const { return blocks_; }
  // Throw InputError with the nearest name.
  const SynthBlock& Find(const std::string& name) const;
  SynthConfig Config(const std::string& name) const;
  // The factor of all delays in a corner.
  double Derate(const std::string& corner) const;

  // The files of a block: the package first, then all modules below.
  std::vector<std::string> Files(const std::string& block) const;
  std::string include_dir() const { return root_ + "/rtl/common"; }
  std::string yosys_script() const { return root_ + "/synth/yosys/block.tcl"; }
  std::string sta_script() const { return root_ + "/synth/sta/block.tcl"; }
  std::string repair_script() const { return root_ + "/synth/sta/repair.tcl"; }
  // The project's own standard cells.
  std::string liberty() const { return root_ + "/synth/cells/smk45.lib"; }

 private:
  void FindModules();
  void ReadCorners();

  std::string root_;
  std::vector<SynthBlock> blocks_;
  std::map<std::string, SynthConfig> configs_;
  std::map<std::string, double> corners_;       // derates
  std::map<std::string, std::string> modules_;  // module -> file
};

// Verilog without comments and with single blanks: what two versions of a file must share to be the
// same to a synthesizer.
std::string EssentialVerilog(const std::string& text);

}  // namespace smk::sim
