// SPDX-License-Identifier: Apache-2.0
// Memory of clients under Gemini: limits, migration on first use, prefetch, resize.
#include <gtest/gtest.h>

#include "model/host/gemini_rig.h"

namespace smk::gemini {
namespace {

constexpr std::uint64_t kMb = 1'000'000;

// A GPU of 100 MB and a link of 1 MB per ms; two clients of 60 MB each.
TenantRequest TwoTooLarge() {
  TenantRequest request;
  request.memory.bytes = 100 * kMb;
  request.memory.bytes_per_us = 1000;
  request.memory.latency = kMs;
  request.settings.delay = 0;
  request.settings.gpu_slice = 2 * kMs;
  request.duration = 20 * kSecond;
  for (const char* name : {"a", "b"}) {
    ClientScript client =
        Client(name, 0, kWhole, {Host(100 * kMs), Kernels(10, 5 * kMs, kMs), Sync()});
    client.memory = 60 * kMb;
    request.clients.push_back(client);
  }
  return request;
}

TEST(GeminiMemory, MovesWhatIsMissingOnFirstUse) {
  TenantRequest request = TwoTooLarge();
  request.settings.control = Control::kNone;
  request.clients[0].steps = {Kernels(1, 5 * kMs), Sync(), Host(500 * kMs)};
  request.clients[1].steps = request.clients[0].steps;
  request.clients[1].start = 250 * kMs;
  request.clients[0].jobs = request.clients[1].jobs = 2;
  const TenantResult result = RunChecked(request);
  // b comes and 20 MB of a leave; a misses 20, and b then also.
  EXPECT_EQ(result.memory.transfers, 3u);
  EXPECT_EQ(result.memory.in, 40 * kMb);
  EXPECT_EQ(result.memory.out, 60 * kMb);
  EXPECT_EQ(result.memory.busy, 3 * 21 * kMs);
  EXPECT_EQ(result.clients[0].latencies[0], 505 * kMs) << "fresh memory is moved nowhere";
  EXPECT_EQ(result.clients[1].latencies[0], 526 * kMs) << "it waits until 20 MB of a have left";
  EXPECT_EQ(result.clients[0].latencies[1], 526 * kMs);
}

TEST(GeminiMemory, IsNeverMovedWhenAllFits) {
  TenantRequest request = TwoTooLarge();
  request.memory.bytes = 120 * kMb;
  EXPECT_EQ(RunChecked(request).memory.transfers, 0u);
}

std::size_t Jobs(const TenantRequest& request) {
  const TenantResult result = RunChecked(request);
  std::size_t jobs = 0;
  for (const ClientRecord& client : result.clients) jobs += client.latencies.size();
  return jobs;
}

TEST(GeminiMemory, PrefetchAndResizeHelp) {
  TenantRequest request = TwoTooLarge();
  // Three of four fit.
  for (const char* name : {"c", "d"}) {
    request.clients.push_back(request.clients[0]);
    request.clients.back().name = name;
  }
  for (ClientScript& client : request.clients) {
    client.memory = 12 * kMb;
    client.temporary = 18 * kMb;
    client.steps[0].time = 10 * kMs;  // so that they queue
  }
  const std::size_t baseline = Jobs(request);
  request.memory.prefetch = true;
  const std::size_t prefetch = Jobs(request);
  request.memory.prefetch = false;
  request.memory.resize = true;
  const std::size_t resize = Jobs(request);
  EXPECT_GT(prefetch, baseline);
  EXPECT_GT(resize, baseline);
}

TEST(GeminiMemory, AnAllocationBeyondTheLimitEndsTheClient) {
  TenantRequest request = TwoTooLarge();
  request.memory.bytes = 0;
  ClientScript& a = request.clients[0];
  a.memory_limit = 100 * kMb;
  ClientStep allocate{StepKind::kAllocate};
  allocate.bytes = 15 * kMb;
  a.steps.push_back(allocate);
  const TenantResult result = RunChecked(request);
  EXPECT_TRUE(result.clients[0].out_of_memory);
  EXPECT_EQ(result.clients[0].latencies.size(), 2u) << "60, 75, 90 and then too much";
  EXPECT_FALSE(result.clients[1].out_of_memory);
  ClientStep free{StepKind::kFree};
  free.bytes = 15 * kMb;
  a.steps.push_back(free);
  EXPECT_FALSE(RunChecked(request).clients[0].out_of_memory);
}

TEST(GeminiMemory, NoOrderOfClientsStandsStill) {
  // Any two of the five fit; each in turn has to make room.
  TenantRequest request = TwoTooLarge();
  for (const char* name : {"c", "d", "e"}) {
    request.clients.push_back(request.clients[0]);
    request.clients.back().name = name;
    request.clients.back().memory = 45 * kMb;
  }
  for (const Control control : {Control::kNone, Control::kStatic, Control::kDynamic}) {
    for (const bool prefetch : {false, true}) {
      request.settings.control = control;
      request.memory.prefetch = prefetch;
      const TenantResult result = RunChecked(request);
      for (const ClientRecord& client : result.clients) {
        EXPECT_GT(client.latencies.size(), 15u) << static_cast<int>(control) << prefetch;
      }
    }
  }
}

}  // namespace
}  // namespace smk::gemini
