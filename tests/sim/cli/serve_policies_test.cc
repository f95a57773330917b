// SPDX-License-Identifier: Apache-2.0
// Host schedulers and hardware policies do not know of each other: every one of both together.
#include <fmt/format.h>

#include <set>

#include "experiment/policies.h"
#include "serve/schedulers.h"
#include "sim/serve_command.h"

namespace smk {
namespace {

constexpr int kJobs = 3;

class ServePolicies : public ServeCommand {
 protected:
  void SetUp() override {
    ServeCommand::SetUp();
    Write("s.toml",
          "launches = 1\n[[job]]\nworkload = \"./tiny.toml\"\ncount = 2\ntbs = 24\n"
          "[[client]]\nname = \"late\"\nworkload = \"./other.toml\"\nrate = 1000000\n");
  }
  // Those of streams of jobs; clients with scripts have others.
  static std::vector<std::string> HostSchedulers() {
    std::vector<std::string> names;
    for (const sim::SchedulerInfo& info : sim::Schedulers()) {
      if (info.streams()) names.push_back(info.name);
    }
    return names;
  }
  static std::vector<std::string> HardwarePolicies() {
    std::vector<std::string> names;
    for (const sim::PolicyInfo& info : sim::Policies()) {
      if (info.name == "isolated") continue;  // kernels take turns in runs of their own
      const bool is_table = info.name.rfind("table:", 0) == 0;
      names.push_back(is_table ? "table:1,1,1" : info.name);
    }
    return names;
  }
  static void ExpectEveryJobOnce(const nlohmann::ordered_json& stats, const std::string& how) {
    EXPECT_EQ(stats["host"]["finished"], kJobs) << how;
    std::uint64_t tbs = 0;
    for (const auto& job : stats["jobs"]) {
      EXPECT_EQ(job["executions"], 1) << how;
      tbs += job["tbs_completed"].get<std::uint64_t>();
    }
    EXPECT_EQ(tbs, 2u * 24 + 64) << how;
  }
};

TEST_F(ServePolicies, EveryHostSchedulerRunsOnEveryPolicyInLockstep) {
  EXPECT_GE(HostSchedulers().size(), 6u);
  EXPECT_GE(HardwarePolicies().size(), 10u);
  std::set<std::string> results;
  for (const std::string& scheduler : HostSchedulers()) {
    for (const std::string& policy : HardwarePolicies()) {
      const std::string how =
          fmt::format("--machine gtx980 --scheduler {} --policy {}", scheduler, policy);
      auto lockstep = Stats(how + " --control lockstep");
      ExpectEveryJobOnce(lockstep, how);
      EXPECT_GT(lockstep["lockstep"]["events"], 1000) << how;
      EXPECT_EQ(lockstep["lockstep"]["mismatches"], 0) << how;
      EXPECT_EQ(lockstep["host"]["scheduler"], scheduler);
      results.insert(lockstep["jobs"].dump());
    }
  }
  EXPECT_GT(results.size(), HostSchedulers().size()) << "policies make no difference";
}

// Where the RTL decides alone, and no reference stands beside it.
TEST_F(ServePolicies, EveryHostSchedulerIsTheSameOnTheRtl) {
  for (const std::string& scheduler : HostSchedulers()) {
    const std::string how = "--machine gtx980 --policy smk-pw --scheduler " + scheduler;
    const auto reference = Stats(how);
    auto rtl = Stats(how + " --control rtl");
    ExpectEveryJobOnce(rtl, how);
    EXPECT_EQ(rtl["control"], "rtl");
    rtl["control"] = "reference";
    EXPECT_EQ(rtl, reference) << how;
  }
}

}  // namespace
}  // namespace smk
