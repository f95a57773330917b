// SPDX-License-Identifier: Apache-2.0
// The command line of a testbench, tb_<block>.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace smk {

struct TbOptions {
  bool help = false;
  bool list = false;
  std::uint64_t seed = 1;
  bool wave = false;
  std::string wave_dir = ".";
  std::string wave_test;  // empty: the one that the block's view names; "all"
  std::uint64_t wave_from = 0, wave_cycles = 3000;
};

// Throws std::invalid_argument with a sentence for the user.
TbOptions ParseTbOptions(const std::vector<std::string>& args);

std::string TbHelp(const std::string& block);

}  // namespace smk
