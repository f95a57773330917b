// SPDX-License-Identifier: Apache-2.0
// The check of conserved quotas fires on each way to break the law, and only then.
#include "machine/quota_check.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace smk {
namespace {

// One SM whose scheduler 0 has a warp of kernel 0 (index 0) and one of kernel 1 (index 1).
class QuotaCheckTest : public ::testing::Test {
 protected:
  QuotaCheckTest() {
    for (unsigned k = 0; k < 2; ++k) {
      SmOutputs out;
      out.warp_start.valid = true;
      out.warp_start.warp = static_cast<WarpId>(4 * k);
      out.warp_start.kernel = static_cast<KernelId>(k);
      check.Observe(out, 4, false, 0, now++, &checks, [this] { return quotas; });
    }
  }

  // One cycle: `grant` is the index of the granted warp, or -1; `left` is what remains after it.
  void Cycle(int grant, std::uint16_t left0, std::uint16_t left1, bool tick = false) {
    SmOutputs out;
    out.grant_valid = grant >= 0 ? 1 : 0;
    out.grant_warp[0] = static_cast<std::uint8_t>(std::max(grant, 0));
    out.quota_left = {left0, left1, 0, 0};
    check.Observe(out, 4, tick, 0, now++, &checks, [this] { return quotas; });
  }

  RunChecks checks;
  QuotaCheck check;
  smk::Cycle now = 0;
  std::array<std::uint16_t, kMaxKernels> quotas{9, 9, 0, 0};
};

TEST_F(QuotaCheckTest, AcceptsSpendingAndReloads) {
  Cycle(-1, 2, 3);
  Cycle(0, 1, 3);
  Cycle(1, 1, 2);
  Cycle(-1, 1, 2);
  Cycle(0, 0, 2);
  Cycle(1, 0, 1);
  Cycle(1, 2, 3);  // the last one is spent and all are reloaded at the same edge
  Cycle(0, 1, 3);
  EXPECT_GE(checks.count(), 12u);
}

TEST_F(QuotaCheckTest, AcceptsSmallerQuotasOnlyAtATick) {
  Cycle(-1, 5, 5);
  Cycle(-1, 4, 4, true);
  EXPECT_THROW(Cycle(-1, 3, 3), CheckFailure);
}

TEST_F(QuotaCheckTest, AcceptsAReloadToLessThanWasLeft) {
  Cycle(-1, 12, 15);
  Cycle(-1, 9, 9);  // nobody runs here, and the quotas in force are smaller
  EXPECT_THROW(Cycle(-1, 9, 8), CheckFailure);
}

TEST_F(QuotaCheckTest, AcceptsAGrantInTheCycleThatLiftsTheQuotas) {
  Cycle(-1, 1, 3);
  Cycle(0, 0, 3);
  Cycle(0, 0, 0);  // a new plan: nobody is limited any more
  Cycle(0, 0, 0);
  Cycle(-1, 2, 2);
  EXPECT_THROW(Cycle(0, 2, 2), CheckFailure);
}

TEST_F(QuotaCheckTest, FiresWhenAGrantIsFree) {
  Cycle(-1, 2, 3);
  EXPECT_THROW(Cycle(0, 2, 3), CheckFailure);
}

TEST_F(QuotaCheckTest, FiresWhenAGrantCostsTwo) {
  Cycle(-1, 2, 3);
  EXPECT_THROW(Cycle(1, 2, 1), CheckFailure);
}

TEST_F(QuotaCheckTest, FiresWhenAnotherKernelPays) {
  Cycle(-1, 2, 3);
  EXPECT_THROW(Cycle(0, 2, 2), CheckFailure);
}

TEST_F(QuotaCheckTest, FiresWhenAKernelWithoutQuotaIsGranted) {
  Cycle(-1, 1, 3);
  Cycle(0, 0, 3);
  EXPECT_THROW(Cycle(0, 1, 3), CheckFailure);
}

}  // namespace
}  // namespace smk
