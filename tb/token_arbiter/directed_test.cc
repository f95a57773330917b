// SPDX-License-Identifier: Apache-2.0
// The rules of TokenArbiter, on a GPU whose TBs come at once and take so long to leave.
#include <gtest/gtest.h>

#include "common/oracle.h"
#include "control/driver/token_arbiter.h"

namespace smk {
namespace {

constexpr unsigned kUnitsOfWindow = kTokenWhole;

// Clients that always have TBs, unless `demand` says otherwise; `save`: cycles from another holder
// until the last TB of the one before has left.
class Gpu {
 public:
  explicit Gpu(unsigned window = 10, std::uint32_t quota = 20) {
    in.enable = true;
    in.window = static_cast<std::uint8_t>(window);
    in.quota = quota;
    in.limit.fill(kTokenWhole);
  }
  void Cycle() {
    const KernelMask holder = arbiter.state().token.holder;
    if (holder != seen_) {
      leaving_ = save;
      seen_ = holder;
    }
    if (leaving_ != 0) {
      --leaving_;
    } else {
      in.resident = holder & in.demand;
    }
    arbiter.Tick(in);
    const TokenView& token = arbiter.state().token;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      used[k] += token.user >> k & 1;
      over[k] += token.over && (token.user >> k & 1) != 0;
      tokens[k] += token.given && (token.holder >> k & 1) != 0;
    }
  }
  void Run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) Cycle();
  }
  void RunToHolder(KernelMask holder) {
    for (unsigned i = 0; i < 100'000 && arbiter.state().token.holder != holder; ++i) Cycle();
    ASSERT_EQ(arbiter.state().token.holder, holder);
  }
  unsigned Used(unsigned k) const { return arbiter.state().usage[k].used; }

  TokenArbiter arbiter{{kNumKernels}};
  TokenArbiter::Inputs in;
  unsigned save = 3;
  std::array<std::uint64_t, kNumKernels> used{}, over{}, tokens{};

 private:
  KernelMask seen_ = 0;
  unsigned leaving_ = 0;
};

TEST(TokenArbiterTest, NobodyHasTheGpuWithoutDemand) {
  Gpu gpu;
  gpu.Run(100);
  EXPECT_EQ(gpu.arbiter.state().token.holder, 0);
  EXPECT_FALSE(gpu.arbiter.Busy(gpu.in));
}

TEST(TokenArbiterTest, StandsStillWhenItIsNotEnabled) {
  Gpu gpu;
  gpu.in.enable = false;
  gpu.in.demand = 0b1111;
  gpu.Run(100);
  EXPECT_EQ(gpu.arbiter.state().token.holder, 0);
  EXPECT_FALSE(gpu.arbiter.Busy(gpu.in));
}

TEST(TokenArbiterTest, FarthestBelowItsRequestIsFirst) {
  Gpu gpu;
  gpu.in.request = {100, 300, 200, 0};
  gpu.in.demand = 0b1111;
  gpu.RunToHolder(0b0010);
}

TEST(TokenArbiterTest, WhoIsBelowItsRequestGoesBeforeWhoIsFartherBelowItsLimit) {
  Gpu gpu;
  gpu.in.request = {0, 0, 1, 0};
  gpu.in.limit = {1024, 1024, 2, 1024};
  gpu.in.demand = 0b1111;
  gpu.RunToHolder(0b0100);
}

TEST(TokenArbiterTest, FarthestBelowItsLimitIsNextWhenRequestsAreMet) {
  Gpu gpu;
  gpu.in.limit = {500, 600, 700, 600};
  gpu.in.demand = 0b1111;
  gpu.RunToHolder(0b0100);
}

TEST(TokenArbiterTest, EqualsTakeTurns) {
  Gpu gpu(12, 4);  // a unit is 4 cycles: nobody has used one yet
  gpu.in.demand = 0b1111;
  gpu.save = 0;
  for (unsigned k = 0; k < kNumKernels; ++k) gpu.RunToHolder(static_cast<KernelMask>(1u << k));
}

TEST(TokenArbiterTest, NobodyHasTheTokenWhileAllAreAboveTheirLimits) {
  Gpu gpu;
  gpu.in.limit.fill(100);
  gpu.in.demand = 0b0001;
  while (gpu.Used(0) <= 100) gpu.Cycle();
  gpu.Run(gpu.in.quota + 20);
  EXPECT_EQ(gpu.arbiter.state().token.holder, 0);
  EXPECT_TRUE(gpu.arbiter.Busy(gpu.in));
  gpu.Run(kUnitsOfWindow);  // until its bucket has left
  EXPECT_GT(gpu.tokens[0], 6u);
}

TEST(TokenArbiterTest, TokenIsReturnedWithTheLastTb) {
  Gpu gpu(10, 500);
  gpu.in.demand = 0b0011;
  gpu.RunToHolder(0b0001);
  gpu.in.demand = 0b0010;
  gpu.Run(kNumKernels + 4);
  EXPECT_EQ(gpu.arbiter.state().token.holder, 0b0001) << "earlier than the contract";
  gpu.Cycle();
  EXPECT_EQ(gpu.arbiter.state().token.holder, 0b0010) << "later than the contract";
  EXPECT_EQ(gpu.over[0], 0u) << "nothing has expired";
}

TEST(TokenArbiterTest, AnotherTokenForTheSameKernelChangesNothingElse) {
  Gpu gpu;
  gpu.in.demand = 0b0001;
  gpu.RunToHolder(0b0001);
  gpu.Cycle();
  for (unsigned i = 0; i < 300; ++i) {
    gpu.Cycle();
    ASSERT_EQ(gpu.arbiter.state().token.holder, 0b0001);
    ASSERT_FALSE(gpu.arbiter.state().assign);
  }
  EXPECT_GT(gpu.tokens[0], 8u);
}

// Overuse counts to who makes it, and the next token's time begins after it.
TEST(TokenArbiterTest, TimeToSaveIsOveruseOfTheOneWhoLeaves) {
  Gpu gpu(12, 100);
  gpu.save = 30;
  gpu.in.demand = 0b0011;
  gpu.RunToHolder(0b0001);
  gpu.RunToHolder(0b0010);
  EXPECT_EQ(gpu.over[0], kNumKernels + 3) << "until the next one is chosen";
  gpu.Run(gpu.save + 10);
  EXPECT_EQ(gpu.over[0], kNumKernels + 3 + gpu.save + 1);
  EXPECT_EQ(gpu.over[1], 0u) << "its own token has not expired";
  gpu.RunToHolder(0b0001);
  EXPECT_EQ(gpu.over[0], kNumKernels + 3 + gpu.save + 1);
  // The second has used less than the first, and so gets two tokens.
  EXPECT_EQ(gpu.tokens[1], 2u);
  EXPECT_EQ(gpu.used[1], 2 * (100u + 1 + kNumKernels + 3));
}

// Fig. 6 of the paper: A 20 %, B 35 %, C 45 % of the window.
TEST(TokenArbiterTest, RequestsOfFig6AreMet) {
  for (const unsigned save : {0u, 3u, 9u}) {
    Gpu gpu(14, 400);
    gpu.save = save;
    gpu.in.request = {205, 358, 461, 0};
    gpu.in.demand = 0b0111;
    gpu.Run(20 << 14);
    for (unsigned k = 0; k < 3; ++k) {
      // A token, its overuse and a bucket's rounding: 400 + 16 of 16,384 cycles, and a unit.
      EXPECT_NEAR(gpu.Used(k), gpu.in.request[k], 27) << save << " " << k;
    }
  }
}

TEST(TokenArbiterTest, WindowForgetsByBuckets) {
  Gpu gpu;
  gpu.in.demand = 0b0001;
  gpu.Run(100 + kNumKernels + 6);
  gpu.in.demand = 0b0010;  // time goes on
  const unsigned used = gpu.Used(0);
  EXPECT_NEAR(used, 100, 10);
  gpu.Run(850);
  EXPECT_NEAR(gpu.Used(0), used, 10) << "earlier than the contract";
  gpu.Run(300);
  EXPECT_EQ(gpu.Used(0), 0u) << "later than the contract";
}

// [D95]: a token and its decision take as long as a bucket, and each decision comes after one has
// left. The other kernel is then a bucket below its request, and so farther than one that requests
// less.
TEST(TokenArbiterTest, WhoRequestsLessThanABucketMayWaitForEver) {
  const unsigned bucket = 1u << (14 - TokenArbiter::kBucketsLog2);
  for (const unsigned late : {0u, 100u}) {
    Gpu gpu(14, bucket - kNumKernels - 4 - late);
    gpu.in.request = {10, 1014, 0, 0};
    gpu.in.demand = 0b0011;
    gpu.Run(50 << 14);
    if (late == 0) {
      EXPECT_EQ(gpu.tokens[0], 0u);
    } else {
      EXPECT_GT(gpu.tokens[0], 5u);
    }
  }
}

TEST(TokenArbiterTest, TimeStandsStillWithoutDemand) {
  Gpu gpu;
  gpu.in.demand = 0b0001;
  gpu.Run(200);
  gpu.in.demand = 0;
  gpu.Run(50);
  const unsigned used = gpu.Used(0);
  EXPECT_GT(used, 150u);
  EXPECT_FALSE(gpu.arbiter.Busy(gpu.in));
  gpu.Run(10'000);
  EXPECT_EQ(gpu.Used(0), used);
}

// Any shares, quotas, times to save and clients that always have TBs: over the last windows each
// has its request but for a token and overuse of each of the others, and nobody more than its limit
// and a token with its overuse.
TEST(TokenArbiterTest, RandomClientsHaveTheirRequestsAndNotMoreThanTheirLimits) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    const unsigned first = 10 + oracle::Pick(&random, 3);
    Gpu gpu(first, 5 + oracle::Pick(&random, 60));
    gpu.save = oracle::Pick(&random, 8);
    unsigned left = kTokenWhole;
    for (unsigned k = 0; k < kNumKernels; ++k) {
      gpu.in.request[k] = static_cast<std::uint16_t>(oracle::Pick(&random, left + 1));
      left -= gpu.in.request[k];
      gpu.in.limit[k] = static_cast<std::uint16_t>(
          gpu.in.request[k] + oracle::Pick(&random, kTokenWhole - gpu.in.request[k] + 1));
    }
    gpu.in.demand = static_cast<KernelMask>(1 + oracle::Pick(&random, 15));
    const unsigned unit = 1u << (gpu.in.window - 10);
    // Of a token: its cycles, the decision, and the time to save.
    const unsigned slice = (gpu.in.quota + kNumKernels + 5 + gpu.save + 4) / unit + 2;
    gpu.Run(4 << gpu.in.window);
    for (unsigned i = 0; i < 2000; ++i) {
      gpu.Cycle();
      unsigned sum = 0;
      for (unsigned k = 0; k < kNumKernels; ++k) {
        sum += gpu.Used(k);
        ASSERT_LE(gpu.Used(k), gpu.in.limit[k] + slice) << round << " " << k;
        if ((gpu.in.demand >> k & 1) == 0) continue;
        // A decision costs time that counts to nobody only when nobody has the GPU.
        ASSERT_GE(gpu.Used(k) + kNumKernels * slice + kUnitsOfWindow / 8, gpu.in.request[k])
            << round << " " << k;
      }
      ASSERT_LE(sum, kUnitsOfWindow + kNumKernels);
    }
  }
}

}  // namespace
}  // namespace smk
