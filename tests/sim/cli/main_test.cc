// SPDX-License-Identifier: Apache-2.0
// How the command ends, with a stand-in simulator that can fail.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "sim/main_call.h"

namespace smk::sim {
namespace {
namespace fs = std::filesystem;

Backend Failing(const char* when) {
  Backend backend = FakeBackend();
  const std::string name = when;
  backend.run = [name](const RunRequest& request, ControlKind, const ControlConfig&) {
    if (request.jobs.size() > 1) {
      if (name == "check") throw CheckFailure("cycle 7: SM 3: a TB was lost");
      if (name == "input") throw InputError("config: impossible");
      throw std::runtime_error("out of luck");
    }
    return FakeResult(request);
  };
  return backend;
}

TEST(Main, PassIsStatusZero) {
  const Ended ended = CallMain(FakeBackend(), {"run", "a+b", "--cycles", "16k", "--no-cache"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out.substr(ended.out.size() - 5), "PASS\n");
}

TEST(Main, FailureIsStatusOneAndTheLastLine) {
  for (const char* command : {"run", "compare"}) {
    const Ended ended =
        CallMain(Failing("check"), {command, "a+b", "--cycles", "16k", "--no-cache"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_EQ(ended.out.rfind("FAIL: ", 0), 0u) << ended.out;
    EXPECT_NE(ended.out.find("cycle 7: SM 3: a TB was lost\n"), std::string::npos) << ended.out;
    EXPECT_EQ(ended.err, "");
  }
  EXPECT_EQ(CallMain(Failing("other"), {"run", "a+b", "--cycles", "16k", "--no-cache"}).out,
            "FAIL: out of luck\n");
}

TEST(Main, BadInputFoundLateIsStatusTwo) {
  for (const char* command : {"run", "compare"}) {
    const Ended ended =
        CallMain(Failing("input"), {command, "a+b", "--cycles", "16k", "--no-cache"});
    EXPECT_EQ(ended.status, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(ended.err, "smk: config: impossible\n");
  }
}

TEST(Main, FailureLeavesAManifestAndNoOldStatistics) {
  const fs::path folder = fs::temp_directory_path() / ("smk_main_" + std::to_string(getpid()));
  fs::remove_all(folder);
  const std::string out = folder.string();
  const std::vector<std::string> arguments = {"run",   "a+b", "--cycles",  "16k",
                                              "--out", out,   "--no-cache"};
  // The stand-in's inputs are not files; only their hashes are missing.
  EXPECT_EQ(CallMain(FakeBackend(), arguments).status, 0);
  EXPECT_TRUE(fs::exists(folder / "stats.json"));
  EXPECT_EQ(CallMain(Failing("check"), arguments).status, 1);
  EXPECT_FALSE(fs::exists(folder / "stats.json"));
  std::ifstream manifest(folder / "manifest.json");
  EXPECT_EQ(nlohmann::json::parse(manifest)["status"], "FAIL: cycle 7: SM 3: a TB was lost");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace smk::sim
