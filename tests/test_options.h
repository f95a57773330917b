// SPDX-License-Identifier: Apache-2.0
// What the command line of a test program says besides GoogleTest's own options.
#pragma once

#include <cstdint>
#include <string>

namespace smk {

// Which lockstep runs are recorded, and how much of them.
struct WaveOptions {
  std::string dir;         // empty: no waveforms
  std::string test;        // of this test only; empty: of every test
  std::string file;        // name without .fst; empty: <block>.<Test>
  std::uint64_t from = 0;  // first cycle
  std::uint64_t cycles = 3000;
};

struct TestOptions {
  std::uint64_t seed = 1;
  WaveOptions wave;
};

inline TestOptions& GetTestOptions() {
  static TestOptions options;
  return options;
}

}  // namespace smk
