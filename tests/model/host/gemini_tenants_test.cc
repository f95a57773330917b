// SPDX-License-Identifier: Apache-2.0
// Gemini as a whole: Fig. 7's two cases, Fig. 13's four phases, odd clients, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/host/gemini_rig.h"

namespace smk::gemini {
namespace {

using testing::HasSubstr;

// One client whose quota is always 35 ms, without delays.
TenantRequest Fixed35() {
  TenantRequest request;
  request.settings.delay = 0;
  request.settings.beta = kWhole;
  request.settings.base_quota = 35 * kMs;
  request.sample = 0;
  request.duration = 100 * kMs;
  return request;
}

TEST(GeminiRevocation, AtTheEndOfAKernel) {
  TenantRequest request = Fixed35();
  request.clients = {Client("a", 0, kWhole, {Kernels(1, 10 * kMs), Sync()})};
  const TenantResult result = RunChecked(request);
  const TokenRecord& first = result.tokens[0];
  EXPECT_EQ(first.end, 30 * kMs) << "5 ms are left, and a kernel takes 10";
  EXPECT_EQ(first.reason, TokenEnd::kKernelEnd);
  EXPECT_EQ(first.kernels, 3u);
  EXPECT_EQ(result.tokens[1].token.start, 30 * kMs) << "the next is asked for at once";
}

TEST(GeminiRevocation, WhenALaunchComes) {
  TenantRequest request = Fixed35();
  request.clients = {Client("a", 0, kWhole,
                            {Kernels(1, 10 * kMs), Sync(), Host(14 * kMs),
                             Kernels(1, 10 * kMs, 6 * kMs), Kernels(1, 10 * kMs), Sync()})};
  const TenantResult result = RunChecked(request);
  const TokenRecord& first = result.tokens[0];
  EXPECT_EQ(first.reason, TokenEnd::kLaunch);
  EXPECT_NEAR(first.end, 34 * kMs, kUs) << "the launch at 30 ms waits for the kernel that runs";
  EXPECT_EQ(first.kernels, 2u);
  EXPECT_EQ(result.tokens[1].token.start, first.end);
}

// Kernels of 10 ms: from 25 ms on less is left, which the GPU has nothing to do with.
TEST(GeminiRevocation, OfAnIdleTokenWhenLessThanAKernelIsLeft) {
  TenantRequest request = Fixed35();
  request.clients = {
      Client("a", 0, kWhole, {Kernels(1, 10 * kMs), Sync(), Host(20 * kMs)}),
      Client("b", 0, kWhole, {Kernels(1, 10 * kMs), Sync()}),
  };
  request.clients[1].start = 5 * kMs;
  const TenantResult result = RunChecked(request);
  const TokenRecord &first = result.tokens[0], &second = result.tokens[1];
  EXPECT_EQ(first.reason, TokenEnd::kKernelEnd);
  EXPECT_EQ(first.end, 25 * kMs + 1) << "the first time at which less is left";
  EXPECT_EQ(first.kernels, 1u);
  EXPECT_EQ(second.token.client, 1u);
  EXPECT_EQ(second.token.start, first.end) << "not when it expires, nor when a launches again";
  EXPECT_EQ(TokensOf(result, 0)[1]->token.requested, 30 * kMs) << "when it launches again";
}

TEST(GeminiRevocation, OfABusyTokenAtTheEndOfItsKernels) {
  TenantRequest request = Fixed35();
  request.clients = {
      Client("a", 0, kWhole,
             {Kernels(1, 10 * kMs), Sync(), Host(13 * kMs), Kernels(1, 10 * kMs), Host(50 * kMs)})};
  const TenantResult result = RunChecked(request);
  EXPECT_EQ(result.tokens[0].reason, TokenEnd::kKernelEnd);
  EXPECT_NEAR(result.tokens[0].end, 33 * kMs, kUs) << "it ran from 23 ms on";
  EXPECT_EQ(result.tokens[0].kernels, 2u);
}

// The estimate is that of the last burst: 60 and 150 ms in turn.
TEST(GeminiRevocation, TheMomentFollowsTheEstimate) {
  TenantRequest request = Fixed35();
  request.settings.base_quota = 150 * kMs;
  request.duration = 2 * kSecond;
  request.clients = {Client("a", 0, kWhole,
                            {Kernels(1, 60 * kMs), Sync(), Host(300 * kMs), Kernels(1, 150 * kMs),
                             Sync(), Host(300 * kMs)})};
  const TenantResult result = RunChecked(request);
  ASSERT_GE(result.tokens.size(), 3u);
  const auto held = [&](std::size_t token) {
    return result.tokens[token].end - result.tokens[token].token.start;
  };
  EXPECT_EQ(held(0), 90 * kMs + 1);
  EXPECT_EQ(held(1), 150 * kMs) << "busy until it expires";
  EXPECT_EQ(held(2), 90 * kMs + 1) << "150 ms were estimated when it came, 60 at its burst's end";
}

TEST(GeminiRevocation, WithoutItTheKernelOveruses) {
  TenantRequest request = Fixed35();
  request.settings.revocation = false;
  request.clients = {Client("a", 0, kWhole, {Kernels(1, 10 * kMs), Sync()})};
  const TenantResult result = RunChecked(request);
  EXPECT_EQ(result.tokens[0].reason, TokenEnd::kExpired);
  EXPECT_EQ(result.tokens[0].overuse(), 5 * kMs);
  EXPECT_EQ(result.tokens[0].kernels, 4u);
}

TEST(GeminiRevocation, TheFirstLaunchIsNeverHeldBack) {
  TenantRequest request = Fixed35();
  request.clients = {Client("a", 0, kWhole, {Kernels(1, 50 * kMs), Sync()})};
  const TenantResult result = RunChecked(request);
  EXPECT_EQ(result.clients[0].latencies.size(), 2u);
  EXPECT_EQ(result.tokens[0].overuse(), 15 * kMs);
}

TEST(GeminiTenants, QuotasBecomeTheBursts) {
  TenantRequest request;
  request.duration = 60 * kSecond;
  const Nanoseconds bursts[3] = {36, 64, 78};
  for (const Nanoseconds burst : bursts) {
    ClientScript client =
        Client("c" + std::to_string(burst), 0, kWhole,
               {Host(15 * kMs), Kernels(static_cast<std::uint32_t>(burst), kMs, kMs), Sync()});
    client.steps[1].variation = 50'000;
    request.clients.push_back(client);
  }
  const TenantResult result = RunChecked(request);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto tokens = TokensOf(result, i);
    Nanoseconds quotas = 0, overuse = 0;
    for (const TokenRecord* token : tokens) {
      quotas += token->token.quota;
      overuse += token->overuse();
    }
    const auto count = static_cast<Nanoseconds>(tokens.size());
    const Nanoseconds quota = quotas / count;
    EXPECT_NEAR(static_cast<double>(quota) / kMs, bursts[i], 0.05 * bursts[i]);
    EXPECT_LT(overuse / count, kMs / 2) << "near none";
    EXPECT_NEAR(static_cast<double>(count) / result.clients[i].latencies.size(), 1, 0.1)
        << "tokens of a job";
  }
}

// Fig. 13: (0.3, 0.6), (0.4, 0.6) from 100 s to 330 s, (0.3, 0.4) from 230 s on.
TenantRequest Figure13() {
  TenantRequest request;
  request.duration = 430 * kSecond;
  const auto server = [](const char* name, std::int64_t minimum, std::int64_t maximum,
                         std::uint32_t burst, Nanoseconds host) {
    return Client(name, minimum, maximum, {Host(host), Kernels(burst, kMs, kMs), Sync()});
  };
  request.clients = {server("r50-fpn", 300'000, 600'000, 64, kMs),
                     server("retinanet-r50", 400'000, 600'000, 64, kMs),
                     server("x101-fpn", 300'000, 400'000, 152, 8 * kMs)};
  request.clients[1].start = 100 * kSecond;
  request.clients[1].stop = 330 * kSecond;
  request.clients[2].start = 230 * kSecond;
  return request;
}

TEST(GeminiTenants, TheFourPhasesOfFigureThirteen) {
  const TenantResult result = RunChecked(Figure13());
  const auto share = [&](std::size_t client, Nanoseconds from, Nanoseconds to) {
    // From one window after a change on.
    return MeanShare(result, client, (from + 10) * kSecond, to * kSecond);
  };
  constexpr std::int64_t kTwoPoints = 20'000;
  EXPECT_NEAR(share(0, 0, 100), 600'000, kTwoPoints);
  EXPECT_NEAR(share(0, 100, 230), 500'000, kTwoPoints);
  EXPECT_NEAR(share(1, 100, 230), 500'000, kTwoPoints);
  EXPECT_NEAR(share(0, 230, 330), 300'000, kTwoPoints);
  EXPECT_NEAR(share(1, 230, 330), 400'000, kTwoPoints);
  EXPECT_NEAR(share(2, 230, 330), 300'000, kTwoPoints);
  EXPECT_NEAR(share(0, 330, 430), 600'000, kTwoPoints);
  EXPECT_NEAR(share(2, 330, 430), 400'000, kTwoPoints);
}

TEST(GeminiTenants, WithoutTokensTheGpuIsSharedByItsSlices) {
  TenantRequest request = Figure13();
  request.settings.control = Control::kNone;
  const TenantResult result = RunChecked(request);
  EXPECT_TRUE(result.tokens.empty());
  const auto executed = [&](std::size_t client, Nanoseconds from, Nanoseconds to) {
    const auto& samples = result.samples;
    return static_cast<double>(samples[to - 1].executed[client] -
                               samples[from - 1].executed[client]) /
           static_cast<double>((to - from) * kSecond);
  };
  EXPECT_GT(executed(0, 10, 100), 0.9) << "no limit is kept";
  EXPECT_NEAR(executed(1, 240, 330), 1 / 3.0, 0.02) << "nor is a request";
}

TEST(GeminiTenants, AClientThatNeverSynchronisesSharesAlso) {
  TenantRequest request;
  request.duration = 60 * kSecond;
  request.settings.launch_queue = 4;
  request.clients = {Client("never", 500'000, 500'000, {Kernels(100, 5 * kMs)}),
                     Client("often", 500'000, kWhole, {Kernels(20, kMs, kMs), Sync()})};
  const TenantResult result = RunChecked(request);
  EXPECT_NEAR(MeanShare(result, 0, 20 * kSecond, 60 * kSecond), 500'000, 50'000);
  EXPECT_NEAR(MeanShare(result, 1, 20 * kSecond, 60 * kSecond), 500'000, 50'000);
  for (const TokenRecord* token : TokensOf(result, 0)) {
    EXPECT_LE(token->overuse(), 2 * 4 * 5 * kMs) << "what is queued, at half of the GPU";
  }
}

TEST(GeminiTenants, NobodyStarvesBesideAClientThatNeverReturns) {
  TenantRequest request;
  request.duration = 30 * kSecond;
  request.clients = {Client("stuck", 300'000, kWhole, {Kernels(1, 3600 * kSecond), Sync()}),
                     Client("alive", 300'000, kWhole, {Kernels(20, kMs, kMs), Sync()})};
  const TenantResult result = RunChecked(request);
  EXPECT_EQ(TokensOf(result, 0).size(), 1u);
  EXPECT_TRUE(result.clients[0].latencies.empty());
  // The hardware's slices give it half of the GPU; 20 ms of kernels take 40.
  EXPECT_NEAR(static_cast<double>(result.clients[1].executed) / result.time, 0.5, 0.05);
  EXPECT_GT(result.clients[1].latencies.size(), 600u);
}

TEST(GeminiTenants, StaticQuotasBelowABurstOveruse) {
  TenantRequest request;
  request.duration = 20 * kSecond;
  request.settings.control = Control::kStatic;
  request.settings.revocation = false;
  request.settings.quota = 10 * kMs;
  request.clients = {Client("a", 0, kWhole, {Kernels(8, 4 * kMs, kMs), Sync(), Host(kMs)}),
                     Client("b", 0, kWhole, {Kernels(8, 4 * kMs, kMs), Sync(), Host(kMs)})};
  const TenantResult small = RunChecked(request);
  request.settings.quota = 100 * kMs;
  const TenantResult large = RunChecked(request);
  const auto overuse = [](const TenantResult& result) {
    Nanoseconds sum = 0;
    for (const TokenRecord& token : result.tokens) sum += token.overuse();
    return sum / static_cast<Nanoseconds>(result.tokens.size());
  };
  EXPECT_GT(overuse(small), 10 * kMs);
  EXPECT_LT(overuse(large), overuse(small));
  for (const TokenRecord& token : small.tokens) EXPECT_EQ(token.token.quota, 10 * kMs);
}

TEST(GeminiTenants, JobsWaitForTheirArrivalsAndForEachOther) {
  TenantRequest request;
  request.settings.control = Control::kNone;
  request.clients = {Client("a", 0, kWhole, {Kernels(1, 10 * kMs), Sync()})};
  request.clients[0].arrivals = {0, 5 * kMs, 100 * kMs};
  request.clients[0].start = kSecond;
  const TenantResult result = RunChecked(request);
  EXPECT_THAT(result.clients[0].latencies, testing::ElementsAre(10 * kMs, 15 * kMs, 10 * kMs));
  EXPECT_EQ(result.clients[0].ended, kSecond + 110 * kMs);
  EXPECT_EQ(result.time, result.clients[0].ended) << "the run ends with its last client";
}

TEST(GeminiTenants, SequentialIsOneAfterTheOther) {
  TenantRequest request;
  request.settings.control = Control::kSequential;
  request.clients = {Client("a", 0, kWhole, {Kernels(1, 10 * kMs), Sync(), Host(5 * kMs)}),
                     Client("b", 0, kWhole, {Kernels(1, 20 * kMs), Sync()})};
  request.clients[0].jobs = 3;
  request.clients[1].jobs = 2;
  const TenantResult result = RunChecked(request);
  EXPECT_EQ(result.clients[0].ended, 3 * (15 * kMs + kUs) - 3 * kUs);
  EXPECT_EQ(result.clients[1].started, result.clients[0].ended);
  EXPECT_EQ(result.time, result.clients[0].ended + 40 * kMs);
}

TEST(GeminiTenants, AnHourIsTheSameTwice) {
  TenantRequest request;
  request.duration = 3600 * kSecond;
  request.sample = 60 * kSecond;
  for (int i = 0; i < 8; ++i) {
    ClientScript client = Client("c" + std::to_string(i), kWhole / 8, kWhole,
                                 {Host((5 + i) * kMs), Kernels(40 + 5 * i, kMs, 20 * kUs), Sync()});
    client.steps[1].variation = 100'000;
    request.clients.push_back(client);
  }
  const TenantResult once = RunChecked(request), again = RunChecked(request);
  EXPECT_EQ(once.time, 3600 * kSecond);
  EXPECT_EQ(once.events, again.events);
  ASSERT_EQ(once.tokens.size(), again.tokens.size());
  EXPECT_EQ(once.tokens.back().end, again.tokens.back().end);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(once.clients[i].executed, again.clients[i].executed);
    EXPECT_NEAR(static_cast<double>(once.clients[i].executed) / once.time, 1 / 8.0, 0.02);
  }
}

// What one line says of a request that cannot be.
std::string Refusal(const TenantRequest& request) {
  try {
    RunTenants(request);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(GeminiRefused, EachInOneLine) {
  TenantRequest good;
  good.duration = kSecond;
  good.memory.bytes = 1000;
  good.clients = {Client("a", 600'000, 700'000, {Kernels(1, kMs), Sync()})};
  EXPECT_EQ(Refusal(good), "");
  TenantRequest bad = good;
  bad.clients.push_back(Client("b", 400'100, 700'000, {Kernels(1, kMs), Sync()}));
  EXPECT_EQ(Refusal(bad),
            "client: request: expected at most 100 % of the GPU for all together, got 100.01 %");
  bad = good;
  bad.clients[0].request = 800'000;
  EXPECT_EQ(Refusal(bad), "client a: request: expected at most its limit of 70.00 %, got 80.00 %");
  bad = good;
  bad.clients[0].memory = 1001;
  EXPECT_EQ(Refusal(bad), "client a: memory: expected at most the 1000 bytes of the GPU, got 1001");
  bad = good;
  bad.clients[0].memory = 11;
  bad.clients[0].memory_limit = 10;
  EXPECT_THAT(Refusal(bad), HasSubstr("memory_limit of 10 bytes, got 11"));
  bad = good;
  bad.clients[0].steps = {};
  EXPECT_THAT(Refusal(bad), HasSubstr("step: expected at least one"));
  bad.clients[0].steps = {Sync()};
  EXPECT_THAT(Refusal(bad), HasSubstr("a job takes no time"));
  bad = good;
  bad.duration = kNeverNs;
  EXPECT_THAT(Refusal(bad), HasSubstr("jobs: expected jobs, arrivals or stop"));
  bad = good;
  bad.clients.clear();
  EXPECT_THAT(Refusal(bad), HasSubstr("client: expected at least one"));
  bad = good;
  bad.clients[0].limit = 0;
  EXPECT_THAT(Refusal(bad), HasSubstr("limit: expected more than 0"));
}

}  // namespace
}  // namespace smk::gemini
