// SPDX-License-Identifier: Apache-2.0
// smk report on folders of the stand-in: its title, where its page goes, and what the page can say
// of a statistic.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "run/statistics.h"
#include "sim/main_call.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

class Reports : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    Write("page.html", "<!--TITLE-->\n<!--DATA-->");
    Make({"run", "--policy", "smk"}, "one");
    Make({"compare", "--policies", "even,smk"}, "all");
  }
  void Make(std::vector<std::string> words, const std::string& out) const {
    words.insert(words.begin() + 1, "a+b");
    words.insert(words.end(), {"--cycles", "16k", "--no-cache", "--quiet", "--out", Path(out)});
    ASSERT_EQ(CallMain(backend_, words).status, 0);
  }
  Ended Call(std::vector<std::string> words) const {
    const Environment page("SMK_REPORT_PAGE", Path("page.html"));
    words.insert(words.begin(), "report");
    return CallMain(backend_, words);
  }
  std::string Title(const std::string& name) const {
    return Read(name).substr(0, Read(name).find('\n'));
  }
  ordered_json Data(const std::string& name) const {
    return ordered_json::parse(Read(name).substr(Read(name).find('\n')));
  }
  // The folder `one` with another statistics file.
  Ended WithStats(const ordered_json& stats) const {
    Write("one/stats.json", stats.dump());
    Unseal("one");
    return Call({Path("one")});
  }
  // As if an older version had written the folder: without hashes.
  void Unseal(const std::string& name) const {
    ordered_json manifest = ordered_json::parse(Read(name + "/manifest.json"));
    manifest.erase("outputs");
    Write(name + "/manifest.json", manifest.dump());
  }
  ordered_json Stats() const { return ordered_json::parse(Read("one/stats.json")); }

 private:
  Backend backend_ = FakeBackend();
};

TEST_F(Reports, ThePageLiesInTheFolderAndHasItsTitle) {
  EXPECT_EQ(Call({Path("one")}).out, Path("one/report.html") + "\n");
  EXPECT_EQ(Title("one/report.html"), "a+b under smk");
  EXPECT_EQ(Call({Path("all") + "/"}).status, 0);
  EXPECT_EQ(Title("all/report.html"), "a+b");
  EXPECT_EQ(Data("all/report.html")["source"], "all") << "without the slash";
  Call({Path("one"), "--title", "mine", "--out", Path("x.html")});
  EXPECT_EQ(Title("x.html"), "mine");
}

TEST_F(Reports, AComparisonShowsNoRunsOfOthers) {
  Make({"run", "--policy", "smk", "--seed", "2"}, "all/smk");
  const Ended ended = Call({Path("all")});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr(Path("all/smk/manifest.json") +
                                   ": is damaged or of another run: it does not have the hash in " +
                                   Path("all") + "/manifest.json"));
  EXPECT_EQ(Call({Path("all/smk")}).status, 0) << "which is good by itself";
  Make({"compare", "--policies", "even,smk"}, "all");
  EXPECT_EQ(Call({Path("all")}).status, 0);
}

TEST_F(Reports, EveryStatisticHasAMeaning) {
  Call({Path("one")});
  const ordered_json meanings = Data("one/report.html")["statistics"];
  for (const StatisticTable& table : StatisticTables()) {
    for (const Statistic& s : table.statistics) {
      EXPECT_EQ(meanings[table.object][s.name]["meaning"], s.meaning);
      EXPECT_EQ(meanings[table.object][s.name]["unit"], s.unit);
    }
  }
  // So that no number of the run is without one.
  const ordered_json kernel = Stats()["kernels"][0];
  for (const auto& [name, value] : kernel.items()) {
    EXPECT_TRUE(meanings["kernels"].contains(name)) << name;
  }
}

TEST_F(Reports, ARunWithoutNamesHasAPageAllTheSame) {
  ordered_json stats = Stats();
  stats["workload"] = 7;
  stats.erase("policy");
  EXPECT_EQ(WithStats(stats).status, 0) << "a title is no number of the run";
  EXPECT_EQ(Title("one/report.html"), " under ");
}

TEST_F(Reports, NumbersThatAreMissingAreRefusedInOneLine) {
  const ordered_json good = Stats();
  for (const char* key : {"schema", "cycles", "kernels", "sms"}) {
    for (const ordered_json& other :
         {ordered_json(nullptr), ordered_json("x"), ordered_json(0.5)}) {
      ordered_json stats = good;
      stats[key] = other;
      const Ended ended = WithStats(stats);
      EXPECT_EQ(ended.status, 2) << key << ": " << other << ended.out;
      EXPECT_THAT(ended.err, HasSubstr("one/stats.json: " + std::string(key) + ": expected "));
    }
  }
}

TEST_F(Reports, AComparisonOfNothingIsRefused) {
  Write("all/compare.json", R"({"schema": 1, "policies": []})");
  Unseal("all");
  const Ended ended = Call({Path("all")});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("all/compare.json: policies: expected a list of policies"));
}

TEST_F(Reports, AFolderThatIsBothIsAComparison) {
  std::filesystem::copy_file(Path("one/stats.json"), Path("all/stats.json"));
  Call({Path("all")});
  EXPECT_EQ(Data("all/report.html")["kind"], "compare");
}

}  // namespace
}  // namespace smk::sim
