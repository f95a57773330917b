// SPDX-License-Identifier: Apache-2.0
// smk report: what it reads, what it refuses, and the file that it writes. tests/report looks at
// the page.

#include <sqlite3.h>

#include "sim/command.h"

namespace smk {
namespace {

using nlohmann::ordered_json;

constexpr char kPage[] = "<title><!--TITLE--></title><script id=data><!--DATA--></script>";

class ReportCommandTest : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    Write("page.html", kPage);
    page = "SMK_REPORT_PAGE='" + Path("page.html") + "'";
  }
  void Refuses(const std::string& arguments, const std::string& part) const {
    const Outcome outcome = Smk(arguments, page);
    EXPECT_EQ(outcome.status, 2) << arguments << '\n' << outcome.out << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err.rfind("smk: ", 0), 0u) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << '\n' << outcome.err;
  }
  // The data of a page that was written.
  ordered_json Data(const std::string& name) const {
    const std::string text = Read(name);
    const std::size_t begin = text.find("id=data>") + 8;
    return ordered_json::parse(text.substr(begin, text.find("</script>") - begin));
  }
  void Sql(const std::string& name, const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(Path(name).c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  void Pass(const std::string& arguments) const {
    const Outcome outcome = Smk(arguments, page);
    EXPECT_EQ(outcome.status, 0) << arguments << '\n' << outcome.out << outcome.err;
  }

  std::string page;
};

TEST_F(ReportCommandTest, WritesThePageOfARun) {
  Pass("run lbm+sgemm --policy smk --cycles 20k --out one --quiet");
  const Outcome outcome = Smk("report one", page);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "one/report.html\n");
  const ordered_json data = Data("one/report.html");
  EXPECT_EQ(data["kind"], "run");
  EXPECT_EQ(data["title"], "lbm+sgemm under smk");
  EXPECT_EQ(data["runs"][0]["stats"], Json("one/stats.json"));
  EXPECT_EQ(data["runs"][0]["config_text"], Read("one/config.toml"));
  EXPECT_EQ(data["runs"][0]["config"]["machine"]["sm"]["limits"]["tbs"], 32);
  // Everything in the folder is ours, so the next run may be written there.
  Pass("run lbm+sgemm --cycles 20k --out one --quiet");
  EXPECT_FALSE(Exists("one/report.html")) << "of the run before";
}

TEST_F(ReportCommandTest, TitleOutAndQuiet) {
  Pass("run lbm --cycles 2k --out one --quiet");
  const Outcome outcome = Smk("report one --out x.html --title '</script>&<b>' --quiet", page);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(Exists("one/report.html"));
  EXPECT_EQ(Read("x.html").rfind("<title>&lt;/script&gt;&amp;&lt;b&gt;</title>", 0), 0u);
  EXPECT_EQ(Data("x.html")["title"], "</script>&<b>");
}

TEST_F(ReportCommandTest, WritesThePageOfAComparison) {
  Pass("compare lbm+sgemm --policies isolated,smk-pw,table:2,3 --cycles 4k --out all --quiet");
  Pass("report all --quiet");
  const ordered_json data = Data("all/report.html");
  EXPECT_EQ(data["kind"], "compare");
  EXPECT_EQ(data["compare"], Json("all/compare.json"));
  ASSERT_EQ(data["runs"].size(), 3u);
  EXPECT_EQ(data["runs"][2]["policy"], "table:2,3");
  EXPECT_EQ(data["runs"][1]["stats"], Json("all/smk-pw/stats.json"));
  EXPECT_TRUE(data["runs"][0]["samples"].is_null()) << "the baseline is several runs";
  EXPECT_FALSE(data["runs"][1]["samples"].is_null());
}

TEST_F(ReportCommandTest, WritesThePageOfASweep) {
  Write("s.toml",
        "cycles = 2000\nworkloads = 'lbm+sgemm'\npolicies = ['spatial', 'smk-pw']\nname = 'x'");
  Pass("sweep s.toml --out s.db --quiet");
  Pass("report s.db --quiet");
  const ordered_json sweep = Data("s.html")["sweep"];
  const auto exported = ordered_json::parse(Smk("sweep s.toml --out s.db --export json").out);
  ASSERT_EQ(sweep["runs"]["run"].size(), exported["runs"].size());
  std::size_t kernel = 0;
  for (std::size_t i = 0; i < exported["runs"].size(); ++i) {
    const ordered_json& run = exported["runs"][i];
    EXPECT_EQ(sweep["runs"]["run"][i], run["run"]);
    EXPECT_EQ(sweep["runs"]["stp"][i], run["stp"]);
    for (const ordered_json& k : run["kernels"]) {
      EXPECT_EQ(sweep["kernels"]["run"][kernel], i);
      EXPECT_EQ(sweep["kernels"]["normalized_ipc"][kernel], k["normalized_ipc"]);
      ++kernel;
    }
  }
  EXPECT_EQ(sweep["tbs"]["hundredths"].size(), 16 * kernel);
  EXPECT_EQ(sweep["experiments"][0]["planned"], exported["runs"].size());
  EXPECT_FALSE(sweep["paper"]["value"].empty());
  EXPECT_EQ(Smk("sweep s.toml --out s.db --quiet").out, "PASS\n") << "the database is as it was";
}

TEST_F(ReportCommandTest, RefusesWhatItCannotRead) {
  Refuses("report", "path");
  Refuses("report nothing", "nothing: no such folder or database");
  std::filesystem::create_directory(Path("empty"));
  Refuses("report empty", "expected a folder of smk run or smk compare, or a database");
  Write("thesis.tex", "precious");
  Refuses("report thesis.tex", "thesis.tex");
  Sql("other.db", "CREATE TABLE t (x)");
  Refuses("report other.db", "expected a database of smk sweep");
  Write("s.toml", "cycles = 2000\nworkloads = 'lbm+sgemm'\nname = 'x'");
  Pass("sweep s.toml --out s.db --quiet");
  Sql("s.db", "DELETE FROM runs");
  Refuses("report s.db", "holds no runs yet");
  Sql("s.db", "PRAGMA user_version = 9");
  Refuses("report s.db", "version 9, this smk knows version 8");
  Write("zero.db", "");
  Refuses("report zero.db", "holds no runs yet");
}

TEST_F(ReportCommandTest, RefusesDamagedFolders) {
  Pass("run lbm --cycles 2k --out one --quiet");
  const std::string stats = Read("one/stats.json"), tbs = Read("one/tbs.csv");
  Write("one/manifest.json", "{\"status\": \"PASS\"}");  // of an older version, without hashes
  Write("one/stats.json", "{\"schema\": 3}");
  Refuses("report one", "one/stats.json: its schema is version 3, this smk knows version 2");
  Write("one/stats.json", "{");
  Refuses("report one", "one/stats.json: is not valid JSON");
  Write("one/stats.json", "{\"schema\": 1}");
  Refuses("report one", "one/stats.json");
  Write("one/stats.json", stats);
  Write("one/tbs.csv",
        tbs.substr(0, tbs.find('\n') + 1) + "0,lbm,x,0,0,0,0,1,0,completed,0,,,,,\n");
  Refuses("report one", "one/tbs.csv:2: launch: expected a whole number, got 'x'");
  Write("one/tbs.csv",
        tbs.substr(0, tbs.find('\n') + 1) + "0,lbm,1,0,16,0,0,1,0,completed,0,,,,,\n");
  Refuses("report one", "sm: expected a number below 16, got 16");
  Write("one/tbs.csv", "kernel,name\n");
  Refuses("report one", "one/tbs.csv:1: no column 'launch'");
  Write("one/manifest.json", "{\"status\": \"FAIL: cycle 7\"}");
  Refuses("report one", "one: the run has no results: FAIL: cycle 7");
}

TEST_F(ReportCommandTest, RefusesWhereItCannotWrite) {
  Pass("run lbm --cycles 2k --out one --quiet");
  Refuses("report one --out nowhere/x.html", "nowhere/x.html: cannot be written");
  Refuses("report one --out one", "is a folder");
  Write("s.toml", "cycles = 2000\nworkloads = 'lbm+sgemm'\nname = 'x'");
  Pass("sweep s.toml --out s.db --quiet");
  Refuses("report s.db --out ./s.db", "is the database itself");
}

TEST_F(ReportCommandTest, SaysHowToGetThePage) {
  Pass("run lbm --cycles 2k --out one --quiet");
  page = "SMK_REPORT_PAGE=/nowhere/page.html";
  Refuses("report one", "scripts/setup report");
  EXPECT_FALSE(Exists("one/report.html"));
}

}  // namespace
}  // namespace smk
