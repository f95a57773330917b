// SPDX-License-Identifier: Apache-2.0
// What a file of clients with scripts may say, what it makes, and what is refused.
#include "serve/tenant_spec.h"

#include <gmock/gmock.h>

#include "serve/tenant_serve.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using gemini::kMillisecond;
using gemini::kSecond;
using testing::HasSubstr;

constexpr char kClient[] = "[[client]]\nname = \"a\"\n";
constexpr char kSteps[] = "[[client.step]]\nkernel = \"2ms\"\n[[client.step]]\nsync = true\n";

class TenantSpecFile : public ScratchTest {
 protected:
  TenantSpec Load(const std::string& text) { return LoadTenantSpec(Write("s.toml", text)); }
  std::string Refused(const std::string& text) {
    return Refusal([&] { Load(text); });
  }
};

TEST_F(TenantSpecFile, TimesAreExact) {
  EXPECT_EQ(ParseTime("40ms"), 40 * kMillisecond);
  EXPECT_EQ(ParseTime("1.5s"), 1500 * kMillisecond);
  EXPECT_EQ(ParseTime("0.0911us"), -1) << "below a nanosecond";
  EXPECT_EQ(ParseTime("0.091us"), 91);
  EXPECT_EQ(ParseTime("2min"), 120 * kSecond);
  EXPECT_EQ(ParseTime("1h"), 3600 * kSecond);
  for (const char* bad : {"", "5", "ms", "-5ms", "5 ms", "1.s", "1.2.3s", "5m", "1e3s",
                          "99999999999999ms", "999999999999h"}) {
    EXPECT_EQ(ParseTime(bad), -1) << bad;
  }
}

TEST_F(TenantSpecFile, EverythingItCanSay) {
  const TenantSpec spec = Load(R"(
name = "mine"
description = "all keys"
machine = "v100"
scheduler = "none"
seed = 3
duration = "10s"
sample = "500ms"
[gemini]
alpha = 0.25
gamma = "3ms"
bursts = 7
revocation = false
[memory]
size = "1G"
prefetch = true
[[client]]
name = "a"
count = 2
request = 0.2
limit = 0.4
start = "1s"
stop = "9s"
rate = 20
poisson = true
on = "2s"
off = "1s"
memory_limit = "600M"
memory = "100M"
temporary = "200M"
[[client.step]]
host = "5ms"
[[client.step]]
kernel = "40ms"
count = 3
launch = "10us"
variation = 0.1
[[client.step]]
workload = "sgemm"
scale = 0.5
[[client.step]]
sync = true
[[client.step]]
allocate = "8M"
[[client.step]]
free = 8388608
)");
  EXPECT_EQ(spec.request.settings.alpha, 250'000);
  EXPECT_EQ(spec.request.settings.gamma, 3 * kMillisecond);
  EXPECT_EQ(spec.request.settings.bursts, 7u);
  EXPECT_FALSE(spec.request.settings.revocation);
  EXPECT_EQ(spec.request.memory.bytes, 1u << 30);
  ASSERT_EQ(spec.request.clients.size(), 2u);
  const gemini::ClientScript& client = spec.request.clients[1];
  EXPECT_EQ(client.name, "a-2");
  EXPECT_EQ(client.request, 200'000);
  EXPECT_EQ(client.stop, 9 * kSecond);
  ASSERT_EQ(client.steps.size(), 6u);
  EXPECT_EQ(client.steps[1].count, 3u);
  EXPECT_EQ(client.steps[1].variation, 100'000);
  EXPECT_EQ(client.steps[5].bytes, client.steps[4].bytes);
  ASSERT_EQ(spec.kernels.size(), 2u) << "one of each client";
  EXPECT_EQ(spec.kernels[1].workload, "sgemm");
  EXPECT_EQ(spec.arrivals[0].on, 2 * kSecond);
}

TEST_F(TenantSpecFile, IsKnownByItsSteps) {
  EXPECT_TRUE(IsTenantSpec(Write("a.toml", std::string(kClient) + kSteps)));
  EXPECT_FALSE(IsTenantSpec(Write("b.toml", std::string(kClient) + "workload = \"sgemm\"\n")));
  EXPECT_FALSE(IsTenantSpec(Path("none.toml")));
}

TEST_F(TenantSpecFile, RefusesInOneLine) {
  const std::string client = kClient, steps = kSteps;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {client + steps + "colour = 1\n", "client.step.colour"},
      {client + "colour = 1\n" + steps, "client.colour"},
      {"colour = 1\n" + client + steps, "colour"},
      {"[gemini]\ndelta = 1\n" + client + steps, "gemini.delta"},
      {"[gemini]\nalpha = 1.5\n" + client + steps, "gemini.alpha: expected a number from 0 to 1"},
      {"[gemini]\nwindow = \"0s\"\n" + client + steps, "gemini.window: expected a time above 0"},
      {"[gemini]\nwindow = 5\n" + client + steps, "gemini.window: expected a time such as"},
      {client + "rate = -2\n" + steps, "client.rate: expected jobs per second, a number above 0"},
      {client + "rate = 0\n" + steps, "client.rate: expected jobs per second"},
      {client + "poisson = true\n" + steps, "client.poisson: expected rate beside it"},
      {client + "rate = 1\non = \"1s\"\n" + steps, "client.on: expected on and off"},
      {client + "request = -0.1\n" + steps, "client.request: expected a number from 0 to 1"},
      {client + "start = \"2s\"\nstop = \"1s\"\n" + steps, "client.stop: expected a time after"},
      {client, "step"},
      {client + "step = []\n", "client.step: expected tables [[client.step]]"},
      {client + "[[client.step]]\n", "expected one of host, kernel"},
      {client + "[[client.step]]\nhost = \"1s\"\nsync = true\n", "expected one of host, kernel"},
      {client + "[[client.step]]\nsync = false\n", "client.step.sync: expected true"},
      {client + "[[client.step]]\nkernel = \"0ms\"\n", "client.step.kernel: expected a time above"},
      {client + "[[client.step]]\nkernel = \"1ms\"\nlaunch = \"0ms\"\n", "launch: expected a time"},
      {client + steps + client + steps, "client.name: expected a name of its own, got 'a' twice"},
      {"duration = \"0s\"\n" + client + steps, "duration: expected a time above 0"},
      {"duration = \"5s\"\n", "client"},
      {"duration = \"1s\"\nsample = \"1ns\"\n" + client + steps,
       "s.toml:2: sample: expected at most 1000000 samples in the duration, got 1000000000"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string refused = Refused(text);
    EXPECT_THAT(refused, HasSubstr(expected)) << text;
    EXPECT_EQ(refused.find('\n'), std::string::npos) << refused;
    EXPECT_THAT(refused, HasSubstr("s.toml:")) << text;
  }
}

}  // namespace
}  // namespace smk::sim
