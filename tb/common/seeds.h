// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "test_options.h"

namespace smk {

// Random runs, each of a new bench with a seed of its own; the first mismatch ends them.
template <typename Bench>
void RunSeeds(unsigned seeds, unsigned cycles, void (*run)(Bench*, std::uint64_t, unsigned)) {
  for (unsigned n = 0; n < seeds; ++n) {
    const std::uint64_t seed = GetTestOptions().seed + n;
    Bench bench(seed);
    run(&bench, seed, cycles);
    ASSERT_TRUE(bench.lockstep().ok()) << bench.lockstep().mismatch();
  }
}

}  // namespace smk
