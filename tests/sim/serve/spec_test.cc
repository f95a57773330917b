// SPDX-License-Identifier: Apache-2.0
// What a stream's file may say.
#include "serve/spec.h"

#include <gmock/gmock.h>

#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Spec : public ScratchTest {
 protected:
  StreamSpec Load(const std::string& text) { return LoadStreamSpec(Write("s.toml", text)); }
  std::string Refused(const std::string& text) {
    return Refusal([&] { Load(text); });
  }
};

TEST_F(Spec, EverythingItCanSay) {
  const StreamSpec spec = Load(R"(
name = "mine"
description = "two clients"
machine = "fermi"
policy = "smk-p"
preempt = "drain"
control = "rtl"
scheduler = "sequential"
cycles = "2M"
seed = 7
scale = 0.5
launches = 1
overlap = false
copy_in = "workload"
[set]
memory.xbar_latency = 8
policy.epoch_length = 500
[[job]]
workload = "sgemm"
client = "alice"
arrival = 100
tbs = 28
copy_in = 4096
copy_out = "8M"
[[client]]
name = "bob"
workload = "lbm"
rate = 2.5
count = 3
launches = 4
)");
  EXPECT_EQ(spec.name, "mine");
  EXPECT_EQ(spec.machine, "fermi");
  EXPECT_EQ(spec.policy, "smk-p");
  EXPECT_EQ(spec.preempt, "drain");
  EXPECT_EQ(spec.control, "rtl");
  EXPECT_EQ(spec.scheduler, "sequential");
  EXPECT_EQ(spec.cycles, "2M");
  EXPECT_EQ(spec.seed, "7");
  EXPECT_THAT(spec.sets, ElementsAre("memory.xbar_latency=8", "policy.epoch_length=500"));
  ASSERT_EQ(spec.entries.size(), 2u);
  const StreamEntry &job = spec.entries[0], &client = spec.entries[1];
  EXPECT_EQ(job.workload, "sgemm");
  EXPECT_EQ(job.client, "alice");
  EXPECT_EQ(job.arrival, 100u);
  EXPECT_EQ(job.count, 1u);
  EXPECT_FALSE(job.rate);
  EXPECT_EQ(job.size.tbs, 28u);
  EXPECT_FALSE(job.size.scale) << "its own tbs stand for the scale of all";
  EXPECT_EQ(job.size.launches, 1u);
  EXPECT_FALSE(spec.overlap);
  EXPECT_EQ(job.size.copy_in, 4096u);
  EXPECT_EQ(job.size.copy_out, 8u << 20);
  EXPECT_EQ(client.size.copy_in, kOfWorkload);
  EXPECT_FALSE(client.size.copy_out);
  EXPECT_EQ(client.client, "bob");
  EXPECT_EQ(client.rate, 2.5);
  EXPECT_EQ(client.count, 3u);
  EXPECT_EQ(client.size.scale, 0.5);
  EXPECT_EQ(client.size.launches, 4u);
}

TEST_F(Spec, LeavesOpenWhatItDoesNotSay) {
  const StreamSpec spec = Load("[[job]]\nworkload = \"a\"\n");
  EXPECT_EQ(spec.name, "s");
  EXPECT_FALSE(spec.machine || spec.policy || spec.control || spec.scheduler || spec.cycles);
  EXPECT_FALSE(spec.entries[0].size.scale || spec.entries[0].size.tbs);
  EXPECT_EQ(spec.entries[0].client, "");
}

TEST_F(Spec, RefusesWhatCannotBe) {
  const std::string job = "[[job]]\nworkload = \"a\"\n";
  const std::string client = "[[client]]\nname = \"c\"\nworkload = \"a\"\n";
  EXPECT_THAT(Refused(""), HasSubstr("s.toml:1: expected at least one [[job]] or [[client]]"));
  EXPECT_THAT(Refused("name = \"x\"\nseed = 3\n"), HasSubstr("expected at least one [[job]]"));
  EXPECT_THAT(Refused("job = []\n"), HasSubstr("job: expected tables [[job]]"));
  EXPECT_THAT(Refused("job = [3]\n"), HasSubstr("expected tables [[job]]"));
  EXPECT_THAT(Refused("[[job]]\narrival = 3\n"), HasSubstr("job.workload: expected"));
  EXPECT_THAT(Refused("[[job]]\nworkload = 3\n"), HasSubstr("job.workload: expected"));
  EXPECT_THAT(Refused("[[client]]\nworkload = \"a\"\n"), HasSubstr("client.name: expected"));
  EXPECT_THAT(Refused(job + "arrival = -1\n"), HasSubstr("s.toml:3: job.arrival: expected"));
  EXPECT_THAT(Refused(job + "count = 0\n"), HasSubstr("job.count: expected a whole number from 1"));
  EXPECT_THAT(Refused(job + "rate = 2\n"), HasSubstr("rate")) << "of clients only";
  for (const char* rate : {"-2", "0", "-0.5", "inf", "nan", "\"2\"", "1e13"}) {
    EXPECT_THAT(Refused(client + "rate = " + rate + "\n"),
                HasSubstr("client.rate: expected jobs per second, a number above 0"))
        << rate;
  }
  for (const char* scale : {"-1", "0", "1.5", "nan", "\"1\""}) {
    EXPECT_THAT(Refused(job + "scale = " + scale + "\n"), HasSubstr("job.scale: expected a part"))
        << scale;
  }
  EXPECT_THAT(Refused(job + "tbs = 0\n"), HasSubstr("job.tbs: expected"));
  EXPECT_THAT(Refused(job + "launches = 0\n"), HasSubstr("job.launches: expected"));
  EXPECT_THAT(Refused(job + "tbs = 2\nscale = 0.5\n"), HasSubstr("one of scale and tbs"));
  for (const char* bytes : {"-1", "1.5", "\"8T\"", "\"\"", "\"M\"", "\"1.5M\"", "\"-1\"",
                            "\"9999999999999\"", "\"9999999999G\"", "[]", "true"}) {
    EXPECT_THAT(Refused(job + "copy_in = " + bytes + "\n"),
                HasSubstr("job.copy_in: expected bytes"))
        << bytes;
  }
  EXPECT_THAT(Refused("overlap = 1\n" + job), HasSubstr("overlap: expected true or false"));
  EXPECT_EQ(Refused(job + "arival = 2\n"),
            Path("s.toml") +
                ":3: job.arival: expected one of the keys arrival, client, copy_in, copy_out, "
                "count, launches, scale, tbs, workload; did you mean 'arrival'?");
  EXPECT_EQ(
      Refused("machines = \"x\"\n" + job),
      Path("s.toml") +
          ":1: machines: expected one of the keys client, control, copy_in, copy_out, "
          "cycles, description, device, job, launches, machine, name, overlap, policy, "
          "preempt, rate_cycles, rate_warm_up, scale, scheduler, seed, set, tbs; did you mean "
          "'machine'?");
  EXPECT_THAT(Refused("x = 1\n"), HasSubstr("s.toml:1: x: expected one of the keys client, "));
  EXPECT_THAT(Refused("set = 3\n" + job), HasSubstr("set: expected a table"));
  EXPECT_THAT(Refused("seed = 1.5\n" + job), HasSubstr("seed: expected"));
  EXPECT_THAT(Refused("name = \"\"\n" + job), HasSubstr("name: expected a name"));
  EXPECT_THAT(Refused("[[job]\n"), HasSubstr("s.toml:1: expected TOML"));
  EXPECT_THAT(Refusal([&] { LoadStreamSpec(Path("none.toml")); }), HasSubstr("none.toml"));
}

}  // namespace
}  // namespace smk::sim
