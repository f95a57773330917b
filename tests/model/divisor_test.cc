// SPDX-License-Identifier: Apache-2.0
#include "base/divisor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "test_options.h"

namespace smk {
namespace {

TEST(Divisor, DividesAsTheOperatorDoes) {
  SCOPED_TRACE(testing::Message() << "seed " << GetTestOptions().seed);
  std::mt19937_64 random(GetTestOptions().seed);
  for (unsigned by = 1; by <= 1024; ++by) {
    const Divisor divisor(by);
    const std::uint64_t end = ~std::uint64_t{0} / by;  // exact below it
    for (unsigned i = 0; i < 200; ++i) {
      // Of every length, and where the quotient changes.
      const std::uint64_t any = (random() >> random() % 64) % (end - by);
      for (const std::uint64_t value : {any, any / by * by, any / by * by + (by - 1)}) {
        ASSERT_EQ(divisor.Down(value), value / by) << value << " by " << by;
        ASSERT_EQ(divisor.Up(value), (value + by - 1) / by) << value << " by " << by;
      }
    }
    ASSERT_EQ(divisor.Down(end - 1), (end - 1) / by) << by;
  }
}

TEST(Divisor, RoundsUpWhatIsShort) {
  constexpr unsigned kEnd = 1 << 15;  // exact below it
  for (unsigned by = 1; by < kEnd; by = by < 1024 ? by + 1 : by * 5 / 4) {
    const Divisor divisor(by);
    for (unsigned value = 0; value < kEnd; value += by < 256 ? 1 : 7) {
      ASSERT_EQ(divisor.Up(value), (value + by - 1) / by) << value << " by " << by;
    }
  }
  const unsigned last = kEnd - 1;
  EXPECT_EQ(Divisor(last).Up(last), 1u);
  EXPECT_EQ(Divisor(last).Up(1u), 1u);
  EXPECT_EQ(Divisor(last).Up(0u), 0u);
}

}  // namespace
}  // namespace smk
