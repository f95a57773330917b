// SPDX-License-Identifier: Apache-2.0
// smk serve of clients with scripts, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/command.h"

namespace smk {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kTwo[] = R"(
duration = "5s"
[[client]]
name = "a"
request = 0.3
limit = 0.5
[[client.step]]
kernel = "1ms"
count = 20
launch = "1ms"
[[client.step]]
sync = true
[[client]]
name = "b"
rate = 10
poisson = true
[[client.step]]
kernel = "1ms"
count = 30
launch = "1ms"
[[client.step]]
sync = true
)";

class Tenants : public CommandTest {
 protected:
  Outcome Serve(const std::string& text, const std::string& options) {
    Write("s.toml", text);
    return Smk("serve s.toml " + options);
  }
};

TEST_F(Tenants, WritesEverythingAndTheSameAgain) {
  const Outcome first = Serve(kTwo, "--timeline --out " + Path("one"));
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("PASS"));
  for (const char* name : {"manifest.json", "config.toml", "stats.json", "tokens.csv", "bursts.csv",
                           "shares.csv", "shares.svg", "timeline.json.gz"}) {
    EXPECT_TRUE(Exists(std::string("one/") + name)) << name;
  }
  // config.toml makes the same run again.
  ASSERT_EQ(Smk("serve " + Path("one/config.toml") + " --out " + Path("two")).status, 0);
  for (const char* name : {"config.toml", "tokens.csv", "bursts.csv", "shares.csv", "shares.svg"}) {
    EXPECT_EQ(Read(std::string("one/") + name), Read(std::string("two/") + name)) << name;
  }
  const json stats = json::parse(Read("one/stats.json"));
  EXPECT_EQ(stats["kind"], "clients");
  EXPECT_EQ(stats["time_ns"], 5'000'000'000);
  EXPECT_NEAR(stats["clients"][0]["share"].get<double>(), 0.5, 0.03) << "its limit";
  const json manifest = json::parse(Read("one/manifest.json"));
  EXPECT_EQ(manifest["status"], "PASS");
  EXPECT_EQ(manifest["outputs"].size(), 7u) << "all but the manifest itself";
}

TEST_F(Tenants, EverySchedulerThatTakesThem) {
  for (const char* scheduler : {"gemini", "static-quota", "static-quota:40", "none"}) {
    const Outcome out = Serve(kTwo, std::string("--json --scheduler ") + scheduler);
    ASSERT_EQ(out.status, 0) << out.err;
    const json stats = json::parse(out.out);
    EXPECT_EQ(stats["scheduler"], scheduler);
    EXPECT_EQ(stats["clients"][0]["tokens"] == 0, std::string(scheduler) == "none");
    if (std::string(scheduler) == "static-quota:40") {
      EXPECT_EQ(stats["clients"][0]["mean_quota_ns"], 40'000'000);
    }
  }
}

TEST_F(Tenants, KernelsOfAWorkloadAreMeasured) {
  const Outcome out = Serve(R"(
duration = "1s"
[[client]]
name = "a"
jobs = 10
[[client.step]]
workload = "sgemm"
tbs = 80
[[client.step]]
sync = true
)",
                            "--scheduler none --json --out " + Path("run"));
  ASSERT_EQ(out.status, 0) << out.err;
  const json stats = json::parse(out.out);
  Write("alone.toml",
        "machine = \"v100\"\n[[job]]\nworkload = \"sgemm\"\ntbs = 80\nlaunches = 1\n");
  const json alone = json::parse(Smk("serve alone.toml --json").out);
  const double ns = alone["host"]["makespan"].get<double>() * 1000 / 1530;
  EXPECT_NEAR(stats["clients"][0]["kernel_ns"].get<double>() / 10, ns, 0.01 * ns);
  EXPECT_THAT(Read("run/config.toml"), HasSubstr("workload = 'sgemm'"));
}

TEST_F(Tenants, KernelsHaveTheTimeOfTheirSmallerGrids) {
  constexpr char kOne[] =
      "[[client]]\nname = \"a\"\njobs = 1\n[[client.step]]\nworkload = \"sgemm\"\n";
  const auto time = [&](const std::string& options) {
    const Outcome out = Serve(kOne, "--machine mini --scheduler none --json " + options);
    EXPECT_EQ(out.status, 0) << out.err;
    return json::parse(out.out)["clients"][0]["kernel_ns"].get<double>();
  };
  const double sixteenth = time("--set run.grid_divisor=16");
  EXPECT_LT(time("--set run.grid_divisor=64"), 0.6 * sixteenth);
}

// Two clients whose kernels are workloads, on the small machine; a message takes 5 us.
constexpr char kOnDevice[] = R"(
machine = "mini"
duration = "700us"
[gemini]
window = "862us"
quota = "50us"
delay = "5us"
[[client]]
name = "a"
request = 0.3
[[client.step]]
workload = "tea"
tbs = 64
[[client.step]]
sync = true
[[client]]
name = "b"
request = 0.6
limit = 0.9
[[client.step]]
host = "20us"
[[client.step]]
workload = "stencil"
tbs = 4
[[client.step]]
sync = true
)";

TEST_F(Tenants, ADeviceHasTheSharesOfTheRunOfTimes) {
  const json times = json::parse(Serve(kOnDevice, "--scheduler static-quota --json").out);
  for (const char* device : {"cycle", "replay"}) {
    const Outcome out =
        Serve(kOnDevice, std::string("--scheduler static-quota --json --device ") + device);
    ASSERT_EQ(out.status, 0) << out.err;
    const json stats = json::parse(out.out);
    EXPECT_EQ(stats["device"], device);
    EXPECT_EQ(stats["policy"], "leftover");
    EXPECT_NEAR(stats["utilisation"].get<double>(), times["utilisation"].get<double>(), 0.03);
    for (std::size_t i = 0; i < 2; ++i) {
      const json& client = stats["clients"][i];
      EXPECT_NEAR(client["share"].get<double>(), times["clients"][i]["share"].get<double>(), 0.03)
          << device << ", " << client["name"];
      EXPECT_GT(client["max_overuse_ns"], 10'000) << "software waits for a kernel's end";
      // Messages there and back, and the other's kernel; of instructions, replay knows whole TBs.
      if (std::string(device) == "cycle") {
        EXPECT_NEAR(client["work"].get<double>(), client["share"].get<double>(), 0.03);
        EXPECT_GE(client["gpu_wait_ns"]["max"], 10'000);
      }
    }
  }
}

TEST_F(Tenants, TokensOfTheHardwareHaveTheClientsRequests) {
  const std::string options =
      "--scheduler none --policy tokens --set policy.token_quota=36480 --device cycle ";
  const Outcome out = Serve(kOnDevice, options + "--out " + Path("one"));
  ASSERT_EQ(out.status, 0) << out.err;
  const json stats = json::parse(Read("one/stats.json"));
  EXPECT_EQ(stats["policy"], "tokens");
  for (const json& client : stats["clients"]) {
    EXPECT_GT(client["tokens"], 2);
    EXPECT_EQ(client["mean_quota_ns"], 30'000);
    EXPECT_LT(client["max_overuse_ns"], 50'000) << "the time to save an SM, not a kernel";
  }
  // The requests are the file's: a limit below the second one is refused.
  const Outcome other =
      Serve(kOnDevice, options + "--json --set policy.token_limit=1024,102 --quiet");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("token_limit")) << "below the request of 0.6";
  // config.toml makes the same run again, device, policy and settings included.
  ASSERT_EQ(Smk("serve " + Path("one/config.toml") + " --out " + Path("two")).status, 0);
  EXPECT_EQ(Read("one/config.toml"), Read("two/config.toml"));
  json again = json::parse(Read("two/stats.json")), first = stats;
  again.erase("wall");
  first.erase("wall");
  EXPECT_EQ(again, first);
}

TEST_F(Tenants, ControlPlanesGiveTheSameOnADevice) {
  const std::string options =
      "--machine gtx980 --device cycle --scheduler none --policy tokens "
      "--set policy.token_quota=10000 --json --control ";
  std::string spec = kOnDevice;
  const std::string duration = "700us";
  spec.replace(spec.find(duration), duration.size(), "100us");
  json reference;
  for (const char* control : {"reference", "rtl", "compiled", "lockstep"}) {
    const Outcome out = Serve(spec, options + control);
    ASSERT_EQ(out.status, 0) << control << ": " << out.err;
    json stats = json::parse(out.out);
    stats.erase("wall");
    if (reference.is_null()) reference = stats;
    EXPECT_EQ(stats, reference) << control;
    EXPECT_GT(stats["clients"][1]["tokens"], 1) << control;
  }
}

// Shares that are less than a nanosecond, and seeds that TOML has no number for.
TEST_F(Tenants, EndsOfRanges) {
  const std::string client = "[[client]]\nname = \"a\"\n",
                    job = "[[client.step]]\nkernel = \"1ms\"\n";
  const Outcome small = Serve(
      "duration = \"1s\"\n[gemini]\nwindow = \"862us\"\n" + client + "limit = 0.000001\n" + job,
      "");
  EXPECT_EQ(small.status, 0) << small.out << small.err;
  const Outcome seed = Serve(kTwo, "--seed 18446744073709551615 --json --out " + Path("seed"));
  ASSERT_EQ(seed.status, 0) << seed.err;
  const Outcome again = Smk("serve " + Path("seed/config.toml") + " --json");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["clients"], json::parse(seed.out)["clients"]);
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"duration = \"1s\"\n" + client + "start = \"2s\"\nrate = 10\n" + job,
       "s.toml:2: client a: start: expected a time before the end of the run"},
      {client + "jobs = 20\nrate = 1e-12\n" + job, "client a: rate: expected 20 jobs within"},
      {client + "jobs = 20\n[[client.step]]\nkernel = \"1000000s\"\ncount = 1000\n",
       "s.toml:3: client.jobs: expected at most 100000000 s of host and kernels"},
      {"machine = \"mini\"\nduration = \"20us\"\ndevice = \"cycle\"\npolicy = \"tokens\"\n" +
           client + "count = 300\n[[client.step]]\nworkload = \"sgemm\"\ntbs = 1\n",
       "client: expected at most 4 on a device"},
  };
  for (const auto& [text, message] : refused) {
    const Outcome out = Serve(text, "--scheduler none");
    EXPECT_EQ(out.status, 2) << text << out.out;
    EXPECT_THAT(out.err, HasSubstr(message));
  }
}

TEST_F(Tenants, RefusesWhatADeviceCannotDo) {
  const std::vector<std::vector<std::string>> cases = {
      {kTwo, "--device cycle", "client a: kernel: has no thread blocks"},
      {kTwo, "--device disk", "--device: expected cycle or replay"},
      {kOnDevice, "--device cycle --policy isolated", "--policy isolated"},
      {kOnDevice, "--device cycle --cycles 5", "expected a duration in the file"},
      {std::string(kOnDevice) + "[[client.step]]\nallocate = 5\n", "--device cycle",
       "client b: step: a device does not have memory"},
  };
  for (const auto& c : cases) {
    const Outcome out = Serve(c[0], c[1]);
    EXPECT_EQ(out.status, 2) << c[2];
    EXPECT_THAT(out.err, HasSubstr(c[2]));
    EXPECT_EQ(std::count(out.err.begin(), out.err.end(), '\n'), 1) << out.err;
  }
}

TEST_F(Tenants, RefusesInOneLineWithStatusTwo) {
  const std::string over = std::string(kTwo) +
                           "[[client]]\nname = \"c\"\nrequest = 0.8\n"
                           "[[client.step]]\nkernel = \"1ms\"\n";
  const std::string large = std::string(kTwo) +
                            "[[client]]\nname = \"c\"\nmemory = \"17G\"\n"
                            "[[client.step]]\nkernel = \"1ms\"\n";
  const std::vector<std::vector<std::string>> cases = {
      {over, "",
       "s.toml:3: client: request: expected at most 100 % of the GPU for all together, got 110.00 "
       "%"},
      {large, "", ": client c: memory: expected at most the 17179869184 bytes of the GPU"},
      {kTwo, "--scheduler kernelet", "--scheduler kernelet: launches jobs of streams"},
      {kTwo, "--scheduler static-quota:x", "static-quota"},
      {kTwo, "--scheduler sequential", "clients run one after the other"},
      {kTwo, "--policy smk", "--policy smk: clients with scripts"},
      {kTwo, "--no-overlap", "--no-overlap"},
      {kTwo, "--timeline", "--timeline: needs --out DIR"},
      {kTwo, "--set run.warm_up=1000", "clients with scripts are measured from the first cycle"},
      {kTwo, "--set run.measure=1000", "--set run.measure=1000: clients with scripts"},
      {"[[job]]\nworkload = \"sgemm\"\n", "--scheduler gemini", "is for clients with scripts"},
      {"sample = \"1us\"\n[[client]]\nname = \"a\"\nstop = \"2h\"\n[[client.step]]\nhost = "
       "\"1s\"\n",
       "", "s.toml:1: sample: expected at most 1000000 samples until the run ends"},
  };
  for (const auto& c : cases) {
    const Outcome out = Serve(c[0], c[1]);
    EXPECT_EQ(out.status, 2) << c[2];
    EXPECT_THAT(out.err, HasSubstr(c[2]));
    EXPECT_EQ(std::count(out.err.begin(), out.err.end(), '\n'), 1) << out.err;
  }
}

}  // namespace
}  // namespace smk
