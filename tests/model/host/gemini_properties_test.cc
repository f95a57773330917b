// SPDX-License-Identifier: Apache-2.0
// What holds of any set of clients under Gemini, and that the checker finds what breaks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>

#include "base/error.h"
#include "model/host/gemini_rig.h"
#include "test_options.h"
#include "workload/random.h"

namespace smk::gemini {
namespace {

using testing::HasSubstr;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : key_(ScrambleBits(seed + 1)) {}
  // From 0 to count - 1.
  std::int64_t Below(std::int64_t count) {
    return static_cast<std::int64_t>(ScrambleBits(key_ + ++draws_) >> 33) % count;
  }
  std::int64_t From(std::int64_t low, std::int64_t high) { return low + Below(high - low + 1); }

 private:
  std::uint64_t key_, draws_ = 0;
};

// Bursts of all kinds. Who has demand launches again as soon as it can.
std::vector<ClientStep> Steps(Draw* draw, bool demand) {
  std::vector<ClientStep> steps;
  for (std::int64_t bursts = draw->From(1, 3); bursts > 0; --bursts) {
    const Nanoseconds kernel = draw->From(200, 5000) * kUs;
    ClientStep step = Kernels(static_cast<std::uint32_t>(draw->From(1, 12)), kernel,
                              draw->Below(2) == 0 ? 5 * kUs : kernel);
    step.variation = draw->Below(4) * 100'000;
    steps.push_back(step);
    if (bursts == 1 || draw->Below(4) != 0) steps.push_back(Sync());
  }
  if (!demand) steps.push_back(Host(draw->From(1, 400) * kMs));
  return steps;
}

TenantRequest RandomClients(std::uint64_t seed, std::vector<bool>* demands) {
  Draw draw(seed);
  TenantRequest request;
  request.seed = seed;
  request.settings.window = 2 * kSecond;
  request.settings.base_quota = draw.From(10, 40) * kMs;
  request.settings.least_quota = draw.From(5, 20) * kMs;
  request.settings.bursts = static_cast<std::uint32_t>(draw.From(1, 4));
  request.settings.delay = draw.Below(3) * 200 * kUs;
  request.settings.alpha = draw.Below(11) * 100'000;
  request.settings.beta = draw.Below(10) * 100'000;
  request.settings.count_launched = draw.Below(2) == 0;
  request.settings.launch_queue = static_cast<std::uint32_t>(draw.From(1, 16));
  request.duration = 5 * kSecond;
  const std::int64_t clients = draw.From(1, 8);
  std::int64_t left = 900'000;
  for (std::int64_t i = 0; i < clients; ++i) {
    demands->push_back(draw.Below(4) != 0);
    const std::int64_t minimum = std::min(left, draw.Below(500'000));
    left -= minimum;
    const std::int64_t maximum =
        std::min<std::int64_t>(kWhole, minimum + draw.From(20'000, 700'000));
    request.clients.push_back(
        Client("c" + std::to_string(i), minimum, maximum, Steps(&draw, demands->back())));
    if (draw.Below(3) == 0) request.clients.back().start = draw.Below(2000) * kMs;
  }
  return request;
}

// What the last window of a run looks like.
struct Window {
  std::vector<Nanoseconds> had, longest;  // by client: of the scheduler's count; its longest slice
  Nanoseconds uncovered = 0;              // without a slice
  std::vector<Nanoseconds> late;          // it did not ask, and what this costs
  Nanoseconds overused = 0;
  std::vector<unsigned> tokens;
};

// How long the token that was out when this one was asked for still kept it waiting.
Nanoseconds LostBefore(const TenantResult& result, const TokenRecord& token) {
  auto out = std::lower_bound(
      result.tokens.begin(), result.tokens.end(), token.token.requested,
      [](const TokenRecord& record, Nanoseconds time) { return record.token.granted < time; });
  if (out == result.tokens.begin()) return 0;
  --out;
  const Nanoseconds end = std::min(out->end, out->token.expiry());
  return std::max<Nanoseconds>(0, end - token.token.requested);
}

Window LastWindow(const TenantRequest& request, const TenantResult& result) {
  const ShareSample& last = result.samples.back();
  Window window;
  window.had = last.allocated;
  window.longest.resize(last.allocated.size());
  window.tokens.resize(last.allocated.size());
  const Nanoseconds from = last.time - request.settings.window;
  window.late.resize(last.allocated.size());
  std::vector<Nanoseconds> valid(last.allocated.size());  // until when its last token was
  Nanoseconds covered = from;
  for (const TokenRecord& token : result.tokens) {
    const std::size_t client = token.token.client;
    if (token.token.start > from && token.token.start < last.time) {
      window.late[client] +=
          LostBefore(result, token) +
          std::max<Nanoseconds>(0, token.token.requested - std::max(from, valid[client]));
    }
    valid[client] = std::min(token.end, token.token.expiry());
    if (token.end <= from || token.token.start >= last.time) continue;
    window.overused += token.overuse();
    ++window.tokens[client];
    window.longest[client] = std::max(window.longest[client], token.end - token.token.start);
    window.uncovered += std::max<Nanoseconds>(0, token.token.start - covered);
    covered = std::max(covered, token.end);
  }
  return window;
}

// Every client with demand has its request, but for two of the longest slices of each client, which
// can stand before it and leave the window together, time that no slice covers, which is nobody's
// to give, time in which it does not ask because its kernels overuse, with what is left then of
// another's slice, and half of all overuse, which is shared. The number of requests that this
// leaves something of.
unsigned CheckShares(const TenantRequest& request, const TenantResult& result,
                     const std::vector<bool>& demands) {
  const Window window = LastWindow(request, result);
  Nanoseconds bound = window.uncovered + window.overused / 2, sum = 0;
  unsigned strict = 0;
  for (const Nanoseconds longest : window.longest) bound += 2 * longest;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    sum += window.had[i];
    if (!demands[i]) continue;
    const Nanoseconds wanted = PartOf(request.settings.window, request.clients[i].request);
    EXPECT_GE(window.had[i], wanted - bound - window.late[i])
        << request.clients[i].name << ": too little";
    if (wanted > bound + window.late[i]) ++strict;
    // Without a request, or with a small one, who has the larger limit goes first for long.
    EXPECT_TRUE(window.tokens[i] > 0 || request.clients[i].request < 50'000)
        << request.clients[i].name << " starves";
  }
  EXPECT_LE(sum, request.settings.window);
  return strict;
}

// A token whose client has had a burst, so that a kernel has an estimate, expires only with kernels
// on the GPU. The number of tokens that were returned before.
unsigned CheckRevocation(const TenantResult& result) {
  std::vector<Nanoseconds> known(result.clients.size(), kNeverNs);  // end of the first burst
  for (const BurstRecord& record : result.bursts) {
    known[record.client] = std::min(known[record.client], record.burst.end);
  }
  unsigned returned = 0;
  for (const TokenRecord& record : result.tokens) {
    const Token& token = record.token;
    if (record.reason == TokenEnd::kKernelEnd) ++returned;
    if (record.reason != TokenEnd::kExpired || token.expiry() == result.time) continue;
    EXPECT_TRUE(record.overuse() > 0 || known[token.client] >= token.expiry())
        << "client " << token.client << " keeps an idle token until " << token.expiry();
  }
  return returned;
}

TEST(GeminiProperties, TenThousandSetsOfClients) {
  const std::uint64_t first = GetTestOptions().seed;
  unsigned strict = 0, returned = 0;
  for (std::uint64_t seed = first; seed < first + 10'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::vector<bool> demands;
    const TenantRequest request = RandomClients(seed, &demands);
    const TenantResult result = RunChecked(request);
    strict += CheckShares(request, result, demands);
    returned += CheckRevocation(result);
    if (testing::Test::HasFailure()) return;
  }
  std::cout << strict << " requests are larger than the bound, " << returned
            << " tokens were returned at the end of a kernel\n";
  EXPECT_GT(strict, 5000u);
  EXPECT_GT(returned, 100'000u);
}

// A run of two clients, the first limited to 40 %.
TenantRequest Limited() {
  TenantRequest request;
  request.settings.window = kSecond;
  request.duration = 5 * kSecond;
  request.clients = {Client("a", 200'000, 400'000, {Kernels(20, kMs, kMs), Sync()}),
                     Client("b", 200'000, kWhole, {Kernels(20, kMs, kMs), Sync(), Host(90 * kMs)})};
  return request;
}

// What the checker says of a result that was changed, or of one by other rules.
std::string Finding(const TenantRequest& request, const TenantResult& result) {
  try {
    CheckTenantResult(request, result);
  } catch (const CheckFailure& failure) {
    return failure.what();
  }
  return "";
}

TEST(GeminiChecker, FindsASchedulerThatKeepsNoLimit) {
  TenantRequest request = Limited();
  request.clients[0].limit = kWhole;
  const TenantResult result = RunTenants(request);
  EXPECT_EQ(Finding(request, result), "");
  EXPECT_THAT(Finding(Limited(), result), HasSubstr("a has more than its limit"));
}

TEST(GeminiChecker, FindsEachPlantedFault) {
  const TenantRequest request = Limited();
  const TenantResult good = RunTenants(request);
  ASSERT_EQ(Finding(request, good), "");
  const auto with = [&](const std::function<void(TenantResult*)>& fault) {
    TenantResult bad = good;
    fault(&bad);
    return Finding(request, bad);
  };
  EXPECT_THAT(with([](TenantResult* r) { r->tokens[3].token.start -= 5 * kMs; }),
              HasSubstr("a token while another is valid"));
  EXPECT_THAT(with([](TenantResult* r) { r->tokens[3].token.granted -= 1; }),
              HasSubstr("did not take the delay"));
  EXPECT_THAT(with([](TenantResult* r) { r->tokens[3].token.requested += kSecond; }),
              HasSubstr("has not asked for its token"));
  EXPECT_THAT(with([](TenantResult* r) { r->tokens[3].token.quota = 1; }),
              HasSubstr("overuse of a token that was given back"));
  EXPECT_THAT(with([](TenantResult* r) { r->tokens.back().token.quota = 2 * kSecond; }),
              HasSubstr("a quota that the settings do not allow"));
  EXPECT_THAT(with([](TenantResult* r) { r->tokens[3].end = 0; }), HasSubstr("ends before"));
  EXPECT_THAT(with([](TenantResult* r) { ++r->clients[1].kernels; }),
              HasSubstr("kernels without a token"));
  EXPECT_THAT(with([](TenantResult* r) { r->clients[0].executed = 6 * kSecond; }),
              HasSubstr("longer than the run"));
  EXPECT_THAT(with([](TenantResult* r) { r->busy += 1; }), HasSubstr("not busy as long"));
  EXPECT_THAT(with([](TenantResult* r) { r->samples[2].executed[0] = 0; }), HasSubstr("shrinks"));
  EXPECT_THAT(with([](TenantResult* r) { r->samples[2].allocated[0] = kSecond; }),
              HasSubstr("more than its window"));
}

}  // namespace
}  // namespace smk::gemini
