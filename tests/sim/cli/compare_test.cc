// SPDX-License-Identifier: Apache-2.0
// smk compare: its table, its files and its folders, with a stand-in whose speed depends on the
// policy.
#include <gmock/gmock.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/csv_table.h"
#include "base/error.h"
#include "base/numbers.h"
#include "sim/main_call.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Alone a kernel has an IPC of 8; together both have 6 under smk and spatial, else 4.
Backend Speeds() {
  Backend backend = FakeBackend();
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    const DispatchMode mode = request.policy.dispatch;
    const bool fast = mode == DispatchMode::kOnDemand || mode == DispatchMode::kSpatial;
    RunResult result = FakeResult(request, request.jobs.size() == 1 ? 8 : fast ? 6 : 4);
    if (fast && request.jobs.size() > 1) {
      result.kernels[1].preemptions = 3;
      result.kernels[1].context_bytes = 1'250'000;
    }
    return result;
  };
  return backend;
}

class Compare : public ScratchTest {
 protected:
  Ended Call(const std::string& policies, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"compare", "a+b", "--cycles", "16000", "--no-cache"};
    if (!policies.empty()) words.insert(words.end(), {"--policies", policies});
    words.insert(words.end(), more.begin(), more.end());
    return CallMain(backend, words);
  }
  // The words of the row of a policy.
  static std::vector<std::string> Row(const Ended& ended, const std::string& policy) {
    for (const std::string& line : Split(ended.out, '\n')) {
      if (line.rfind(policy + " ", 0) != 0) continue;
      std::istringstream in(line);
      return {std::istream_iterator<std::string>(in), {}};
    }
    return {};
  }

  Backend backend = Speeds();
};

TEST_F(Compare, EachPolicyIsARowAndTheBestHasAStar) {
  const Ended ended = Call("isolated,even,smk");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              StartsWith("a+b: machine gtx980, control reference, 16000 cycles, seed 1\n\n"));
  // STP, fairness, ANTT, the kernels, preemptions, MB, speed
  EXPECT_THAT(Row(ended, "even"), ElementsAre("even", "0.500", "1.000*", "4.000", "0.250", "0.250",
                                              "0", "0.0", "32000"));
  EXPECT_THAT(Row(ended, "smk"), ElementsAre("smk", "0.750*", "1.000*", "2.667*", "0.375", "0.375",
                                             "3", "1.2", "32000"));
  EXPECT_THAT(Row(ended, "isolated"), ElementsAre("isolated", "1.000", "1.000", "1.000", "1.000",
                                                  "1.000", "0", "0.0", "32000"))
      << "the baseline is not compared";
  EXPECT_EQ(ended.out.substr(ended.out.size() - 6), "\nPASS\n");
}

// How each run ended stands in its row, as `smk run` says it.
TEST_F(Compare, RunsUntilEqualWorkSayHowTheyEnded) {
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    RunRequest ended = request;
    const bool cut = request.policy.dispatch == DispatchMode::kSpatial;
    if (request.until == RunUntil::kWork && !cut) ended.cycles = 32'000;
    RunResult result = FakeResult(ended);
    result.cut_short = request.until == RunUntil::kWork && cut;
    return result;
  };
  const Ended ended = Call("isolated,even,spatial", {"--until", "work", "--out", Path("out")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("a+b: machine gtx980, control reference, --until work --cycles "
                                    "16000, seed 1\n\n"));
  EXPECT_THAT(ended.out, HasSubstr("  length\n"));
  EXPECT_THAT(ended.out, HasSubstr("  32000 cycles until each had done its work\n"));
  EXPECT_THAT(ended.out, HasSubstr("  320000 cycles (CUT SHORT by --cycles)\n"));
  EXPECT_THAT(ended.out, HasSubstr("  16000 cycles\n")) << "alone";
  CsvTable csv(Path("out/compare.csv"), {});
  std::vector<std::string> lengths;
  while (csv.Next()) {
    lengths.push_back(csv.Text(csv.Column("cycles")) + " " + csv.Text(csv.Column("cut_short")));
  }
  EXPECT_THAT(lengths, ElementsAre("16000 false", "32000 false", "320000 true"));
  EXPECT_THAT(Call("even").out, Not(HasSubstr("length"))) << "all are alike";
}

TEST_F(Compare, EqualOnesAreAllTheBest) {
  const Ended ended = Call("spatial,smk,even");
  EXPECT_EQ(Row(ended, "spatial").at(1), "0.750*");
  EXPECT_EQ(Row(ended, "smk").at(1), "0.750*");
  EXPECT_EQ(Row(ended, "even").at(1), "0.500");
}

TEST_F(Compare, WithoutPoliciesItIsAllOfThem) {
  const Ended ended = Call("");
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const std::string& policy : DefaultPolicies()) EXPECT_FALSE(Row(ended, policy).empty());
  EXPECT_TRUE(Row(ended, "table").empty()) << "its counts are not known";
}

TEST_F(Compare, NumbersBehindATableAreItsCounts) {
  const Ended ended = Call("table:3,2,even,table:4,1", {"--out", Path("out")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  CsvTable csv(Path("out/compare.csv"), {"policy"});
  std::vector<std::string> names;
  while (csv.Next()) names.push_back(csv.Text(csv.Column("policy")));
  EXPECT_THAT(names, ElementsAre("table:3,2", "even", "table:4,1"));
  EXPECT_THAT(Names("out"), ElementsAre("compare.csv", "compare.json", "even", "manifest.json",
                                        "table-3-2", "table-4-1"));
  EXPECT_THAT(MainRefusal(backend, {"compare", "a+b", "--policies", "even,3"}),
              HasSubstr("unknown policy '3'"))
      << "a number behind anything else is a policy";
}

// Every table that fits is run, and the policies that fix how the GPU is shared.
TEST_F(Compare, TheOracleIsTheBestOfAllTables) {
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    const PolicyConfig& policy = request.policy;
    const bool best =
        policy.dispatch == DispatchMode::kTable && policy.table[0] == 3 && policy.table[1] == 2;
    return FakeResult(request, request.jobs.size() == 1 ? 8 : best ? 7 : 4);
  };
  const Ended ended = Call("even,oracle,smk", {"--out", Path("out")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Row(ended, "oracle:table:3,2").at(1), "0.875*") << ended.out;
  EXPECT_THAT(Names("out"),
              ElementsAre("compare.csv", "compare.json", "even", "manifest.json", "oracle", "smk"));
  EXPECT_EQ(ordered_json::parse(Read("out/oracle/stats.json"))["policy"], "oracle:table:3,2");
  CsvTable csv(Path("out/compare.csv"), {"policy"});
  std::vector<std::string> names;
  while (csv.Next()) names.push_back(csv.Text(csv.Column("policy")));
  EXPECT_THAT(names, ElementsAre("even", "oracle:table:3,2", "smk"));
  EXPECT_THAT(MainRefusal(backend, {"compare", "a+b", "--policies", "oracle,oracle"}),
              HasSubstr("oracle is there twice"));
}

TEST_F(Compare, TheOracleMayBeNoTable) {
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    const bool best = request.policy.dispatch == DispatchMode::kSpatial;
    return FakeResult(request, request.jobs.size() == 1 ? 8 : best ? 6 : 4);
  };
  EXPECT_FALSE(Row(Call("oracle"), "oracle:spatial").empty());
}

TEST_F(Compare, FilesHaveTheNumbersOfTheRuns) {
  ASSERT_EQ(Call("isolated,even,smk", {"--out", Path("out")}).status, 0);
  const auto j = ordered_json::parse(Read("out/compare.json"));
  EXPECT_EQ(j["workload"], "a+b");
  EXPECT_EQ(j["cycles"], 16000);
  CsvTable csv(Path("out/compare.csv"), {});
  ASSERT_EQ(j["policies"].size(), 3u);
  for (const ordered_json& policy : j["policies"]) {
    const std::string name = policy["policy"];
    const auto stats = ordered_json::parse(Read("out/" + name + "/stats.json"));
    for (const char* key : {"baseline", "stp", "fairness", "antt", "preemptions", "wall"}) {
      EXPECT_EQ(policy[key], stats[key]) << name << " " << key;
    }
    ASSERT_TRUE(csv.Next());
    EXPECT_EQ(csv.Text(csv.Column("policy")), name);
    EXPECT_EQ(std::stod(csv.Text(csv.Column("stp"))), stats["stp"]);
    EXPECT_EQ(csv.Number(csv.Column("preemptions")), stats["preemptions"]["count"]);
    EXPECT_EQ(csv.Number(csv.Column("context_bytes")), stats["preemptions"]["bytes"]);
    for (std::size_t k = 0; k < 2; ++k) {
      const ordered_json& kernel = policy["kernels"][k];
      for (const auto& [key, value] : kernel.items()) EXPECT_EQ(value, stats["kernels"][k][key]);
      EXPECT_EQ(std::stod(csv.Text(csv.Column("normalized_ipc_" + std::to_string(k)))),
                kernel["normalized_ipc"]);
    }
  }
  EXPECT_FALSE(csv.Next());
}

TEST_F(Compare, WhatCannotBeMeasuredIsEmpty) {
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    return FakeResult(request, request.jobs.size() == 1 ? 0 : 8);
  };
  const Ended ended = Call("even", {"--out", Path("out")});
  EXPECT_EQ(Row(ended, "even").at(1), "-") << "no isolated run did anything";
  CsvTable csv(Path("out/compare.csv"), {});
  ASSERT_TRUE(csv.Next());
  EXPECT_TRUE(csv.IsEmpty(csv.Column("stp")));
  EXPECT_TRUE(ordered_json::parse(Read("out/compare.json"))["policies"][0]["stp"].is_null());
}

TEST_F(Compare, OldResultsOfOtherPoliciesGo) {
  ASSERT_EQ(Call("even,smk", {"--out", Path("out")}).status, 0);
  ASSERT_EQ(Call("spatial", {"--out", Path("out")}).status, 0);
  EXPECT_TRUE(Exists("out/spatial/stats.json"));
  const auto j = ordered_json::parse(Read("out/compare.json"));
  EXPECT_EQ(j["policies"].size(), 1u);
}

// What is no part of the comparison would stand beside it as if it were.
TEST_F(Compare, RunsOfAnEarlierComparisonGo) {
  ASSERT_EQ(Call("smk,even,table:2,3", {"--out", Path("out")}).status, 0);
  EXPECT_THAT(Names("out"), ElementsAre("compare.csv", "compare.json", "even", "manifest.json",
                                        "smk", "table-2-3"));
  Write("out/even/notes.txt", "precious");
  const std::string said =
      MainRefusal(backend, {"compare", "a+b", "--policies", "smk", "--out", Path("out")});
  EXPECT_THAT(said, HasSubstr("out/even: the folder holds other things ('notes.txt')"));
  EXPECT_EQ(Call("smk", {"--out", Path("out"), "--force"}).status, 0);
  EXPECT_THAT(Names("out"),
              ElementsAre("compare.csv", "compare.json", "even", "manifest.json", "smk"));
  EXPECT_THAT(Names("out/even"), ElementsAre("notes.txt"));
}

TEST_F(Compare, AFolderThatIsNotOfTheComparisonStays) {
  ASSERT_EQ(Call("smk,even", {"--out", Path("out")}).status, 0);
  ASSERT_EQ(CallMain(backend, {"run", "a", "--policy", "even", "--cycles", "1k", "--no-cache",
                               "--out", Path("out/even")})
                .status,
            0);
  EXPECT_EQ(Call("smk", {"--out", Path("out")}).status, 0);
  EXPECT_TRUE(Exists("out/even/stats.json"));
}

TEST_F(Compare, AFailureLeavesNoComparison) {
  ASSERT_EQ(Call("even,smk", {"--out", Path("out")}).status, 0);
  backend.run = [](const RunRequest& request, ControlKind, const ControlConfig&) {
    if (request.policy.dispatch == DispatchMode::kOnDemand) throw CheckFailure("cycle 7: lost");
    return FakeResult(request);
  };
  const Ended ended = Call("even,smk", {"--out", Path("out")});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr("FAIL: "));
  EXPECT_THAT(ended.out, HasSubstr("cycle 7: lost"));
  EXPECT_FALSE(Exists("out/compare.json"));
  EXPECT_FALSE(Exists("out/compare.csv"));
  const std::string status = ordered_json::parse(Read("out/manifest.json"))["status"];
  EXPECT_THAT(status, HasSubstr("cycle 7: lost"));
}

TEST_F(Compare, QuietPrintsTheLastLineOnly) {
  EXPECT_EQ(Call("even", {"--quiet"}).out, "PASS\n");
  EXPECT_EQ(Call("even", {"--quiet"}).err, "");
}

TEST_F(Compare, PreemptIsForThoseThatUseIt) {
  EXPECT_EQ(Call("even,spatial", {"--preempt", "drain"}).status, 0);
  EXPECT_EQ(MainRefusal(backend, {"compare", "a+b", "--policies", "even", "--preempt", "drain"}),
            "--preempt: only the policies spatial, warped-slicer, warped-slicer+w, tokens use it, "
            "none is compared");
  EXPECT_EQ(Call("warped-slicer", {"--preempt", "switch"}).status, 0);
  EXPECT_EQ(
      MainRefusal(backend, {"compare", "a+b", "--policies", "warped-slicer", "--preempt", "flush"}),
      "--preempt: warped-slicer takes switch, drain or chimera, not flush");
  EXPECT_EQ(MainRefusal(backend, {"compare", "a+b", "--policies", "table:1,1,even,table:01,1"}),
            "--policies: table:1,1 is there twice");
}

}  // namespace
}  // namespace smk::sim
