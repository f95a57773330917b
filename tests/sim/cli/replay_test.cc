// SPDX-License-Identifier: Apache-2.0
// smk serve --device replay: beside the cycle model, and what it keeps, writes and refuses.
#include <fmt/format.h>

#include <cmath>

#include "sim/serve_command.h"

namespace smk {
namespace {

class ReplayCommand : public ServeCommand {
 protected:
  void SetUp() override {
    ServeCommand::SetUp();
    Write("s.toml",
          "machine = \"mini\"\ncycles = \"2M\"\nlaunches = 1\n"
          "[[job]]\nworkload = \"./tiny.toml\"\ncount = 3\n"
          "[[client]]\nname = \"late\"\nworkload = \"./other.toml\"\nrate = 100000\ncount = 3\n"
          "copy_in = \"64K\"\n");
  }
  // Entries of the cache, and when they were written.
  std::vector<std::string> Cache() const {
    std::vector<std::string> entries;
    for (const auto& entry : std::filesystem::directory_iterator(Path("cache"))) {
      entries.push_back(fmt::format("{} {}", entry.path().filename().string(),
                                    entry.last_write_time().time_since_epoch().count()));
    }
    std::sort(entries.begin(), entries.end());
    return entries;
  }
};

// A kernel alone is what it was measured to be.
TEST_F(ReplayCommand, AJobAloneEndsWhenItDoesInTheCycleModel) {
  Write("s.toml",
        "machine = \"mini\"\nlaunches = 1\n[[job]]\nworkload = \"./tiny.toml\"\ncopy_out = 5000\n");
  const auto cycle = Stats("--device cycle"), replay = Stats("--device replay");
  EXPECT_EQ(cycle["host"]["device"], "cycle");
  EXPECT_EQ(replay["host"]["device"], "replay");
  EXPECT_NEAR(replay["host"]["makespan"].get<double>(), cycle["host"]["makespan"].get<double>(), 2);
  EXPECT_EQ(replay["warp_instructions"], cycle["warp_instructions"]);
  EXPECT_EQ(replay["jobs"][0]["tbs_completed"], cycle["jobs"][0]["tbs_completed"]);
  EXPECT_NEAR(replay["antt"].get<double>(), 1.0, 1e-3);
}

TEST_F(ReplayCommand, IsNearTheCycleModelUnderEverySchedulerAndPolicy) {
  for (const char* way : {"--scheduler sequential", "--scheduler in-order", "--scheduler kernelet",
                          "--scheduler kernelet-random:3", "--policy even", "--policy spatial",
                          "--policy smk", "--policy smk-pw"}) {
    const auto cycle = Stats(way), replay = Stats(std::string("--device replay ") + way);
    const double error =
        replay["host"]["makespan"].get<double>() / cycle["host"]["makespan"].get<double>() - 1;
    EXPECT_LT(std::abs(error), 0.15) << way;
    EXPECT_EQ(replay["host"]["finished"], 6);
    EXPECT_EQ(replay["host"]["copies"], cycle["host"]["copies"]);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(replay["jobs"][i]["tbs_completed"], cycle["jobs"][i]["tbs_completed"]) << way;
      EXPECT_EQ(replay["jobs"][i]["ready"], cycle["jobs"][i]["ready"]) << way;
    }
  }
}

TEST_F(ReplayCommand, ProfilesAreThoseOfTheCycleModel) {
  Stats("--device cycle --scheduler kernelet");
  const std::string profiles = Read("o/kernelet.csv"), pairs = Read("o/kernelet_pairs.csv");
  Stats("--device replay --scheduler kernelet");
  EXPECT_EQ(Read("o/kernelet.csv"), profiles);
  EXPECT_EQ(Read("o/kernelet_pairs.csv"), pairs);
  Stats("--device replay --scheduler kernelet --cycles 900G");
  EXPECT_EQ(Read("o/kernelet.csv"), profiles) << "more cycles than the cycle model has";
}

TEST_F(ReplayCommand, RatesAreMeasuredOnce) {
  const auto first = Stats("--device replay");
  const auto entries = Cache();
  EXPECT_GE(entries.size(), 2u) << "both kernels alone";
  const std::string rates = Read("o/replay_rates.csv");
  EXPECT_EQ(Stats("--device replay"), first);
  EXPECT_EQ(Cache(), entries) << "nothing was measured, and nothing else is kept";
  EXPECT_EQ(Read("o/replay_rates.csv"), rates);
  EXPECT_EQ(Stats("--device replay --no-cache"), first);
  EXPECT_EQ(Stats("--device replay --jobs 1"), first);
  Stats("--device replay --rate-cycles 20k");
  EXPECT_GT(Cache().size(), entries.size()) << "other measurements";
  // A damaged entry is measured again.
  const std::string name = entries[0].substr(0, entries[0].find(' '));
  Write("cache/" + name, "{}");
  const Outcome outcome = Smk("serve s.toml --device replay --force --out o");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.err.find("damaged cache entry; the rate is made again"), std::string::npos);
  EXPECT_EQ(Json("o/stats.json")["host"], first["host"]);
}

TEST_F(ReplayCommand, WritesTheFilesOfEveryRun) {
  const auto first = Stats("--device replay --scheduler kernelet");
  for (const char* file : {"stats.json", "jobs.csv", "kernels.csv", "launches.csv", "stream.toml",
                           "kernelet.csv", "replay_rates.csv", "manifest.json"}) {
    EXPECT_TRUE(Exists(std::string("o/") + file)) << file;
  }
  EXPECT_NE(Read("o/stream.toml").find("device = 'replay'"), std::string::npos);
  EXPECT_EQ(Smk("report o").status, 0) << Read("stderr");
  std::filesystem::copy_file(Path("o/stream.toml"), Path("again.toml"));
  const Outcome again = Smk("serve again.toml --json");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(nlohmann::ordered_json::parse(again.out)["host"], first["host"]);
  const Outcome table = Smk("serve again.toml");
  EXPECT_NE(table.out.find("device replay"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("control"), std::string::npos) << "there is none";
}

// A limit below the usual warm-up is that of the warm-up, too.
TEST_F(ReplayCommand, FewCyclesForRatesCanBeAskedForAgain) {
  const auto first = Stats("--device replay --rate-cycles 5k --scheduler in-order");
  std::filesystem::copy_file(Path("o/stream.toml"), Path("again.toml"));
  const Outcome again = Smk("serve again.toml --json");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(nlohmann::ordered_json::parse(again.out)["host"], first["host"]);
}

TEST_F(ReplayCommand, RefusesWhatItDoesNotHave) {
  Refuses("s.toml --device reply", "--device: expected cycle or replay, got 'reply'");
  Refuses("s.toml --device replay --scheduler kernel-merge", "has no merged launches");
  Refuses("s.toml --device replay --scheduler kernel-merge:3", "other than kernel-merge:3");
  Refuses("s.toml --device replay --control lockstep", "has no control plane");
  Refuses("s.toml --device replay --out t --timeline", "--timeline: has nothing of SMs to draw");
  Refuses("s.toml --rate-cycles 50k", "need --device replay");
  Refuses("s.toml --device replay --rate-cycles 5", "--rate-cycles: expected");
  Refuses("s.toml --device replay --rate-warm-up 1M", "--rate-warm-up: expected");
  Write("d.toml", "device = 3\n[[job]]\nworkload = \"./tiny.toml\"\n");
  Refuses("d.toml", "d.toml:1: device: expected a text");
  Write("d.toml", "device = \"both\"\n[[job]]\nworkload = \"./tiny.toml\"\n");
  Refuses("d.toml", "expected cycle or replay, got 'both'");
}

}  // namespace
}  // namespace smk
