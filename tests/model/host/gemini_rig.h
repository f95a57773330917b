// SPDX-License-Identifier: Apache-2.0
// Clients for tests, in few words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/gemini/tenants.h"

namespace smk::gemini {

constexpr Nanoseconds kMs = kMillisecond, kUs = kMicrosecond;

inline ClientStep Host(Nanoseconds time) { return {StepKind::kHost, time}; }
inline ClientStep Kernels(std::uint32_t count, Nanoseconds time,
                          Nanoseconds launch = kMicrosecond) {
  ClientStep step{StepKind::kKernels, time};
  step.count = count;
  step.launch = launch;
  return step;
}
inline ClientStep Sync() { return {StepKind::kSync}; }

inline ClientScript Client(std::string name, std::int64_t request, std::int64_t limit,
                           std::vector<ClientStep> steps) {
  ClientScript client;
  client.name = std::move(name);
  client.request = request;
  client.limit = limit;
  client.steps = std::move(steps);
  return client;
}

// Runs it and looks at the laws.
inline TenantResult RunChecked(const TenantRequest& request) {
  TenantResult result = RunTenants(request);
  CheckTenantResult(request, result);
  return result;
}

// Mean of what the scheduler counts for a client, in millionths, over samples in (from, to].
inline std::int64_t MeanShare(const TenantResult& result, std::size_t client, Nanoseconds from,
                              Nanoseconds to) {
  Nanoseconds had = 0, window = 0;
  for (const ShareSample& sample : result.samples) {
    if (sample.time <= from || sample.time > to) continue;
    had += sample.allocated[client];
    window += sample.window;
  }
  return window == 0 ? 0 : had * 1000 / (window / 1000);
}

inline std::vector<const TokenRecord*> TokensOf(const TenantResult& result, std::size_t client) {
  std::vector<const TokenRecord*> tokens;
  for (const TokenRecord& token : result.tokens) {
    if (token.token.client == client) tokens.push_back(&token);
  }
  return tokens;
}

}  // namespace smk::gemini
