// SPDX-License-Identifier: Apache-2.0
// Clients with scripts on a device of cycles: by hand, and beside the run of times, which knows
// nothing of the host seam. The device is the replay with rates by hand, at 1,000 MHz.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "host/gemini/device_tenants.h"
#include "model/host/gemini_rig.h"
#include "model/replay/rig.h"
#include "workload/random.h"

namespace smk::gemini {
namespace {

using testing::HasSubstr;

// What one kernel of a client takes beyond its time: the host sees its end, then launches.
constexpr Nanoseconds kSeen = 2;

class GeminiDevice : public testing::Test, protected ReplayRig {
 protected:
  GeminiDevice() {
    request.machine.launch_latency = 0;
    request.until = RunUntil::kCycles;
    request.record_tbs = true;
    tenants.settings.control = Control::kStatic;
    tenants.settings.revocation = false;
    tenants.settings.quota = 50 * kUs;
    tenants.settings.window = kMs;
    tenants.settings.delay = kUs;
    tenants.settings.gpu_slice = kSecond;
    tenants.duration = kMs;
    tenants.sample = 100 * kUs;
  }

  // Its kernels are of that time: 40 TBs, all placed at once.
  void Client(const std::string& name, std::int64_t share, Nanoseconds kernel, Nanoseconds host,
              std::uint32_t count = 1) {
    rates.alone[name] = {40.0 / static_cast<double>(kernel), 0, 0, 40};
    Add(name, 40, 8, count).repeat = true;
    std::vector<ClientStep> steps;
    if (host != 0) steps.push_back(Host(host));
    steps.push_back(Kernels(count, kernel));
    steps.push_back(Sync());
    tenants.clients.push_back(gemini::Client(name, share, kWhole, steps));
  }

  TenantResult OnDevice() {
    request.cycles = static_cast<Cycle>(tenants.duration);
    const auto device = std::make_shared<DeviceTenants>(tenants, request.machine.core_clock_mhz);
    request.scheduler = [device] { return DeviceTenants::Speak(device); };
    run = Execute();
    TenantResult result = device->Finish(run.cycles);
    CheckTenantResult(tenants, result);
    return result;
  }
  // Launches of different clients that were on the GPU at the same time.
  std::size_t Together() const {
    std::size_t pairs = 0;
    for (const LaunchRecord& a : run.launches) {
      for (const LaunchRecord& b : run.launches) {
        if (a.job < b.job && a.start < b.end && b.start < a.end) ++pairs;
      }
    }
    return pairs;
  }

  TenantRequest tenants;
  RunResult run;
};

// A token of 50 us from 2 us on: the request and the token take 1 us each. Kernels of 30 us begin
// at 2 and 32; the second ends at 62, 10 us late.
TEST_F(GeminiDevice, AnExpiredTokenRunsToItsKernelsEnd) {
  Client("a", 0, 30 * kUs, 0);
  tenants.duration = 100 * kUs;
  const TenantResult result = OnDevice();
  ASSERT_GE(result.tokens.size(), 1u);
  const TokenRecord& first = result.tokens[0];
  EXPECT_EQ(first.token.start, 2 * kUs);
  EXPECT_EQ(first.kernels, 2u);
  EXPECT_EQ(first.reason, TokenEnd::kExpired);
  EXPECT_NEAR(static_cast<double>(first.overuse()), 10 * kUs, 3 * kSeen);
  ASSERT_EQ(result.tokens.size(), 2u);
  // It asks again when its kernel is done.
  EXPECT_EQ(result.tokens[1].token.start, first.end + 2 * kUs);
  EXPECT_EQ(run.launches.size(), 4u);
}

// The second client's token comes when the first one's has expired, its kernel when those of the
// first are done: 40 us later here, 30 of which are its token's.
TEST_F(GeminiDevice, WhoHasTheTokenWaitsForWhatIsOnTheGpu) {
  Client("a", 0, 90 * kUs, 0);
  Client("b", 0, 10 * kUs, 0);
  tenants.settings.quota = 50 * kUs;
  tenants.duration = 150 * kUs;
  const TenantResult result = OnDevice();
  ASSERT_GE(result.tokens.size(), 2u);
  const TokenRecord& a = result.tokens[0];
  const TokenRecord& b = result.tokens[1];
  EXPECT_EQ(a.token.client, 0u);
  EXPECT_NEAR(static_cast<double>(a.overuse()), 40 * kUs, kSeen);
  EXPECT_EQ(b.token.client, 1u);
  EXPECT_EQ(b.token.start, a.token.expiry() + 2 * kUs);
  ASSERT_GE(run.launches.size(), 2u);
  EXPECT_EQ(run.launches[1].job, JobId{1});
  EXPECT_NEAR(static_cast<double>(run.launches[1].start), static_cast<double>(a.end), kSeen);
  EXPECT_EQ(Together(), 0u);
}

// Without tokens the hardware shares; the same clients are on the GPU together.
TEST_F(GeminiDevice, WithoutTokensTheHardwareShares) {
  Client("a", 0, 40 * kUs, 0);
  Client("b", 0, 40 * kUs, 0);
  rates.together["a+b"] = {{0.0005, 20}, {0.0005, 20}};
  rates.together["b+a"] = rates.together["a+b"];
  OnDevice();
  const std::size_t tokens = Together();
  tenants.settings.control = Control::kNone;
  const TenantResult shared = OnDevice();
  EXPECT_EQ(tokens, 0u);
  EXPECT_GT(Together(), 10u);
  EXPECT_TRUE(shared.together);
  EXPECT_GT(shared.clients[0].executed + shared.clients[1].executed, shared.busy);
}

TEST_F(GeminiDevice, ARunMustBeBusyAsLongAsItsKernelsSay) {
  Client("a", 0, 40 * kUs, 0);
  TenantResult result = OnDevice();
  result.busy += 1;
  EXPECT_THROW(CheckTenantResult(tenants, result), CheckFailure);
  result.together = true;
  EXPECT_THROW(CheckTenantResult(tenants, result), CheckFailure);
  result.busy -= 2;
  EXPECT_NO_THROW(CheckTenantResult(tenants, result));
}

// A client that is taken away leaves what has not begun; what runs ends.
TEST_F(GeminiDevice, WhoLeavesTakesItsLaunchesAlong) {
  Client("a", 0, 40 * kUs, 0, /*count=*/5);
  Client("b", 0, 40 * kUs, 0);
  tenants.clients[0].stop = 60 * kUs;
  tenants.settings.quota = 100 * kUs;
  OnDevice();
  std::size_t of_a = 0;
  for (const LaunchRecord& launch : run.launches) of_a += launch.job == JobId{0} ? 1 : 0;
  EXPECT_EQ(of_a, 2u) << "one at 2 us, one at 42 us";
  EXPECT_GT(run.launches.size(), of_a + 5);
}

TEST_F(GeminiDevice, TimesAndCyclesAreEachOthersInverse) {
  Client("a", 0, 40 * kUs, 0);
  for (const double mhz : {1216.0, 1000.0, 705.5, 1830.0}) {
    const DeviceTenants device(tenants, mhz);
    for (Nanoseconds time = 0; time < 3000; ++time) {
      const Cycle cycle = device.CycleOf(time * 997);
      EXPECT_GE(device.TimeOf(cycle), time * 997);
      if (cycle != 0) {
        EXPECT_LT(device.TimeOf(cycle - 1), time * 997);
      }
    }
  }
}

TEST_F(GeminiDevice, RefusesWhatADeviceDoesNotHave) {
  const auto refusal = [&] {
    try {
      const DeviceTenants device(tenants, 1000);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Client("a", 0, 40 * kUs, 0);
  EXPECT_EQ(refusal(), "");
  tenants.clients[0].memory = 1;
  EXPECT_THAT(refusal(), HasSubstr("client a: memory"));
  tenants.clients[0].memory = 0;
  tenants.clients[0].steps[0].variation = 1;
  EXPECT_THAT(refusal(), HasSubstr("client a: variation"));
  tenants.clients[0].steps[0].variation = 0;
  for (const char* name : {"b", "c", "d", "e"}) Client(name, 0, 40 * kUs, 0);
  EXPECT_THAT(refusal(), HasSubstr("expected at most 4 on a device"));
}

// Each client has the GPU for as long as in the run of times, whatever the clients are: within 3 %
// of the run, as one kernel at its end may be in time or not.
TEST_F(GeminiDevice, SharesAreThoseOfTheRunOfTimes) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::uint64_t draws = 0;
    const auto draw = [&](std::uint64_t most) {
      return static_cast<std::int64_t>(ScrambleBits(seed * 1000 + ++draws) % most);
    };
    request.jobs.clear();
    tenants.clients.clear();
    tenants.settings.control = draw(2) == 0 ? Control::kStatic : Control::kDynamic;
    tenants.settings.revocation = tenants.settings.control == Control::kDynamic;
    tenants.settings.quota = (20 + draw(200)) * kUs + 7;
    tenants.settings.least_quota = 20 * kUs;
    tenants.settings.base_quota = (30 + draw(100)) * kUs + 13;
    tenants.settings.gamma = draw(20) * kUs;
    tenants.settings.delay = draw(10) * kUs + 1;
    tenants.duration = 5 * kMs;
    const std::int64_t clients = 2 + draw(3);
    for (std::int64_t i = 0; i < clients; ++i) {
      Client("c" + std::to_string(i), draw(250'000), (10 + draw(100)) * kUs + draw(1000),
             draw(2) * (10 + draw(100)) * kUs, static_cast<std::uint32_t>(1 + draw(3)));
    }
    const TenantResult times = RunChecked(tenants);
    const TenantResult device = OnDevice();
    EXPECT_EQ(Together(), 0u) << "seed " << seed;
    for (std::size_t i = 0; i < tenants.clients.size(); ++i) {
      const auto expected = static_cast<double>(times.clients[i].executed);
      EXPECT_NEAR(static_cast<double>(device.clients[i].executed), expected, 0.03 * 5 * kMs)
          << "seed " << seed << ", client " << i;
    }
    EXPECT_NEAR(static_cast<double>(device.busy), static_cast<double>(times.busy), 0.01 * 5 * kMs)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace smk::gemini
