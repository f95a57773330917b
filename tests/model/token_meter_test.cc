// SPDX-License-Identifier: Apache-2.0
// Who had the GPU, for how long, and how long after its token had expired.
#include "machine/token_meter.h"

#include <gtest/gtest.h>

namespace smk {
namespace {

void Show(TokenMeter* meter, unsigned cycles, unsigned holder, unsigned user, bool over) {
  TokenView token;
  token.holder = static_cast<std::uint8_t>(holder);
  token.user = static_cast<std::uint8_t>(user);
  token.over = over;
  for (unsigned i = 0; i < cycles; ++i) meter->Count(token);
}

// The longest overuse is one in a row: it begins anew with a token, with another user, and when
// nobody has the GPU.
TEST(TokenMeterTest, TheLongestOveruseIsOfOneUserInARow) {
  TokenMeter meter;
  Show(&meter, 10, 0b01, 0b01, false);
  Show(&meter, 40, 0b10, 0b01, true);
  Show(&meter, 3, 0b10, 0b10, true);
  Show(&meter, 20, 0b01, 0b01, true);
  Show(&meter, 1, 0b01, 0b00, true);
  Show(&meter, 30, 0b01, 0b01, true);
  const std::vector<TokenStats> stats = meter.Take();
  EXPECT_EQ(stats[0].cycles, 100u);
  EXPECT_EQ(stats[0].overuse_cycles, 90u);
  EXPECT_EQ(stats[0].overuse_max, 40u);
  EXPECT_EQ(stats[1].overuse_cycles, 3u);
  EXPECT_EQ(stats[1].overuse_max, 3u);
}

}  // namespace
}  // namespace smk
