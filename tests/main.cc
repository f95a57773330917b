// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "test_options.h"

// Our own options, after GoogleTest has taken its own:
//   --seed=N    another seed for the random tests
//   --wave=DIR  an FST file per lockstep test; the testbenches tb_<block> can do more
int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.rfind("--seed=", 0) == 0)
      smk::GetTestOptions().seed = std::strtoull(&argv[i][7], nullptr, 0);
    if (arg.rfind("--wave=", 0) == 0) smk::GetTestOptions().wave.dir = arg.substr(7);
  }
  return RUN_ALL_TESTS();
}
