// SPDX-License-Identifier: Apache-2.0
// What `smk synth` has to know of a standard cell library.
#pragma once

#include <map>
#include <string>

namespace smk::sim {

// One standard cell.
struct LibertyCell {
  double area = 0;
  bool flip_flop = false;
};

// The cells of a library, read from a Liberty file.
struct Liberty {
  std::string path;
  std::string name;
  std::string hash;         // SHA-256 of the file
  double time_unit_ns = 1;  // one unit of time in the file
  double nand2_area = 0;    // of the smallest two-input NAND
  std::string buffer;       // the smallest buffer: what drives a block's inputs; "" without one
  std::map<std::string, LibertyCell> cells;
};

// Reads the file; throws InputError when it is missing, is not a Liberty file, ends too early, or
// has no cell that a netlist cannot do without.
Liberty LoadLiberty(const std::string& path);

}  // namespace smk::sim
