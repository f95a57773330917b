// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/oracle.h"
#include "control/driver/sm_assign.h"

namespace smk {
namespace {

unsigned Count(unsigned mask) { return static_cast<unsigned>(__builtin_popcount(mask)); }

// Starts a walk and runs it to the end.
void Walk(SmAssign* assign, SmAssign::Inputs in) {
  in.start = true;
  assign->Tick(in);
  in.start = false;
  while (assign->state().busy) assign->Tick(in);
}

std::array<unsigned, kNumKernels> SmsOf(const SmAssign& assign, unsigned num_sms) {
  std::array<unsigned, kNumKernels> sms{};
  for (unsigned sm = 0; sm < num_sms; ++sm) {
    for (unsigned k = 0; k < kNumKernels; ++k) sms[k] += assign.state().allowed[sm] >> k & 1;
  }
  return sms;
}

TEST(SmAssignTest, WalkTakesOneCyclePerSmAfterTheStart) {
  SmAssign assign({16});
  SmAssign::Inputs in{true, 0b0011, false, false, 1};
  assign.Tick(in);
  in.start = false;
  for (unsigned n = 0; n < 15; ++n) assign.Tick(in);
  EXPECT_TRUE(assign.state().busy) << "earlier than the contract";
  EXPECT_EQ(assign.state().allowed[14], 0b0001);
  EXPECT_EQ(assign.state().allowed[15], 0);
  assign.Tick(in);
  EXPECT_FALSE(assign.state().busy) << "later than the contract";
  EXPECT_EQ(assign.state().allowed[15], 0b0010);
}

// Nothing depends on the SMs before: one cycle for all of them, however many there are.
TEST(SmAssignTest, TakesOneCycleForAllSmsWithoutAWalk) {
  const SmAssign::Inputs modes[] = {{true, 0b1111, false, false, 4},
                                    {true, 0b1111, true, false, 1},
                                    {true, 0b0110, false, true, 2},
                                    {true, 0b0100, false, true, 1}};
  for (const unsigned sms : {1u, 16u, 80u, kMaxSms}) {
    for (const SmAssign::Inputs& mode : modes) {
      SmAssign assign({sms});
      SmAssign::Inputs in = mode;
      assign.Tick(in);
      in.start = false;
      EXPECT_TRUE(assign.state().busy) << "earlier than the contract";
      EXPECT_EQ(assign.state().allowed[sms - 1], 0);
      assign.Tick(in);
      EXPECT_FALSE(assign.state().busy) << "later than the contract";
      EXPECT_NE(assign.state().allowed[sms - 1], 0);
      EXPECT_EQ(assign.state().changed, SmMask::First(sms));
    }
  }
}

TEST(SmAssignTest, ChangesNothingWithoutAStart) {
  SmAssign assign({16});
  SmAssign::Inputs in;
  in.members = 0b1111;
  for (int i = 0; i < 20; ++i) assign.Tick(in);
  EXPECT_EQ(assign.state().allowed[0], 0);
  EXPECT_FALSE(assign.state().busy);
}

TEST(SmAssignTest, EveryKernelMayRunEverywhereUnlessLimited) {
  SmAssign assign({16});
  Walk(&assign, {false, 0b1101, false, false, 4});
  for (unsigned sm = 0; sm < 16; ++sm) EXPECT_EQ(assign.state().allowed[sm], 0b1101);
}

TEST(SmAssignTest, ChangedNamesTheSmsDecidedDifferentlyForOneCycle) {
  SmAssign assign({4});
  Walk(&assign, {false, 0b0001, true, false, 4});
  SmAssign::Inputs in{true, 0b0011, true, false, 4};
  assign.Tick(in);
  in.start = false;
  assign.Tick(in);
  EXPECT_EQ(assign.state().changed, SmMask(0b1100)) << "the first kernel keeps SM 0 and 1";
  assign.Tick(in);
  EXPECT_TRUE(assign.state().changed.None());
}

TEST(SmAssignTest, WalkChangesOnlyTheSmJustDecided) {
  SmAssign assign({4});
  SmAssign::Inputs in{true, 0b0011, false, false, 1};
  assign.Tick(in);
  in.start = false;
  for (unsigned sm = 0; sm < 4; ++sm) {
    assign.Tick(in);
    EXPECT_EQ(assign.state().changed, SmMask::Of(sm));
  }
  assign.Tick(in);
  EXPECT_TRUE(assign.state().changed.None());
}

TEST(SmAssignTest, StartDuringAWalkBeginsAnew) {
  SmAssign assign({8});
  SmAssign::Inputs in{true, 0b0111, false, false, 1};
  assign.Tick(in);
  in.start = false;
  for (int i = 0; i < 5; ++i) assign.Tick(in);
  EXPECT_TRUE(assign.state().busy);
  Walk(&assign, {false, 0b0110, false, false, 4});
  for (unsigned sm = 0; sm < 8; ++sm) EXPECT_EQ(assign.state().allowed[sm], 0b0110);
}

TEST(SmAssignTest, MembersAreThoseOfTheStart) {
  SmAssign assign({8});
  SmAssign::Inputs in{true, 0b0001, false, false, 4};
  assign.Tick(in);
  in.start = false;
  in.members = 0b1000;
  while (assign.state().busy) assign.Tick(in);
  EXPECT_EQ(assign.state().allowed[7], 0b0001);
}

// Spart: contiguous groups whose sizes differ by at most one, one kernel per SM.
TEST(SmAssignTest, SpatialGivesEqualContiguousGroups) {
  for (unsigned sms : {1u, 2u, 3u, 15u, 16u, 32u}) {
    for (KernelMask members = 1; members < 16; ++members) {
      if (Count(members) > sms) continue;
      SmAssign assign({sms});
      Walk(&assign, {false, members, true, false, 4});
      unsigned groups = 1;
      for (unsigned sm = 0; sm < sms; ++sm) {
        ASSERT_EQ(Count(assign.state().allowed[sm]), 1u);
        ASSERT_NE(assign.state().allowed[sm] & members, 0);
        if (sm != 0 && assign.state().allowed[sm] != assign.state().allowed[sm - 1]) ++groups;
      }
      EXPECT_EQ(groups, std::min(sms, Count(members)));
      const auto of = SmsOf(assign, sms);
      for (unsigned k = 0; k < kNumKernels; ++k) {
        if ((members >> k & 1) == 0) continue;
        EXPECT_GE(of[k], sms / Count(members));
        EXPECT_LE(of[k], (sms + Count(members) - 1) / Count(members));
      }
    }
  }
}

TEST(SmAssignTest, ProfilingSmsAreTheFirstAndDedicated) {
  SmAssign assign({16});
  Walk(&assign, {false, 0b1011, false, true, 4});
  EXPECT_EQ(assign.state().allowed[0], 0b0001);
  EXPECT_EQ(assign.state().allowed[1], 0b0010);
  EXPECT_EQ(assign.state().allowed[2], 0b1000);
  for (unsigned sm = 3; sm < 16; ++sm) EXPECT_EQ(assign.state().allowed[sm], 0b1011);
}

// More kernels than SMs: each has one SM, and SMs have as many kernels as each other, but for one.
TEST(SmAssignTest, SpatialGivesEachOfMoreKernelsAnSm) {
  for (unsigned sms : {1u, 2u, 3u}) {
    for (KernelMask members = 1; members < 16; ++members) {
      if (Count(members) <= sms) continue;
      SmAssign assign({sms});
      Walk(&assign, {false, members, true, false, 4});
      for (unsigned k = 0; k < kNumKernels; ++k) {
        EXPECT_EQ(SmsOf(assign, sms)[k], members >> k & 1u) << "kernel " << k;
      }
      for (unsigned sm = 0; sm < sms; ++sm) {
        EXPECT_GE(Count(assign.state().allowed[sm]), Count(members) / sms);
        EXPECT_LE(Count(assign.state().allowed[sm]), (Count(members) + sms - 1) / sms);
      }
    }
  }
}

// Nobody would share an SM, and with more kernels than SMs some would have none.
TEST(SmAssignTest, NoSmIsDedicatedUnlessOneIsLeftToBeShared) {
  for (unsigned sms = 1; sms <= 5; ++sms) {
    for (KernelMask members = 1; members < 16; ++members) {
      SmAssign assign({sms});
      Walk(&assign, {false, members, false, true, 4});
      EXPECT_EQ(assign.state().allowed[sms - 1], members);
      const bool alone = Count(members) > 1 && Count(members) < sms;
      EXPECT_EQ(assign.state().allowed[0] != members, alone);
    }
  }
}

// What the planner asks: how far apart SMs are that host the same kernels.
TEST(SmAssignTest, SmsThatHostTheSameKernelsAreEquallyFarApart) {
  for (KernelMask members = 1; members < 16; ++members) {
    for (std::uint8_t limit = 1; limit <= 4; ++limit) {
      for (const bool profile : {false, true}) {
        SmAssign assign({16});
        Walk(&assign, {false, members, false, profile, limit});
        const auto& allowed = assign.state().allowed;
        const unsigned apart = assign.state().apart, begin = profile ? Count(members) : 0;
        for (unsigned sm = begin; sm + apart < 16; ++sm) {
          EXPECT_EQ(allowed[sm], allowed[sm + apart]);
          for (unsigned n = 1; n < apart; ++n) EXPECT_NE(allowed[sm], allowed[sm + n]);
        }
      }
    }
  }
}

TEST(SmAssignTest, OneKernelAloneNeedsNoProfilingSm) {
  SmAssign assign({4});
  Walk(&assign, {false, 0b0100, false, true, 4});
  for (unsigned sm = 0; sm < 4; ++sm) EXPECT_EQ(assign.state().allowed[sm], 0b0100);
}

// The example of SMK Sec. 5.5: three kernels, three SMs, two kernels per SM.
TEST(SmAssignTest, ThreeKernelsOnThreeSmsShareInAllPairs) {
  SmAssign assign({3});
  Walk(&assign, {false, 0b0111, false, false, 2});
  EXPECT_EQ(SmsOf(assign, 3), (std::array<unsigned, 4>{2, 2, 2, 0}));
  EXPECT_NE(assign.state().allowed[0], assign.state().allowed[1]);
  EXPECT_NE(assign.state().allowed[1], assign.state().allowed[2]);
  EXPECT_NE(assign.state().allowed[0], assign.state().allowed[2]);
}

TEST(SmAssignTest, ProfilingSmsDoNotCountAsRunning) {
  SmAssign assign({9});
  Walk(&assign, {false, 0b0111, false, true, 2});
  EXPECT_EQ(SmsOf(assign, 9), (std::array<unsigned, 4>{5, 5, 5, 0}));  // 6 shared by 2, 1 alone
}

// With a limit of kernels per SM every SM has that many, and every prefix of the SMs is balanced.
TEST(SmAssignTest, LimitedKernelsPerSmStayBalancedInRandomUse) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  SmAssign assign({16});
  for (int round = 0; round < 500; ++round) {
    SmAssign::Inputs in;
    in.members = static_cast<KernelMask>(1 + oracle::Pick(&random, 15));
    in.kernels_per_sm = static_cast<std::uint8_t>(1 + oracle::Pick(&random, 4));
    Walk(&assign, in);
    std::array<unsigned, kNumKernels> running{};
    for (unsigned sm = 0; sm < 16; ++sm) {
      const KernelMask allowed = assign.state().allowed[sm];
      ASSERT_EQ(allowed & ~in.members, 0);
      ASSERT_EQ(Count(allowed), std::min<unsigned>(in.kernels_per_sm, Count(in.members)));
      unsigned low = ~0u, high = 0;
      for (unsigned k = 0; k < kNumKernels; ++k) {
        running[k] += allowed >> k & 1;
        if ((in.members >> k & 1) == 0) continue;
        low = std::min(low, running[k]);
        high = std::max(high, running[k]);
      }
      ASSERT_LE(high - low, 1u) << "SM " << sm;
    }
  }
}

}  // namespace
}  // namespace smk
