// SPDX-License-Identifier: Apache-2.0
// smk serve: streams of jobs, from the file to the folder of results.
#include "sim/serve_command.h"

namespace smk {
namespace {

class Serve : public ServeCommand {
 protected:
  void SetUp() override {
    ServeCommand::SetUp();
    Write("s.toml",
          "machine = \"mini\"\ncycles = \"2M\"\nlaunches = 1\n"
          "[[job]]\nworkload = \"./tiny.toml\"\ncount = 5\ntbs = 24\n"
          "[[client]]\nname = \"late\"\nworkload = \"./other.toml\"\nrate = 100000\ncount = 3\n");
  }
};

TEST_F(Serve, ExecutesEveryJobOnce) {
  for (const char* scheduler :
       {"sequential", "in-order", "kernelet", "kernelet-opt", "kernelet-random:7", "kernel-merge",
        "kernel-merge:3", "kernel-merge:sms:1"}) {
    const auto stats = Stats(std::string("--scheduler ") + scheduler);
    EXPECT_EQ(stats["host"]["scheduler"], scheduler);
    EXPECT_EQ(stats["host"]["jobs"], 8);
    EXPECT_EQ(stats["host"]["finished"], 8);
    EXPECT_EQ(stats["cut_short"], false);
    std::uint64_t last = 0, tbs = 0;
    for (const auto& job : stats["jobs"]) {
      EXPECT_EQ(job["executions"], 1);
      last = std::max<std::uint64_t>(last, job["finish"]);
      tbs += job["tbs_completed"].get<std::uint64_t>();
    }
    EXPECT_EQ(tbs, 5u * 24 + 3 * 64);
    EXPECT_EQ(stats["host"]["makespan"], last) << "the first job arrives at cycle 0";
    EXPECT_DOUBLE_EQ(stats["host"]["throughput"], 8e6 / static_cast<double>(last));
    ASSERT_EQ(stats["clients"].size(), 2u);
    EXPECT_EQ(stats["clients"][0]["name"], "tiny");
    EXPECT_EQ(stats["clients"][1]["name"], "late");
    EXPECT_GE(stats["clients"][0]["antt"], 1.0);
    double sum = 5 * stats["clients"][0]["antt"].get<double>();
    sum += 3 * stats["clients"][1]["antt"].get<double>();
    EXPECT_NEAR(stats["antt"], sum / 8, 1e-9);
  }
}

// One after the other: no job starts before the one before it has ended.
TEST_F(Serve, SequentialSharesNothing) {
  const auto stats = Stats("--scheduler sequential");
  std::uint64_t end = 0;
  for (const auto& job : stats["jobs"]) {
    EXPECT_GE(job["start"], end);
    EXPECT_EQ(job["kernel_slot"], 0);
    end = job["finish"];
  }
  const auto shared = Stats("--scheduler in-order");
  EXPECT_LT(shared["jobs"][1]["start"], shared["jobs"][0]["finish"]);
}

TEST_F(Serve, IsTheSameAgainFromItsFolder) {
  const auto first = Stats("--policy smk --seed 3");
  const std::string jobs = Read("o/jobs.csv");
  for (const char* name : {"config.toml", "kernels.csv", "launches.csv", "manifest.json"}) {
    EXPECT_TRUE(Exists(std::string("o/") + name)) << name;
  }
  std::filesystem::rename(Path("o/stream.toml"), Path("again.toml"));
  const Outcome again = Smk("serve again.toml --out p --json");
  ASSERT_EQ(again.status, 0) << again.err;
  auto stats = nlohmann::ordered_json::parse(again.out);
  stats.erase("wall");
  stats["workload"] = first["workload"];
  EXPECT_EQ(stats, first);
  EXPECT_EQ(Read("p/jobs.csv"), jobs);
  EXPECT_EQ(Smk("report p --quiet").status, 0);
  EXPECT_EQ(Smk("run --config p/config.toml").status, 2) << "it is no run of kernels";
}

TEST_F(Serve, ControlsGiveTheSameResults) {
  const auto reference = Stats("--machine gtx980");
  for (const char* control : {"rtl", "compiled", "lockstep", "lockstep-compiled"}) {
    auto stats = Stats(std::string("--machine gtx980 --control ") + control);
    EXPECT_EQ(stats["control"], control);
    if (stats.contains("lockstep")) {
      EXPECT_GT(stats["lockstep"]["events"], 1000);
      EXPECT_EQ(stats["lockstep"]["mismatches"], 0);
      stats.erase("lockstep");
    }
    stats["control"] = "reference";
    EXPECT_EQ(stats, reference) << control;
  }
}

// How many groups each pair has is in the folder; what cannot be merged is refused before the run.
TEST_F(Serve, KernelMergeSaysItsGroups) {
  Stats("--scheduler kernel-merge");
  const std::string pairs = Read("o/kernel_merge.csv");
  EXPECT_EQ(pairs.rfind("kernel_a,kernel_b,threads,registers,shared_memory,groups\n", 0), 0u);
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), '\n'), 1 + 2 + 3) << "alone, and in pairs";
  TestFile barrier;
  barrier.threads = "threads = 32";
  barrier.program = "barrier\n";
  Write("barrier.toml", barrier.Text());
  Write("b.toml",
        "machine = \"mini\"\n[[job]]\nworkload = \"./barrier.toml\"\n[[job]]\n"
        "workload = \"./tiny.toml\"\n");
  Refuses("b.toml --scheduler kernel-merge", "has barriers and 32 threads");
  Refuses("s.toml --scheduler kernel-merge:999", "expected 1 to ");
  Refuses("s.toml --scheduler kernel-merge:sms:99", "SMs: expected 1 to ");
  Refuses("s.toml --scheduler kernel-merge:0", "--scheduler kernel-merge");
  Refuses("s.toml --scheduler kernel-merge:x", "--scheduler kernel-merge");
}

// Profiles are in the folder, are kept, and are the same from the cache.
TEST_F(Serve, KerneletProfilesKernelsOnce) {
  const auto first = Stats("--scheduler kernelet");
  EXPECT_GT(first["host"]["finished"], 0);
  const std::string profiles = Read("o/kernelet.csv"), pairs = Read("o/kernelet_pairs.csv");
  EXPECT_EQ(profiles.rfind("workload,kernel,tbs,cycles,ipc,", 0), 0u) << profiles;
  EXPECT_EQ(std::count(profiles.begin(), profiles.end(), '\n'), 3) << profiles;
  EXPECT_NE(profiles.find("\ntiny,"), std::string::npos) << profiles;
  EXPECT_NE(profiles.find("\nother,"), std::string::npos) << profiles;
  const auto files = [&] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(Path("cache"))) {
      count += entry.path().extension() == ".json" ? 1 : 0;
    }
    return count;
  };
  const std::size_t kept = files();
  EXPECT_GT(kept, 2u + 12);
  auto again = Stats("--scheduler kernelet");
  EXPECT_EQ(again, first);
  EXPECT_EQ(files(), kept) << "nothing was measured again";
  EXPECT_EQ(Read("o/kernelet.csv"), profiles);
  EXPECT_EQ(Read("o/kernelet_pairs.csv"), pairs);
  Stats("--scheduler kernelet --no-cache");
  EXPECT_EQ(Read("o/kernelet.csv"), profiles);
}

// OPT knows pairs in every size from measurements, which are in its folder.
TEST_F(Serve, OptMeasuresEveryPair) {
  Stats("--scheduler kernelet-opt");
  const std::string pairs = Read("o/kernelet_measured.csv");
  EXPECT_EQ(pairs.rfind("workload_a,workload_b,tbs_a,tbs_b,balanced,", 0), 0u) << pairs;
  for (const char* pair : {"\ntiny,tiny,", "\ntiny,other,", "\nother,other,"}) {
    EXPECT_NE(pairs.find(pair), std::string::npos) << pair << '\n' << pairs;
  }
  Stats("--scheduler kernelet-opt --no-cache");
  EXPECT_EQ(Read("o/kernelet_measured.csv"), pairs);
  Stats("--scheduler kernelet");
  EXPECT_FALSE(Exists("o/kernelet_measured.csv")) << "of an earlier run";
}

TEST_F(Serve, CopiesComeBeforeAndAfter) {
  Write("c.toml",
        "machine = \"mini\"\ncycles = \"2M\"\nlaunches = 1\ncopy_in = \"64K\"\n"
        "copy_out = \"workload\"\n[[job]]\nworkload = \"./tiny.toml\"\ncount = 4\n");
  std::uint64_t makespans[2];
  for (const bool overlap : {true, false}) {
    const Outcome outcome = Smk(std::string("serve c.toml --force --out o") +
                                (overlap ? "" : " --no-overlap") + " --set host.copy_latency=500");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("copies 8"), std::string::npos) << outcome.out;
    const auto stats = Json("o/stats.json");
    const auto& host = stats["host"];
    EXPECT_EQ(host["copies"], 8);
    EXPECT_EQ(host["copy_in_bytes"], 4 * 65536);
    EXPECT_GT(host["copy_out_bytes"], 0);
    EXPECT_EQ(host["overlap"], overlap);
    EXPECT_EQ(host["copy_overlap"] == 0.0, !overlap);
    for (const auto& job : stats["jobs"]) {
      EXPECT_GE(job["ready"], 500 + 65536 * 1216 / 12000);
      EXPECT_GE(job["start"], job["ready"]);
    }
    makespans[overlap ? 0 : 1] = host["makespan"];
  }
  EXPECT_LT(makespans[0], makespans[1]);
  Write("big.toml", "machine = \"mini\"\n[[job]]\nworkload = \"./tiny.toml\"\ncopy_in = \"9G\"\n");
  Refuses("big.toml", "big.toml:2: job: copy_in, copy_out: expected at most the 4096 MB");
}

TEST_F(Serve, SaysWhenItWasCutShort) {
  const Outcome outcome = Smk("serve s.toml --cycles 40k");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("CUT SHORT"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("makespan - cycles"), std::string::npos) << outcome.out;
}

// A value of the file is refused where it stands, one of the command line as an option.
TEST_F(Serve, SaysWhereAValueStands) {
  const std::string job = "[[job]]\nworkload = \"vector_add\"\n";
  const std::vector<std::vector<std::string>> cases = {
      {"machine = \"x\"\n" + job, "w.toml:1: machine: expected one of", "--machine y",
       "smk: machine: expected one of"},
      {"name = \"a\\u0001\"\n" + job, "w.toml:1: name: expected UTF-8", "",
       "w.toml:1: name: expected UTF-8"},
      {"policy = \"x\"\n" + job, "w.toml:1: policy: unknown policy 'x'", "--policy y",
       "--policy: unknown policy 'y'"},
      {"seed = \"x\"\n" + job, "w.toml:1: seed: expected", "--seed y", "--seed: expected"},
      {"scheduler = \"x\"\n" + job, "w.toml:1: scheduler: expected", "--scheduler y",
       "--scheduler: expected"},
      {"device = \"replay\"\nrate_cycles = 5\n" + job, "w.toml:2: rate_cycles: expected",
       "--rate-cycles 6", "--rate-cycles: expected"},
      {"[set]\npolicy.epoch_length = 0\n" + job, "w.toml:2: set.policy.epoch_length: expected",
       "--set policy.epoch_length=x", "--set policy.epoch_length: expected"},
      {"[set]\n\"sm.l1.btes\" = 0\n" + job, "w.toml:2: set.sm.l1.btes: unknown key",
       "--set sm.l1.btes=x", "--set sm.l1.btes: unknown key"},
      {job + "[[job]]\nworkload = \"x\"\n", "w.toml:3: job.workload: x: expected", "",
       "w.toml:3: job.workload: x: expected"},
  };
  for (const auto& c : cases) {
    Write("w.toml", c[0]);
    Refuses("w.toml", c[1]);
    Refuses("w.toml " + c[2], c[3]);
  }
}

// What the command line sets is what the stream is written with, once.
TEST_F(Serve, SettingsOfTheCommandLineReplaceThoseOfTheFile) {
  Write("w.toml",
        "machine = \"mini\"\n[set]\npolicy.epoch_length = 200\n"
        "[[job]]\nworkload = \"vector_add\"\ntbs = 2\nlaunches = 1\n");
  const std::string twice = " --set policy.epoch_length=300 --set policy.epoch_length=400";
  EXPECT_EQ(Smk("serve w.toml --out o" + twice).status, 0);
  EXPECT_NE(Read("o/stream.toml").find("[set]\npolicy.epoch_length = 400\n\n"), std::string::npos)
      << Read("o/stream.toml");
  EXPECT_EQ(Smk("serve o/stream.toml --out again").status, 0);
  EXPECT_EQ(Read("again/stream.toml"), Read("o/stream.toml"));
  EXPECT_EQ(Read("again/jobs.csv"), Read("o/jobs.csv"));
}

TEST_F(Serve, RefusesWhatCannotBe) {
  Write("empty.toml", "");
  Write("big.toml", "machine = \"fermi\"\n[[job]]\nworkload = \"./large.toml\"\n");
  TestFile large;
  large.shared_memory = "shared_memory = 90000";
  Write("large.toml", large.Text());
  Write("none.toml", "[[job]]\nworkload = \"no-such\"\n");
  Write("rate.toml", "[[client]]\nname = \"a\"\nworkload = \"sgemm\"\nrate = -1\n");
  Refuses("", "spec");
  Refuses("missing.toml", "missing.toml");
  Refuses("empty.toml", "expected at least one [[job]] or [[client]]");
  Refuses("big.toml", "a TB is larger than an SM");
  Refuses("none.toml", "no-such");
  Refuses("rate.toml", "rate.toml:4: client.rate: expected jobs per second, a number above 0");
  Refuses("s.toml --scheduler kernlet", "--scheduler: expected one of");
  Refuses("s.toml --scheduler kernelet:7", "--scheduler: kernelet has no seed");
  Refuses("s.toml --scheduler kernelet-random:x", "--scheduler kernelet-random");
  Refuses("s.toml --policy isolated", "--policy isolated");
  Refuses("s.toml --set run.measure=5", "run.measure=5");
  Refuses("s.toml --until done", "no option '--until'");
}

}  // namespace
}  // namespace smk
