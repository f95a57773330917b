// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/oracle.h"
#include "control/driver/quota_calculator.h"

namespace smk {
namespace {

constexpr unsigned kDivide = QuotaCalculator::kDivideCycles;

struct Sent {
  unsigned sm, kernel, quota;
  bool last;
};

class QuotaCalculatorTest : public testing::Test {
 protected:
  QuotaCalculatorTest() {
    in_.profile_tbs = {8, 8, 0, 0};
    in_.partition = &partition_;
    in_.settled = SmMask::First(kMaxSms);
    in_.command_ready = true;
    partition_[0] = {8, 0, 0, 0};  // the profiling SMs
    partition_[1] = {0, 8, 0, 0};
  }
  void Window(KernelMask kernels, std::array<std::uint16_t, kMaxKernels> issued) {
    in_.profile_valid = kernels;
    in_.profile_issued = issued;
    Cycle();
    in_.profile_valid = 0;
  }
  void Cycle() {
    const QuotaCalculator::State& s = quota_.state();
    if (s.command_valid && in_.command_ready) {
      sent_.push_back({s.sm, Index(s.command.kernel), s.command.quota, s.command.last});
    }
    quota_.Tick(in_);
  }
  // Cycles until the round is over.
  unsigned Round() {
    unsigned cycles = 0;
    for (; quota_.busy(); ++cycles) Cycle();
    return cycles;
  }

  PartitionTable partition_{};
  QuotaCalculator::Inputs in_;
  QuotaCalculator quota_{{4}};
  std::vector<Sent> sent_;
};

TEST_F(QuotaCalculatorTest, SharesTheEpochByIssueRateAndTbs) {
  partition_[2] = {2, 4, 0, 0};
  Window(0b0011, {4000, 5000, 0, 0});
  Round();
  ASSERT_EQ(sent_.size(), 2u);
  // C = 4000 x 2/8 and 5000 x 4/8; 9998 of the epoch in proportion, and one more each [D9].
  EXPECT_EQ(sent_[0].quota, 1000u * 9998 / 3500 + 1);
  EXPECT_EQ(sent_[1].quota, 2500u * 9998 / 3500 + 1);
  EXPECT_EQ(sent_[0].sm, 2u);
  EXPECT_FALSE(sent_[0].last);
  EXPECT_TRUE(sent_[1].last);
  EXPECT_EQ(quota_.state().sent[2][1], sent_[1].quota);
}

TEST_F(QuotaCalculatorTest, FirstCommandAfterTwoDivisionsPerKernel) {
  partition_[0] = {2, 4, 0, 0};  // SM 0 is served first, so that the walk does not add
  Window(0b0011, {4000, 5000, 0, 0});
  Cycle();  // looks at SM 0
  for (unsigned n = 0; n < 4 * kDivide; ++n) Cycle();
  EXPECT_FALSE(quota_.state().command_valid) << "earlier than the contract";
  Cycle();
  EXPECT_TRUE(quota_.state().command_valid) << "later than the contract";
}

TEST_F(QuotaCalculatorTest, EqualPartitionsAreNotDividedAgain) {
  partition_[2] = partition_[3] = {2, 4, 0, 0};
  Window(0b0011, {4000, 5000, 0, 0});
  // SM 0 and 1 are passed; SM 2 divides; both are looked at and offered to, and take two commands.
  EXPECT_EQ(Round(), 2 + (1 + 4 * kDivide + 1 + 2) + (1 + 1 + 2));
  ASSERT_EQ(sent_.size(), 4u);
  EXPECT_EQ(sent_[2].sm, 3u);
  EXPECT_EQ(sent_[2].quota, sent_[0].quota);
  EXPECT_EQ(sent_[3].quota, sent_[1].quota);
}

TEST_F(QuotaCalculatorTest, CommandHoldsUntilItIsSent) {
  partition_[2] = {2, 4, 0, 0};
  Window(0b0011, {4000, 5000, 0, 0});
  in_.command_ready = false;
  while (!quota_.state().command_valid) Cycle();
  for (int i = 0; i < 20; ++i) {
    Cycle();
    ASSERT_TRUE(quota_.state().command_valid);
    ASSERT_EQ(quota_.state().command.kernel, KernelId{0});
    ASSERT_EQ(quota_.state().sm, 2);
  }
  in_.command_ready = true;
  Round();
  EXPECT_EQ(sent_.size(), 2u);
}

TEST_F(QuotaCalculatorTest, AnSmOfOneKernelHasNoQuotas) {
  partition_[2] = {8, 0, 0, 0};
  Window(0b0011, {4000, 5000, 0, 0});
  Round();
  EXPECT_TRUE(sent_.empty());
}

TEST_F(QuotaCalculatorTest, AnUnsettledSmIsPassedOver) {
  partition_[2] = partition_[3] = {2, 4, 0, 0};
  in_.settled.Clear(2);
  Window(0b0011, {4000, 5000, 0, 0});
  Round();
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_EQ(sent_[0].sm, 3u);
}

TEST_F(QuotaCalculatorTest, AKernelWithoutAWindowOrIssueLeavesTheSmAsItIs) {
  partition_[2] = {2, 4, 0, 0};
  Window(0b0001, {4000, 0, 0, 0});
  Round();
  EXPECT_TRUE(sent_.empty()) << "kernel 1 was not profiled";
  Window(0b0011, {4000, 0, 0, 0});
  Round();
  EXPECT_TRUE(sent_.empty()) << "kernel 1 issued nothing";
  Window(0b0011, {4000, 5000, 0, 0});
  Round();
  EXPECT_EQ(sent_.size(), 2u);
  Window(0b0001, {4000, 0, 0, 0});
  Round();
  EXPECT_EQ(sent_.size(), 2u) << "the window of the round before does not count";
  sent_.clear();
  in_.profile_tbs[1] = 0;
  Window(0b0011, {4000, 5000, 0, 0});
  Round();
  EXPECT_TRUE(sent_.empty()) << "kernel 1 had no TB";
}

TEST_F(QuotaCalculatorTest, AWindowThatEndsDuringARoundIsNotUsed) {
  partition_[2] = {2, 4, 0, 0};
  partition_[3] = {3, 3, 0, 0};
  Window(0b0011, {4000, 5000, 0, 0});
  for (unsigned n = 0; n < kDivide; ++n) Cycle();
  Window(0b0011, {1, 60000, 0, 0});
  Round();
  ASSERT_EQ(sent_.size(), 4u);
  EXPECT_EQ(sent_[0].quota, 1000u * 9998 / 3500 + 1);
  EXPECT_EQ(sent_[2].quota, 1500u * 9998 / 3375 + 1);
  EXPECT_EQ(Round(), 0u);
  Window(0b0011, {5000, 4000, 0, 0});
  Round();
  EXPECT_EQ(sent_.size(), 8u);
}

TEST_F(QuotaCalculatorTest, APartitionThatChangesWhileItIsServedGetsNoMoreCommands) {
  partition_[2] = {2, 4, 0, 0};
  Window(0b0011, {4000, 5000, 0, 0});
  while (sent_.empty()) Cycle();
  partition_[2] = {1, 1, 0, 0};
  Round();
  // The second command was already offered when the change was seen; a stream does not take back.
  for (const Sent& s : sent_) EXPECT_EQ(s.sm, 2u);
  EXPECT_LE(sent_.size(), 2u);
}

// T is of the window, whatever is planned on the profiling SMs [D107].
TEST_F(QuotaCalculatorTest, TbsAloneAreThoseOfTheWindow) {
  in_.profile_tbs = {1, 4, 0, 0};
  partition_[2] = {2, 4, 0, 0};
  Window(0b0011, {500, 4000, 0, 0});
  in_.profile_tbs = {8, 8, 8, 8};
  partition_[0] = partition_[1] = {};
  Round();
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_EQ(sent_[0].quota, 1000u * 9998 / 5000 + 1);
  EXPECT_EQ(sent_[1].quota, 4000u * 9998 / 5000 + 1);
}

TEST_F(QuotaCalculatorTest, QuotasAreInProportionPositiveAndAtMostTheEpoch) {
  const unsigned seed = oracle::Seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const auto members = static_cast<KernelMask>(3 + oracle::Pick(&random, 13));
    in_.epoch_length = static_cast<std::uint16_t>(5 + oracle::Pick(&random, 65000));
    std::array<std::uint16_t, kMaxKernels> issued{};
    std::array<std::uint8_t, kMaxKernels> isolated{};
    std::vector<unsigned> kernels;
    partition_ = {};
    for (unsigned k = 0; k < kNumKernels; ++k) {
      if ((members >> k & 1) == 0) continue;
      kernels.push_back(k);
      issued[k] = static_cast<std::uint16_t>(1 + oracle::Pick(&random, 65535));
      isolated[k] = static_cast<std::uint8_t>(1 + oracle::Pick(&random, 32));
    }
    if (kernels.size() < 2 || kernels.size() > 3) continue;
    for (unsigned k : kernels) {
      partition_[3][k] = static_cast<std::uint8_t>(1 + oracle::Pick(&random, isolated[k]));
    }
    sent_.clear();
    in_.profile_tbs = isolated;
    Window(members, issued);
    Round();
    ASSERT_EQ(sent_.size(), kernels.size());
    std::uint64_t sum_c = 0, sum_quota = 0;
    for (unsigned k : kernels) sum_c += issued[k] * partition_[3][k] / isolated[k];
    for (const Sent& s : sent_) {
      const std::uint64_t c = issued[s.kernel] * partition_[3][s.kernel] / isolated[s.kernel];
      sum_quota += s.quota;
      ASSERT_GE(s.quota, 1u);
      if (sum_c == 0) continue;
      // Quota / epoch is C / sum(C), short of it by less than the number of kernels, over by one.
      const double exact = static_cast<double>(c) * in_.epoch_length / static_cast<double>(sum_c);
      ASSERT_LE(s.quota, exact + 1);
      ASSERT_GE(s.quota, exact - static_cast<double>(kernels.size()));
    }
    ASSERT_LE(sum_quota, in_.epoch_length);
  }
}

}  // namespace
}  // namespace smk
