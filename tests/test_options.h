// SPDX-License-Identifier: Apache-2.0
// What the command line of a test program says besides GoogleTest's own options.
#pragma once

#include <cstdint>
#include <string>

namespace smk {

struct TestOptions {
  std::uint64_t seed = 1;
  std::string wave_dir;  // empty: no waveforms
};

inline TestOptions& GetTestOptions() {
  static TestOptions options;
  return options;
}

}  // namespace smk
