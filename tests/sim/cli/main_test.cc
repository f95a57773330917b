// SPDX-License-Identifier: Apache-2.0
// How the command ends, with a stand-in simulator that can fail.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "sim/main_call.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

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

TEST(Main, FailureIsJsonWhereJsonIsAskedFor) {
  for (const char* command : {"run", "compare"}) {
    const Ended ended =
        CallMain(Failing("check"), {command, "a+b", "--cycles", "16k", "--no-cache", "--json"});
    EXPECT_EQ(ended.status, 1);
    const auto j = nlohmann::json::parse(ended.out);
    EXPECT_EQ(j.size(), 1u);
    const std::string status = j["status"];
    EXPECT_EQ(status.rfind("FAIL: ", 0), 0u) << status;
    EXPECT_NE(status.find("cycle 7: SM 3: a TB was lost"), std::string::npos) << status;
    EXPECT_EQ(ended.err, "");
  }
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

class MainFiles : public ScratchTest {};

TEST_F(MainFiles, FailureLeavesAManifestAndNoOldStatistics) {
  const std::vector<std::string> arguments = {"run",   "a+b",       "--cycles",  "16k",
                                              "--out", Path("out"), "--no-cache"};
  // The stand-in's inputs are not files; only their hashes are missing.
  EXPECT_EQ(CallMain(FakeBackend(), arguments).status, 0);
  EXPECT_TRUE(Exists("out/stats.json"));
  EXPECT_EQ(CallMain(Failing("check"), arguments).status, 1);
  EXPECT_FALSE(Exists("out/stats.json"));
  EXPECT_EQ(nlohmann::json::parse(Read("out/manifest.json"))["status"],
            "FAIL: cycle 7: SM 3: a TB was lost");
}

}  // namespace
}  // namespace smk::sim
