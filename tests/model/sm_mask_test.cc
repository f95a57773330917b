// SPDX-License-Identifier: Apache-2.0
// Sets of SMs against std::set, on both sides of every word's end.
#include "base/sm_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace smk {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

std::vector<unsigned> Listed(const SmMask& mask) {
  std::vector<unsigned> sms;
  for (const unsigned sm : mask) sms.push_back(sm);
  return sms;
}

SmMask MaskOf(const std::set<unsigned>& sms) {
  SmMask mask;
  for (const unsigned sm : sms) mask.Set(sm);
  return mask;
}

TEST(SmMask, HoldsAnySmThereCanBe) {
  for (unsigned sm = 0; sm < kMaxSms; ++sm) {
    SmMask mask = SmMask::Of(sm);
    EXPECT_THAT(Listed(mask), ElementsAre(sm));
    EXPECT_TRUE(mask.Test(sm));
    EXPECT_EQ(mask.Lowest(), sm);
    EXPECT_EQ(mask.Count(), 1u);
    mask.Clear(sm);
    EXPECT_TRUE(mask.None());
  }
}

TEST(SmMask, FirstEndsWhereItSays) {
  for (unsigned count = 0; count <= kMaxSms; ++count) {
    const SmMask mask = SmMask::First(count);
    EXPECT_EQ(mask.Count(), count);
    EXPECT_EQ(mask.Any(), count != 0);
    if (count < kMaxSms) {
      EXPECT_FALSE(mask.Test(count));
    }
    if (count != 0) {
      EXPECT_TRUE(mask.Test(count - 1));
    }
  }
}

TEST(SmMask, AlgebraIsThatOfSets) {
  std::mt19937 random(1);
  for (int n = 0; n < 200; ++n) {
    std::set<unsigned> a, b, both, either, without;
    for (int i = 0; i < 40; ++i) {
      a.insert(static_cast<unsigned>(random() % kMaxSms));
      b.insert(static_cast<unsigned>(random() % kMaxSms));
    }
    for (unsigned sm = 0; sm < kMaxSms; ++sm) {
      if (a.count(sm) + b.count(sm) != 0) either.insert(sm);
      if (a.count(sm) * b.count(sm) != 0) both.insert(sm);
      if (a.count(sm) != 0 && b.count(sm) == 0) without.insert(sm);
    }
    EXPECT_THAT(Listed(MaskOf(a) | MaskOf(b)), ElementsAreArray(either));
    EXPECT_THAT(Listed(MaskOf(a) & MaskOf(b)), ElementsAreArray(both));
    EXPECT_THAT(Listed(MaskOf(a) - MaskOf(b)), ElementsAreArray(without));
    EXPECT_EQ(MaskOf(a), MaskOf(a) | SmMask());
    EXPECT_EQ(MaskOf(a) == MaskOf(b), a == b);
    EXPECT_EQ(MaskOf(a) != MaskOf(b), a != b);
  }
}

TEST(SmMask, ALoopMayChangeTheMask) {
  SmMask mask = MaskOf({3, 64, 131});
  std::vector<unsigned> seen;
  for (const unsigned sm : mask) {
    seen.push_back(sm);
    mask = SmMask::First(kMaxSms);
  }
  EXPECT_THAT(seen, ElementsAre(3, 64, 131));
}

TEST(SmMask, BytesOfSmsBecomeMasks) {
  std::mt19937 random(2);
  for (const unsigned sms : {1u, 2u, 7u, 8u, 16u, 63u, 65u, 80u, 131u, 132u}) {
    std::array<std::uint8_t, kMaxSms> bytes{};
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(random() % 3 == 0 ? random() % 128 : 0);
    }
    for (unsigned sm = 0; sm < kMaxSms; ++sm) {
      EXPECT_EQ(SmsNotZero(bytes, sms).Test(sm), sm < sms && bytes[sm] != 0) << sms << " " << sm;
      for (unsigned bit = 0; bit < 4; ++bit) {
        const bool expected = sm < sms && (bytes[sm] >> bit & 1) != 0;
        EXPECT_EQ(SmsWithBit(bytes, bit, sms).Test(sm), expected) << sms << " " << sm;
      }
    }
  }
}

}  // namespace
}  // namespace smk
