// SPDX-License-Identifier: Apache-2.0
#include "common/tb_options.h"

namespace smk {
namespace {

std::uint64_t Number(const std::string& option, const std::string& text) {
  std::size_t used = 0;
  std::uint64_t value = 0;
  try {
    value = std::stoull(text, &used, 0);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || text.front() == '-') {
    throw std::invalid_argument(option + ": '" + text + "' is not a number");
  }
  return value;
}

}  // namespace

TbOptions ParseTbOptions(const std::vector<std::string>& args) {
  TbOptions options;
  for (const std::string& arg : args) {
    const std::size_t equals = arg.find('=');
    const std::string name = arg.substr(0, equals);
    const bool has_value = equals != std::string::npos;
    const std::string value = has_value ? arg.substr(equals + 1) : "";
    if (name == "--wave") {
      options.wave = true;
      if (has_value) options.wave_dir = value;
    } else if (name == "--wave-test" && has_value) {
      options.wave = true;
      options.wave_test = value;
    } else if (name == "--wave-from" && has_value) {
      options.wave = true;
      options.wave_from = Number(name, value);
    } else if (name == "--wave-cycles" && has_value) {
      options.wave = true;
      options.wave_cycles = Number(name, value);
    } else if (name == "--seed" && has_value) {
      options.seed = Number(name, value);
    } else if (arg == "--list") {
      options.list = true;
    } else if (arg == "--help" || arg == "-h") {
      options.help = true;
    } else {
      throw std::invalid_argument("unknown option '" + arg + "'; --help lists the options");
    }
  }
  return options;
}

std::string TbHelp(const std::string& block) {
  return "usage: tb_" + block + R"( [options]

Runs the RTL block beside its reference class and compares every output in every cycle.
The last line says PASS or FAIL.

  --seed=N            another seed for the random tests (default 1)
  --list              the tests
  --wave[=DIR]        write a waveform, )" +
         block + R"(.fst, and what GTKWave shows of it, )" + block + R"(.gtkw
  --wave-test=NAME    of this test instead of the one that --list marks; all: one file per test
  --wave-from=CYCLE   from this cycle of the test's first run (default 0)
  --wave-cycles=N     at most so many cycles (default 3000)
  --gtest_filter=...  only some tests, and all other options of GoogleTest
)";
}

}  // namespace smk
