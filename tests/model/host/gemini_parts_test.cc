// SPDX-License-Identifier: Apache-2.0
// The parts of Gemini by hand: allocations (Fig. 6), quotas (eq. 1, 2), the monitor, the choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/gemini/burst_monitor.h"
#include "host/gemini/quota.h"
#include "host/gemini/token_scheduler.h"
#include "host/gemini/usage_window.h"
#include "model/host/gemini_rig.h"

namespace smk::gemini {
namespace {

using testing::ElementsAre;

TEST(GeminiWindow, IsFigureSix) {
  // Window of 10 at time 12: it begins at 2. A had [0, 4); B [4, 7) and an overuse until 8; C
  // from 7.
  UsageWindow window(3, 10 * kMs);
  window.Open(0, 0, 4 * kMs);
  const std::size_t b = window.Open(1, 4 * kMs, 7 * kMs);
  window.Open(2, 7 * kMs, 12 * kMs);
  EXPECT_THAT(window.Allocations(12 * kMs), ElementsAre(2 * kMs, 3 * kMs, 5 * kMs));
  window.SetEnd(b, 8 * kMs);
  EXPECT_THAT(window.Allocations(12 * kMs), ElementsAre(2 * kMs, 7 * kMs / 2, 9 * kMs / 2))
      << "20 %, 35 %, 45 %: the overlap is shared equally";
}

TEST(GeminiWindow, BeginsAsLongAsTheTimeThatHasPassed) {
  UsageWindow window(1, 10 * kMs);
  window.Open(0, 0, 2 * kMs);
  EXPECT_EQ(window.Length(4 * kMs), 4 * kMs);
  EXPECT_EQ(window.Length(40 * kMs), 10 * kMs);
  EXPECT_THAT(window.Allocations(4 * kMs), ElementsAre(2 * kMs));
  EXPECT_THAT(window.Allocations(11 * kMs), ElementsAre(1 * kMs));
  EXPECT_THAT(window.Allocations(12 * kMs), ElementsAre(0));
}

TEST(GeminiWindow, SaysWhenAClientIsWithinItsLimitAgain) {
  // It had 2 of 4; 40 % of what has passed at 5.
  UsageWindow young(1, 10 * kMs);
  young.Open(0, 0, 2 * kMs);
  EXPECT_EQ(young.WithinLimit(0, 400'000, 4 * kMs), 5 * kMs);
  // Full: [5, 10) of the window that ends at 12 is 50 %; 1.5 of it have left at 16.5.
  UsageWindow full(1, 10 * kMs);
  full.Open(0, 5 * kMs, 10 * kMs);
  const Nanoseconds late = full.WithinLimit(0, 350'000, 12 * kMs);
  EXPECT_EQ(late, 16'500'000);
  EXPECT_GT(full.Allocations(late - 1)[0], PartOf(10 * kMs, 350'000));
  EXPECT_EQ(full.WithinLimit(0, 600'000, 12 * kMs), 12 * kMs) << "it is";
  // Of an overlap only its half leaves.
  UsageWindow shared(2, 10 * kMs);
  shared.Open(0, 5 * kMs, 9 * kMs);
  shared.Open(1, 5 * kMs, 9 * kMs);
  EXPECT_EQ(shared.WithinLimit(0, 100'000, 12 * kMs), 17 * kMs);
}

TEST(GeminiQuota, EquationsOneAndTwoOnNumbers) {
  // alpha 0.25: 0.25 x 80 + 0.75 x 40 = 50. beta 0.6: 0.6 x 100 + 0.4 x 50 = 80.
  EXPECT_EQ(EstimatedBurst({80 * kMs, 40 * kMs}, 250'000), 50 * kMs);
  EXPECT_EQ(SmoothedQuota(100 * kMs, 50 * kMs, 600'000), 80 * kMs);
  EXPECT_EQ(EstimatedBurst({80 * kMs, 40 * kMs}, 0), 40 * kMs) << "the last only";
  EXPECT_EQ(EstimatedBurst({80 * kMs, 40 * kMs}, kWhole), 80 * kMs) << "the largest only";
  EXPECT_EQ(SmoothedQuota(100 * kMs, 50 * kMs, kWhole), 100 * kMs) << "never moves";
  EXPECT_EQ(SmoothedQuota(100 * kMs, 50 * kMs, 0), 50 * kMs) << "moves at once";
}

TEST(GeminiQuota, StaysWithinItsBounds) {
  Settings settings;
  settings.window = 1000 * kMs;
  EXPECT_EQ(NextQuota(settings, 70 * kMs, {}, kWhole), settings.base_quota) << "no burst is known";
  EXPECT_EQ(NextQuota(settings, 0, {kMs, kMs}, kWhole), settings.least_quota);
  EXPECT_EQ(NextQuota(settings, 900 * kMs, {900 * kMs, 900 * kMs}, 300'000), 300 * kMs)
      << "at most the limit of a window";
  settings.control = Control::kStatic;
  EXPECT_EQ(NextQuota(settings, 1, {kMs, kMs}, kWhole), settings.quota);
}

class GeminiMonitor : public testing::Test {
 protected:
  // A burst of so many kernels, whose end a synchronisation finds.
  void Burst(Nanoseconds start, Nanoseconds end, unsigned kernels = 1, bool sync = true) {
    for (unsigned i = 0; i < kernels; ++i) monitor.Launch(start);
    monitor.End(end, sync);
  }
  Settings settings;
  BurstMonitor monitor{settings};
};

TEST_F(GeminiMonitor, KernelTimeIsBurstTimeByKernels) {
  EXPECT_EQ(monitor.KernelTime(), 0);
  Burst(10 * kMs, 40 * kMs, 3);
  EXPECT_EQ(monitor.KernelTime(), 10 * kMs);
}

TEST_F(GeminiMonitor, ReportsTheNinetiethPercentileAndTheLast) {
  settings.bursts = 10;
  for (int i = 1; i <= 12; ++i) Burst(i * 1000 * kMs, i * 1000 * kMs + i * 10 * kMs);
  // Of the last ten, 30 to 120 ms, nine do not exceed 110.
  EXPECT_EQ(monitor.Report().max, 110 * kMs);
  EXPECT_EQ(monitor.Report().last, 120 * kMs);
}

TEST_F(GeminiMonitor, MergesBelowGammaAndBelowEpsilon) {
  settings.gamma = 2 * kMs;
  settings.epsilon = 50'000;
  Burst(0, 10 * kMs);
  Burst(11 * kMs, 21 * kMs);  // 1 ms later: below gamma
  Burst(23 * kMs, 33 * kMs);  // 2 ms: not below gamma, nor below 5 % of 10 ms
  EXPECT_THAT(monitor.Merged(), ElementsAre(21 * kMs, 10 * kMs));
  settings.gamma = 0;
  EXPECT_THAT(monitor.Merged(), ElementsAre(10 * kMs, 10 * kMs, 10 * kMs));
  settings.epsilon = 110'000;  // 1.1 ms
  EXPECT_THAT(monitor.Merged(), ElementsAre(21 * kMs, 10 * kMs));
}

TEST_F(GeminiMonitor, DoesNotTakeTheWaitForATokenForAnInterval) {
  Burst(0, 10 * kMs);
  monitor.Call(11 * kMs);
  Burst(300 * kMs, 310 * kMs);
  EXPECT_THAT(monitor.Merged(), ElementsAre(21 * kMs));
}

TEST_F(GeminiMonitor, JoinsWhatTheEndOfATokenHasCut) {
  Burst(0, 30 * kMs);
  Burst(100 * kMs, 120 * kMs, 1, false);
  EXPECT_THAT(monitor.Merged(), ElementsAre(30 * kMs)) << "the second is not complete";
  monitor.Call(120 * kMs);
  Burst(500 * kMs, 510 * kMs);
  EXPECT_THAT(monitor.Merged(), ElementsAre(30 * kMs, 30 * kMs));
}

TEST_F(GeminiMonitor, ACutBurstIsWhatThereIsOfAClientThatNeverSynchronises) {
  Burst(0, 20 * kMs, 2, false);
  EXPECT_EQ(monitor.Report().last, 20 * kMs);
  monitor.Call(20 * kMs);
  Burst(50 * kMs, 70 * kMs, 2, false);
  EXPECT_EQ(monitor.Report().last, 40 * kMs);
}

class GeminiScheduler : public testing::Test {
 protected:
  static Settings Short() {
    Settings settings;
    settings.delay = 0;
    settings.window = 1000 * kMs;
    settings.base_quota = 100 * kMs;
    return settings;
  }
  // The client that has the token now.
  std::size_t Next(Nanoseconds now) {
    const auto token = scheduler.Choose(now);
    return token ? token->client : 99;
  }
  Settings settings = Short();
  std::vector<ClientScript> clients = {Client("a", 200'000, kWhole, {}),
                                       Client("b", 500'000, 600'000, {}),
                                       Client("c", 0, 300'000, {})};
  TokenScheduler scheduler{settings, clients};
};

TEST_F(GeminiScheduler, ServesTheFarthestBelowItsRequestFirst) {
  scheduler.Request(0, {}, 1000 * kMs);
  scheduler.Request(1, {}, 1000 * kMs);
  scheduler.Request(2, {}, 1000 * kMs);
  EXPECT_EQ(Next(1000 * kMs), 1u) << "500 ms below its request";
  EXPECT_EQ(Next(1050 * kMs), 99u) << "its token is valid";
  EXPECT_EQ(scheduler.NextEvent(), 1100 * kMs);
  scheduler.Request(1, {}, 1100 * kMs);
  EXPECT_EQ(Next(1100 * kMs), 1u) << "400 are more than 200";
}

TEST_F(GeminiScheduler, ThenTheFarthestBelowItsLimit) {
  clients[0].request = clients[1].request = 0;
  scheduler.Request(2, {}, 1000 * kMs);
  scheduler.Request(1, {}, 1000 * kMs);
  scheduler.Request(0, {}, 1000 * kMs);
  EXPECT_EQ(Next(1000 * kMs), 0u);
  EXPECT_EQ(Next(1100 * kMs), 1u);
  EXPECT_EQ(Next(1200 * kMs), 2u);
}

TEST_F(GeminiScheduler, LeavesOutWhoIsAboveItsLimit) {
  Nanoseconds now = 1000 * kMs;
  for (int i = 0; i < 4; ++i, now += 100 * kMs) {
    scheduler.Request(2, {}, now);
    EXPECT_EQ(Next(now), 2u);
  }
  scheduler.Request(2, {}, now);
  EXPECT_EQ(Next(now), 99u) << "40 % of the window, and its limit is 30 %";
  EXPECT_EQ(scheduler.NextEvent(), 2100 * kMs) << "when the oldest slice has left";
  EXPECT_EQ(Next(2100 * kMs), 2u);
}

TEST_F(GeminiScheduler, GivesTheNextTokenWhenOneComesBack) {
  scheduler.Request(0, {}, 1000 * kMs);
  const auto token = scheduler.Choose(1000 * kMs);
  ASSERT_TRUE(token);
  scheduler.Request(1, {}, 1010 * kMs);
  EXPECT_EQ(Next(1010 * kMs), 99u);
  scheduler.SliceEnded(token->slice, 1020 * kMs);
  EXPECT_EQ(Next(1020 * kMs), 1u);
  EXPECT_EQ(scheduler.Allocations(1020 * kMs)[0], 20 * kMs);
}

TEST_F(GeminiScheduler, ServesNobodyWhoHasWithdrawn) {
  scheduler.Request(0, {}, 0);
  scheduler.Withdraw(0);
  EXPECT_EQ(Next(0), 99u);
  EXPECT_EQ(scheduler.NextEvent(), kNeverNs);
}

}  // namespace
}  // namespace smk::gemini
