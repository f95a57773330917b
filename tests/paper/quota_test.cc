// SPDX-License-Identifier: Apache-2.0
// The example of SMK Sec. 5.4: both kernels run 8 TBs alone; together K1 has 2 and K2 has 4 on an
// SM; their WIPC per warp scheduler are 0.4 and 0.5. So C1 = 0.1, C2 = 0.25, and the quotas are
// 0.1/0.35 and 0.25/0.35 of the epoch.
#include <gtest/gtest.h>

#include "control/driver/quota_calculator.h"

namespace smk {
namespace {

constexpr unsigned kEpoch = 10000;  // cycles of the window, and instructions of the epoch
constexpr unsigned kSchedulers = 4;

// The quotas that the first shared SM is sent.
std::array<unsigned, 2> Quotas() {
  PartitionTable partition{};
  partition[2] = {2, 4, 0, 0};
  QuotaCalculator::Inputs in;
  in.epoch_length = kEpoch;
  in.partition = &partition;
  in.settled = SmMask::First(kMaxSms);
  in.command_ready = true;
  in.profile_valid = 0b0011;
  in.profile_issued = {kEpoch * kSchedulers * 4 / 10, kEpoch * kSchedulers * 5 / 10, 0, 0};
  in.profile_tbs = {8, 8, 0, 0};
  QuotaCalculator calculator({3});
  calculator.Tick(in);
  in.profile_valid = 0;
  while (calculator.busy()) calculator.Tick(in);
  return {calculator.state().sent[2][0], calculator.state().sent[2][1]};
}

TEST(QuotaExample, QuotasAreTheFractionsOfTheEpoch) {
  const auto quota = Quotas();
  // To the instruction, up to the rounding of [D9].
  EXPECT_NEAR(quota[0], 0.10 / 0.35 * kEpoch, 1.0);
  EXPECT_NEAR(quota[1], 0.25 / 0.35 * kEpoch, 1.5);
}

TEST(QuotaExample, QuotasTogetherAreAtMostTheEpoch) {
  const auto quota = Quotas();
  EXPECT_LE(quota[0] + quota[1], kEpoch);
  EXPECT_GE(quota[0] + quota[1], kEpoch - 1) << "and nearly all of it";
}

}  // namespace
}  // namespace smk
