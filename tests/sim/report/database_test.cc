// SPDX-License-Identifier: Apache-2.0
// The database of a sweep as columns for the page: every row, in the order of the export, with
// every counter of the lists.
#include "base/database.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "machine/statistics.h"
#include "report/data.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"
#include "sweep/export.h"
#include "sweep/schema.h"
#include "sweep/store.h"
#include "sweep/words.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ReportDatabases : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    SweepSpec spec;
    spec.name = "test";
    for (const char* name : {"first", "second"}) {
      SpecExperiment experiment;
      experiment.name = name;
      experiment.workloads = {{"b+a", 1}, {"a+b", 1}};
      experiment.policies = {{std::string(name) == "first" ? "smk" : "even", 1}};
      experiment.cycles = {{"16000", 1}};
      spec.experiments.push_back(experiment);
    }
    plan = ExpandSweep(spec, backend);
    store = std::make_unique<SweepStore>(Path("x.db"), StoreOptions{true, false});
    store->SetMembers(plan);
  }
  // Keeps the results of the runs for which `wanted` says so; each has numbers of its own.
  template <typename Wanted>
  void Make(const Wanted& wanted) {
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
      if (!wanted(plan.runs[i])) continue;
      const LoadedRun loaded = LoadRun(plan.runs[i], backend);
      RunResult result = FakeResult(loaded.request);
      std::uint64_t number = 1000 * i;
      for (const RunCounter& counter : RunCounters()) {
        if (counter.value != &RunResult::warp_instructions) result.*counter.value = ++number;
      }
      for (KernelStats& kernel : result.kernels) {
        for (const KernelCounter& counter : KernelCounters()) {
          const bool measured = counter.value == &KernelStats::warp_instructions ||
                                counter.value == &KernelStats::cycles_present;
          if (!measured) kernel.*counter.value = ++number;
        }
      }
      result.sms[0].tb_cycles[0] = 24000;
      store->StoreResult(plan.runs[i], loaded, result, "");
    }
  }
  void MakeAll() {
    Make([](const SweepRun&) { return true; });
  }
  ordered_json Read() const { return ReportDatabase(Path("x.db"), ""); }
  // What the export says of the same.
  ordered_json Exported() {
    std::FILE* file = std::fopen(Path("export").c_str(), "w");
    ExportJson(store.get(), std::nullopt, file);
    std::fclose(file);
    return ordered_json::parse(ScratchTest::Read("export"))["runs"];
  }
  // A cell of a column, whether its texts are kept once or not.
  static ordered_json Cell(const ordered_json& column, std::size_t row) {
    if (column.is_array()) return column.at(row);
    return column.at("texts").at(column.at("rows").at(row).get<std::size_t>());
  }

  Backend backend = FakeBackend();
  SweepPlan plan;
  std::unique_ptr<SweepStore> store;
};

TEST_F(ReportDatabases, RowsAreThoseOfTheExportInItsOrder) {
  MakeAll();
  const ordered_json j = Read(), exported = Exported();
  ASSERT_EQ(exported.size(), plan.runs.size());
  for (const auto& [name, column] : j["runs"].items()) {
    const bool of_export = exported[0].contains(name) && !exported[0][name].is_array();
    for (std::size_t i = 0; i < exported.size(); ++i) {
      if (!of_export) continue;
      EXPECT_EQ(Cell(column, i), exported[i][name]) << name << " of run " << i;
    }
  }
  std::size_t row = 0;
  for (std::size_t i = 0; i < exported.size(); ++i) {
    for (const ordered_json& kernel : exported[i]["kernels"]) {
      EXPECT_EQ(j["kernels"]["run"][row], i);
      for (const auto& [name, value] : kernel.items()) {
        if (j["kernels"].contains(name)) {
          EXPECT_EQ(Cell(j["kernels"][name], row), value) << name << " of kernel " << row;
        }
      }
      ++row;
    }
  }
  EXPECT_EQ(j["kernels"]["run"].size(), row);
}

TEST_F(ReportDatabases, EveryCounterIsAColumn) {
  MakeAll();
  const ordered_json j = Read();
  for (const RunCounter& counter : RunCounters()) {
    EXPECT_TRUE(j["runs"].contains(counter.name)) << counter.name;
  }
  for (const char* reason : kStallNames) {
    const std::string name = reason;
    EXPECT_TRUE(j["runs"].contains(name == "control" ? "control_stall" : name)) << name;
  }
  EXPECT_EQ(Cell(j["runs"]["control"], 0), "reference") << "the control plane";
  for (const KernelCounter& counter : KernelCounters()) {
    if (counter.of_preemption == nullptr) continue;
    ASSERT_TRUE(j["kernels"].contains(counter.name)) << counter.name;
    EXPECT_GT(j["kernels"][counter.name][0], 0) << counter.name;
  }
}

TEST_F(ReportDatabases, AKernelKnowsTheRowOfItsIsolatedRun) {
  MakeAll();
  const ordered_json j = Read();
  for (std::size_t row = 0; row < j["kernels"]["run"].size(); ++row) {
    const std::size_t isolated = j["kernels"]["isolated"][row];
    EXPECT_EQ(Cell(j["runs"]["policy"], isolated), "isolated");
    EXPECT_EQ(Cell(j["runs"]["workload"], isolated), Cell(j["kernels"]["name"], row));
    EXPECT_EQ(
        j["kernels"]["normalized_ipc"][row],
        j["kernels"]["ipc"][row].get<double>() / j["kernels"]["ipc_isolated"][row].get<double>());
  }
}

TEST_F(ReportDatabases, TextsThatRepeatAreThereOnce) {
  MakeAll();
  const ordered_json j = Read();
  EXPECT_THAT(j["runs"]["policy"]["texts"],
              testing::UnorderedElementsAre("isolated", "smk", "even"));
  EXPECT_EQ(j["runs"]["machine"]["texts"].size(), 1u);
  EXPECT_EQ(j["runs"]["policy"]["rows"].size(), plan.runs.size());
}

TEST_F(ReportDatabases, ResidencyIsAMeanInHundredths) {
  MakeAll();
  const ordered_json j = Read();
  const std::size_t sms = MachineConfig{}.sms;
  EXPECT_EQ(j["tbs"]["hundredths"].size(), sms * j["kernels"]["run"].size());
  EXPECT_EQ(j["tbs"]["hundredths"][0], 150) << "24000 TB cycles in 16000";
  EXPECT_EQ(j["tbs"]["hundredths"][1], 0);
}

TEST_F(ReportDatabases, ExperimentsTellWhatIsPlannedAndWhatIsThere) {
  Make([](const SweepRun& run) { return run.is_isolated() || run.policy == "smk"; });
  const ordered_json j = Read();
  ASSERT_EQ(j["experiments"].size(), 2u);
  EXPECT_EQ(j["experiments"][0]["sweep"], "test");
  EXPECT_EQ(j["experiments"][0]["name"], "first");
  EXPECT_EQ(j["experiments"][0]["planned"], 4);
  EXPECT_EQ(j["experiments"][0]["runs"].size(), 4u);
  EXPECT_EQ(j["experiments"][1]["name"], "second");
  EXPECT_EQ(j["experiments"][1]["planned"], 4);
  EXPECT_EQ(j["experiments"][1]["runs"].size(), 2u) << "its shared runs are still to come";
}

TEST_F(ReportDatabases, WithoutIsolatedRunsThereIsNothingToCompare) {
  Make([](const SweepRun& run) { return run.policy == "smk"; });
  const ordered_json j = Read();
  ASSERT_EQ(j["runs"]["run"].size(), 2u);
  EXPECT_TRUE(j["runs"]["stp"][0].is_null());
  EXPECT_TRUE(j["kernels"]["isolated"][0].is_null());
  EXPECT_TRUE(j["kernels"]["normalized_ipc"][0].is_null());
  EXPECT_GT(j["kernels"]["ipc"][0], 0);
}

TEST_F(ReportDatabases, FailuresAreAListOfTheirOwn) {
  Make([](const SweepRun& run) { return run.is_isolated(); });
  for (const SweepRun& run : plan.runs) {
    if (run.policy != "even") continue;
    store->StoreFailure(run, LoadRun(run, backend), "cycle 7: lost", "");
  }
  const ordered_json j = Read();
  EXPECT_EQ(j["runs"]["run"].size(), 2u);
  EXPECT_EQ(j["failed"]["workload"], ordered_json({"a+b", "b+a"}));
  EXPECT_EQ(j["failed"]["error"][0], "cycle 7: lost");
  EXPECT_THAT(j["failed"]["command"][0].get<std::string>(),
              StartsWith("smk run a+b --policy even"));
}

TEST_F(ReportDatabases, SettingsThatDifferAreColumnsWithTheirMeaning) {
  MakeAll();
  EXPECT_EQ(Read()["keys"], ordered_json::object()) << "nothing was set";
  SweepWords words;
  words.workloads = "a+b";
  words.sets = {"policy.epoch_length=1000,4000"};
  plan = ExpandSweep(SpecOfWords(words), backend);
  store->SetMembers(plan);
  MakeAll();
  const ordered_json j = Read();
  ASSERT_EQ(j["keys"].size(), 1u);
  EXPECT_THAT(j["keys"]["policy.epoch_length"]["meaning"].get<std::string>(),
              HasSubstr("instructions per scheduler"));
  const ordered_json& values = j["settings"]["policy.epoch_length"];
  ASSERT_EQ(values.size(), j["runs"]["run"].size());
  EXPECT_EQ(std::count(values.begin(), values.end(), 1000), 1);
  EXPECT_EQ(std::count(values.begin(), values.end(), 4000), 1);
  EXPECT_EQ(std::count(values.begin(), values.end(), 10000), static_cast<long>(values.size()) - 2)
      << "the default of all others";
}

TEST_F(ReportDatabases, PublishedValuesComeAlongWhenTheyAreThere) {
  MakeAll();
  const std::string papers = Write("paper.toml", "[[value]]\nname = 'x'\nis = 1.5\n");
  EXPECT_EQ(ReportDatabase(Path("x.db"), papers)["paper"]["value"][0]["is"], 1.5);
  EXPECT_EQ(ReportDatabase(Path("x.db"), Path("no.toml"))["paper"], ordered_json::object());
  const std::string broken = Write("broken.toml", "[[value\n");
  EXPECT_THAT(Refusal([&] { ReportDatabase(Path("x.db"), broken); }), StartsWith(broken + ":1: "));
}

TEST_F(ReportDatabases, WhatIsNoSweepIsRefused) {
  EXPECT_EQ(Refusal([&] { Read(); }), Path("x.db") + ": holds no runs yet");
  const std::string text = Write("text.db", "precious");
  EXPECT_THAT(Refusal([&] { ReportDatabase(text, ""); }), HasSubstr("text.db"));
  const std::string gone = Path("gone.db");
  EXPECT_THAT(Refusal([&] { ReportDatabase(gone, ""); }), HasSubstr("gone.db"));
  EXPECT_FALSE(Exists("gone.db")) << "a reader makes no file";
}

TEST_F(ReportDatabases, AMissingTableIsAnInputError) {
  MakeAll();
  store.reset();  // all is in the one file now
  for (const char* table : {"stalls", "preemptions", "sms", "members"}) {
    std::filesystem::copy_file(Path("x.db"), Path("copy.db"),
                               std::filesystem::copy_options::overwrite_existing);
    Database(Path("copy.db"), Database::Mode::kWrite).Run(std::string("DROP TABLE ") + table);
    EXPECT_THAT(Refusal([&] { ReportDatabase(Path("copy.db"), ""); }), HasSubstr("copy.db"))
        << table;
  }
}

}  // namespace
}  // namespace smk::sim
