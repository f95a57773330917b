// SPDX-License-Identifier: Apache-2.0
// Folders of runs and comparisons, made by hand: what is taken over, what is refused; and the page.
#include <gmock/gmock.h>

#include "base/sha256.h"
#include "report/data.h"
#include "report/page.h"
#include "report/timeline.h"
#include "run/results.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::StartsWith;

class ReportFolders : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    WriteRun("run");
  }
  void WriteRun(const std::string& name) const {
    Write(name + "/manifest.json", R"({"status": "PASS", "inputs": []})");
    Write(name + "/stats.json",
          R"({"schema": 1, "cycles": 100, "kernels": [{}, {}], "sms": [{}], "policy": "smk"})");
    Write(name + "/config.toml", "cycles = 100\n[machine]\nname = 'x'\n");
    Write(name + "/tbs.csv",
          "kernel,name,launch,tb,sm,tb_slot,start_cycle,end_cycle,restored,outcome\n"
          "0,a,1,0,0,0,0,50,0,saved\n");
    Write(name + "/decisions.csv",
          "cycle,reason,kernel,sm,tb,victim,victim_tbs,share_0,share_1\n1,no-room,0,0,,,,5,6\n");
  }
  std::string RunRefusal() const {
    return Refusal([&] { ReportRunFolder(Path("run")); });
  }
  // With this text in a file of the run.
  void Refuses(const std::string& file, const std::string& text, const std::string& said) const {
    const std::string good = Exists("run/" + file) ? Read("run/" + file) : "";
    Write("run/" + file, text);
    EXPECT_EQ(RunRefusal(), said) << file << ": " << text;
    Write("run/" + file, good);
  }
};

TEST_F(ReportFolders, ARunIsItsFiles) {
  const ordered_json j = ReportRunFolder(Path("run"));
  EXPECT_EQ(j["stats"]["policy"], "smk");
  EXPECT_EQ(j["manifest"]["status"], "PASS");
  EXPECT_EQ(j["config"]["machine"]["name"], "x");
  EXPECT_EQ(j["config_text"], Read("run/config.toml"));
  EXPECT_EQ(j["residency"]["hundredths"].size(), 2u * 100);
  EXPECT_EQ(j["preemptions"]["total"], 1);
  EXPECT_EQ(j["decisions"]["log"]["total"], 1);
  EXPECT_TRUE(j["samples"].is_null());
}

TEST_F(ReportFolders, SamplesAreThereWhenTheRunHasThem) {
  Write("run/samples.csv",
        "cycle,length,sm,kernel,warp_instructions,resident_tbs,quota\n10,10,0,1,5,1,0\n");
  EXPECT_EQ(ReportRunFolder(Path("run"))["samples"]["cycle"], ordered_json({10}));
}

// What a picture of its TBs says instead of drawing them.
TEST_F(ReportFolders, OnlyTbsThatShareTheGpuAreDrawnTogether) {
  const auto said = [this](const std::string& folder) {
    return Refusal([&] {
      ordered_json stats;
      ReadRunTimeline(Path(folder), &stats);
    });
  };
  EXPECT_EQ(said("run"), "accepted");
  constexpr char kRest[] = R"("cycles": 100, "sms": [{}], "schema": 2, "baseline": )";
  const auto stats = [&](const std::string& more) {
    Write("run/stats.json", std::string("{") + kRest + more + "}");
  };
  stats(R"(true, "kernels": [{}, {}])");
  EXPECT_EQ(said("run"), Path("run") +
                             ": the policy isolated runs each kernel alone; expected a run of one "
                             "kernel, or of another policy");
  EXPECT_TRUE(ReportRunFolder(Path("run"))["timeline"].is_null());
  stats(R"(true, "kernels": [{}])");
  EXPECT_EQ(said("run"), "accepted");
  EXPECT_FALSE(ReportRunFolder(Path("run"))["timeline"].is_null());
  for (const char* more : {"", R"(, "cycles": 0)", R"(, "cycles": 9, "kernels": 3)"}) {
    Write("run/stats.json", std::string(R"({"schema": 2, "kind": "clients")") + more + "}");
    EXPECT_EQ(said("run"), Path("run") +
                               ": clients with scripts have no TBs to draw; expected a run of "
                               "kernels; see smk report, or timeline.json.gz of smk serve "
                               "--timeline");
  }
  Write("all/compare.json", "{}");
  EXPECT_EQ(said("all"), Path("all") + ": is a comparison; give " + Path("all") + "/POLICY");
}

// Clients with scripts have no kernels, and nothing of SMs.
TEST_F(ReportFolders, ClientsHaveSharesAndNoTbs) {
  Write("run/stats.json", R"({"schema": 2, "kind": "clients", "clients": []})");
  Write("run/shares.csv", "time_ns,window_ns,client,allocated_ns,kernel_ns\n9,9,a,6,5\n");
  const ordered_json j = ReportRunFolder(Path("run"));
  EXPECT_EQ(j["shares"]["client"], ordered_json({"a"}));
  EXPECT_EQ(j["config_text"], Read("run/config.toml"));
  EXPECT_FALSE(j.contains("residency"));
}

TEST_F(ReportFolders, AStreamHasItsJobs) {
  EXPECT_FALSE(ReportRunFolder(Path("run")).contains("stream"));
  Write("run/stats.json",
        R"({"schema": 2, "cycles": 100, "kernels": [{}, {}], "sms": [{}], "host": {"jobs": 1}})");
  EXPECT_EQ(RunRefusal(), Path("run/jobs.csv") + ": cannot be read");
  Write("run/jobs.csv",
        "job,name,client,arrival,ready,start,finish,last_tb_end,turnaround,slices_completed,"
        "tbs_completed\n0,a,a,0,0,0,9,9,9,1,1\n");
  Write("run/launches.csv",
        "job,name,launch,kernel,kernel_slot,first_tb,tb_count,start,end\n0,a,1,k,0,0,1,0,9\n");
  EXPECT_EQ(ReportRunFolder(Path("run"))["stream"]["launches"]["end"], ordered_json({9}));
}

TEST_F(ReportFolders, AFileThatIsNotAsItWasIsRefused) {
  const auto listed = [&](const std::string& name, const std::string& hash) {
    Write("run/manifest.json", R"({"status": "PASS", "outputs": [{"path": ")" + name +
                                   R"(", "sha256": ")" + hash + "\"}]}");
  };
  for (const char* name : {"stats.json", "config.toml", "tbs.csv", "decisions.csv"}) {
    const std::string path = Path(std::string("run/") + name);
    listed(name, HashFile(path));
    EXPECT_EQ(RunRefusal(), "accepted");
    listed(name, HashText("other"));
    EXPECT_EQ(RunRefusal(), path + ": is damaged or of another run: it does not have the hash in " +
                                Path("run") +
                                "/manifest.json; the command in there makes it again");
  }
  listed("samples.csv", HashText("lost"));
  EXPECT_EQ(RunRefusal(), Path("run/samples.csv") + ": cannot be read");
  listed("wave.fst", "what the report does not read");
  EXPECT_EQ(RunRefusal(), "accepted");
  Write("run/manifest.json", R"({"status": "PASS", "outputs": [{"path": 3}]})");
  EXPECT_EQ(RunRefusal(),
            Path("run/manifest.json: outputs: expected objects with path and sha256"));
}

TEST_F(ReportFolders, ARunThatFailedHasNoPage) {
  const std::string before = Path("run") + ": the run has no results: ";
  Refuses("manifest.json", R"({"status": "FAIL: cycle 7"})", before + "FAIL: cycle 7");
  Refuses("manifest.json", R"({"status": ""})", before + "no status in its manifest");
  Refuses("manifest.json", "{}", before + "no status in its manifest");
  Refuses("manifest.json", "[]", before + "no status in its manifest");
  Refuses("manifest.json", R"({"status": 7})", before + "no status in its manifest");
  Refuses("manifest.json", "{", Path("run/manifest.json") + ": is not valid JSON");
}

TEST_F(ReportFolders, StatisticsAreThoseThatWeKnow) {
  const std::string stats = Path("run/stats.json");
  Refuses("stats.json", "", stats + ": is not valid JSON");
  Refuses("stats.json", "7", stats + ": schema: expected a whole number");
  Refuses("stats.json", "{}", stats + ": schema: expected a whole number");
  Refuses("stats.json", R"({"schema": "1"})", stats + ": schema: expected a whole number");
  Refuses(
      "stats.json", R"({"schema": 99})",
      stats + ": its schema is version 99, this smk knows version " + std::to_string(kStatsSchema));
  for (const char* lacks :
       {R"({"schema": 1, "kernels": [], "sms": []})", R"({"schema": 1, "cycles": 5, "sms": []})",
        R"({"schema": 1, "cycles": 5, "kernels": []})",
        R"({"schema": 1, "cycles": "5", "kernels": [], "sms": []})",
        R"({"schema": 1, "cycles": 5, "kernels": 1, "sms": []})"}) {
    const std::string good = Read("run/stats.json");
    Write("run/stats.json", lacks);
    EXPECT_THAT(RunRefusal(), StartsWith(stats + ": ")) << lacks;
    Write("run/stats.json", good);
  }
}

TEST_F(ReportFolders, ARunOfNoCyclesIsNone) {
  const std::string said =
      Path("run/stats.json") + ": cycles: expected a whole number from 1 to 1000000000000";
  for (const char* cycles : {"0", "-5", "1e30", "18446744073709551615"}) {
    Refuses(
        "stats.json",
        std::string(R"({"schema": 1, "kernels": [{}, {}], "sms": [{}], "cycles": )") + cycles + "}",
        said);
  }
}

TEST_F(ReportFolders, EveryFileOfARunIsNeeded) {
  for (const char* name : {"stats.json", "config.toml", "tbs.csv", "decisions.csv"}) {
    const std::string good = Read(std::string("run/") + name);
    std::filesystem::remove(Path(std::string("run/") + name));
    EXPECT_EQ(RunRefusal(), Path(std::string("run/") + name) + ": cannot be read");
    Write(std::string("run/") + name, good);
  }
  Write("run/config.toml", "cycles = \n");
  EXPECT_THAT(RunRefusal(), StartsWith(Path("run/config.toml") + ":1: expected TOML: "));
  std::filesystem::remove(Path("run/manifest.json"));
  EXPECT_EQ(RunRefusal(), Path("run") +
                              ": expected a folder of smk run or smk compare, or a "
                              "database of smk sweep");
}

class ReportComparisons : public ReportFolders {
 protected:
  std::string CompareRefusal(const std::string& text) const {
    Write("all/compare.json", text);
    return Refusal([&] { ReportCompareFolder(Path("all")); });
  }
};

TEST_F(ReportComparisons, EachPolicyHasItsRun) {
  WriteRun("all/smk-pw");
  WriteRun("all/table-2-3");
  Write("all/compare.json",
        R"({"schema": 1, "policies": [{"policy": "table:2,3"}, {"policy": "smk-pw"}]})");
  const ordered_json j = ReportCompareFolder(Path("all"));
  ASSERT_EQ(j["runs"].size(), 2u);
  EXPECT_EQ(j["runs"][0]["policy"], "table:2,3");
  EXPECT_EQ(j["runs"][1]["policy"], "smk-pw");
  EXPECT_EQ(j["runs"][1]["residency"]["steps"], 100);
  EXPECT_EQ(j["compare"]["schema"], 1);
}

TEST_F(ReportComparisons, WhatIsNoComparisonIsRefused) {
  const std::string path = Path("all/compare.json");
  EXPECT_EQ(CompareRefusal("{"), path + ": is not valid JSON");
  EXPECT_EQ(CompareRefusal("[]"), path + ": schema: expected a whole number");
  for (const char* text : {R"({"schema": 1})", R"({"schema": 1, "policies": {}})",
                           R"({"schema": 1, "policies": []})"}) {
    EXPECT_EQ(CompareRefusal(text), path + ": policies: expected a list of policies");
  }
  EXPECT_EQ(CompareRefusal(R"({"schema": 1, "policies": [7]})"),
            path + ": policies: expected objects with a policy");
  EXPECT_EQ(CompareRefusal(R"({"schema": 1, "policies": [{"policy": 7}]})"),
            path + ": policies: expected objects with a policy");
  EXPECT_THAT(CompareRefusal(R"({"schema": 1, "policies": [{"policy": "smk"}]})"),
              StartsWith(Path("all/smk") + ": expected a folder of smk run"));
}

TEST(ReportPages, TitleAndDataComeIntoTheirPlaces) {
  EXPECT_EQ(FillPage("<t><!--TITLE--></t><d><!--DATA--></d>", "lbm+sgemm", R"({"a":1})"),
            R"(<t>lbm+sgemm</t><d>{"a":1}</d>)");
}

TEST(ReportPages, NoTitleAndNoDataCanEndTheirElements) {
  const std::string page = FillPage("<title><!--TITLE--></title><script><!--DATA--></script>",
                                    "</title>&<b>", R"({"x":"</script><!--"})");
  EXPECT_EQ(page,
            "<title>&lt;/title&gt;&amp;&lt;b&gt;</title><script>"
            R"({"x":"\u003c/script>\u003c!--"})"
            "</script>");
  const std::size_t begin = page.find("<script>") + 8;
  EXPECT_EQ(ordered_json::parse(page.substr(begin, page.find("</script>") - begin))["x"],
            "</script><!--")
      << "the data itself is as it was";
}

TEST(ReportPages, AnyDataIsReadBackAsItWas) {
  Chance chance;
  for (int round = 0; round < 300; ++round) {
    const ordered_json data = {{chance.Text(5, "ab<"), chance.Text(30, "<>/!-script&\"\\ \n")}};
    const std::string page = FillPage("<!--TITLE-->[<!--DATA-->]END", "t", data.dump());
    ASSERT_EQ(ordered_json::parse(page.substr(2, page.size() - 6)), data);
    ASSERT_EQ(page.find("</"), std::string::npos);
  }
}

TEST(ReportPages, APageWithoutPlacesIsRefused) {
  for (const char* page : {"", "<!--TITLE-->", "<!--DATA-->", "<!--DATA--><!--TITLE-->"}) {
    EXPECT_EQ(Refusal([&] { FillPage(page, "t", "1"); }),
              "report: the page has no places for title and data; build again");
  }
}

class ReportPageFile : public ScratchTest {};

TEST_F(ReportPageFile, ThePageIsThatOfTheBuildOrOfTheEnvironment) {
  const Environment page("SMK_REPORT_PAGE", Write("page.html", "mine"));
  EXPECT_EQ(EmptyPage(), "mine");
  const Environment other("SMK_REPORT_PAGE", Path("no.html"));
  EXPECT_EQ(Refusal([] { EmptyPage(); }), "report: the page was not built (" + Path("no.html") +
                                              "); call scripts/setup report and build again");
}

}  // namespace
}  // namespace smk::sim
