// SPDX-License-Identifier: Apache-2.0
// The database of sweeps: states, claims, failures, whose it is; and what is exported of it.
#include "sweep/store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/csv_table.h"
#include "sim/fake.h"
#include "sim/refusal.h"
#include "sim/scratch.h"
#include "sweep/damage.h"
#include "sweep/export.h"
#include "sweep/schema.h"

namespace smk::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Stores : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    backend = FakeBackend();
    SweepSpec spec;
    spec.name = "test";
    SpecExperiment experiment;
    experiment.name = "all";
    experiment.workloads = {{"a+b", 1}};
    experiment.policies = {{"smk", 1}};
    experiment.cycles = {{"16000", 1}};
    spec.experiments = {experiment};
    plan = ExpandSweep(spec, backend);
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
      if (plan.runs[i].workload == "a+b") both = i;
      if (plan.runs[i].workload == "a") alone = i;
    }
    store = std::make_unique<SweepStore>(Path("x.db"), StoreOptions{true, false});
    store->SetMembers(plan);
  }
  const std::string& Id(std::size_t i) const { return plan.runs[i].id; }
  RunResult ResultOf(std::size_t i) const {
    return FakeResult(LoadRun(plan.runs[i], backend).request);
  }
  void Store(std::size_t i, SweepStore* into, std::uint64_t row_hits = 0) const {
    RunResult result = ResultOf(i);
    result.dram_row_hits = row_hits;
    into->StoreResult(plan.runs[i], LoadRun(plan.runs[i], backend), result, "said");
  }
  void Fail(std::size_t i, SweepStore* into, const std::string& reason = "cycle 7") const {
    into->StoreFailure(plan.runs[i], LoadRun(plan.runs[i], backend), reason, "");
  }
  template <typename Write>
  std::string Exported(const Write& write) const {
    std::FILE* file = std::fopen(Path("export").c_str(), "w");
    write(file);
    std::fclose(file);
    return Read("export");
  }

  Backend backend;
  SweepPlan plan;
  std::size_t both = 0, alone = 0;
  std::unique_ptr<SweepStore> store;
};

TEST_F(Stores, ThePlanHasARunAndItsKernelsAlone) {
  ASSERT_EQ(plan.runs.size(), 3u);
  EXPECT_EQ(plan.members.size(), 3u);
  EXPECT_TRUE(plan.runs[alone].is_isolated());
  EXPECT_EQ(plan.runs[alone].isolated, std::vector<std::string>{Id(alone)}) << "names itself";
  EXPECT_EQ(plan.runs[both].isolated[0], Id(alone));
  for (const SweepRun& run : plan.runs) {
    EXPECT_EQ(run.id.size(), 16u);
    EXPECT_EQ(run.id.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
  EXPECT_THAT(RunCommandLine(plan.runs[both]), HasSubstr("smk run a+b "));
}

TEST_F(Stores, StatesAreDoneOrFailed) {
  EXPECT_TRUE(store->States().empty());
  Store(both, store.get());
  Fail(alone, store.get());
  EXPECT_THAT(store->States(), testing::UnorderedElementsAre(Pair(Id(both), RunState::kDone),
                                                             Pair(Id(alone), RunState::kFailed)));
  EXPECT_EQ(store->StateOf(Id(both)), RunState::kDone);
  EXPECT_EQ(store->StateOf(Id(alone)), RunState::kFailed);
}

TEST_F(Stores, AResultThatIsThereStays) {
  Store(both, store.get(), 5);
  Store(both, store.get(), 6);
  Fail(both, store.get());
  EXPECT_EQ(store->StateOf(Id(both)), RunState::kDone);
  EXPECT_EQ(store->database().Number("SELECT dram_row_hits FROM runs"), 5);
  EXPECT_EQ(store->database().Number("SELECT COUNT(*) FROM kernels"), 2) << "each once";
}

TEST_F(Stores, AFailureIsReplacedAndItsAttemptsAreCounted) {
  Fail(both, store.get(), "first");
  Fail(both, store.get(), "second");
  EXPECT_EQ(store->database().Text("SELECT attempts || error FROM runs"), "2second");
  Store(both, store.get());
  EXPECT_EQ(store->database().Text("SELECT attempts || status || error FROM runs"), "3done");
}

TEST_F(Stores, OfVeryLongMessagesTheEndIsKept) {
  const LoadedRun loaded = LoadRun(plan.runs[both], backend);
  store->StoreFailure(plan.runs[both], loaded, "x", std::string(100'000, 'a') + "the end");
  EXPECT_EQ(store->database().Number("SELECT LENGTH(stderr) FROM runs"), 65536);
  EXPECT_EQ(store->database().Text("SELECT SUBSTR(stderr, -7) FROM runs"), "the end");
}

TEST_F(Stores, ARunIsClaimedByOneOnly) {
  EXPECT_EQ(store->TryClaim(Id(both), false), Claim::kGranted);
  EXPECT_EQ(store->TryClaim(Id(both), false), Claim::kGranted) << "ours already";
  Statement(store->database(), "UPDATE claims SET owner = ?").With(OwnProcess() + "0").Run();
  EXPECT_EQ(store->TryClaim(Id(both), false), Claim::kGranted) << "its process has ended";
  SweepStore other(Path("x.db"), {});
  EXPECT_EQ(other.TryClaim(Id(alone), false), Claim::kGranted);
  other.GiveBack(Id(alone));
  EXPECT_EQ(store->database().Number("SELECT COUNT(*) FROM claims"), 1);
}

TEST_F(Stores, WhatIsFinishedIsNotGranted) {
  Store(both, store.get());
  Fail(alone, store.get());
  EXPECT_EQ(store->TryClaim(Id(both), false), Claim::kFinished);
  EXPECT_EQ(store->TryClaim(Id(both), true), Claim::kFinished) << "a result is never made again";
  EXPECT_EQ(store->TryClaim(Id(alone), false), Claim::kFinished);
  EXPECT_EQ(store->TryClaim(Id(alone), true), Claim::kGranted);
}

TEST_F(Stores, AResultEndsItsClaim) {
  store->TryClaim(Id(both), false);
  store->TryClaim(Id(alone), false);
  Store(both, store.get());
  Fail(alone, store.get());
  EXPECT_EQ(store->database().Number("SELECT COUNT(*) FROM claims"), 0);
}

TEST_F(Stores, TheOneWriterNeedsNoClaims) {
  SweepStore one(Path("one.db"), {true, true});
  EXPECT_EQ(one.TryClaim(Id(both), false), Claim::kGranted);
  EXPECT_EQ(one.database().Number("SELECT COUNT(*) FROM claims"), 0);
  one.GiveBack(Id(both));
  EXPECT_EQ(one.database().Text("PRAGMA journal_mode"), "truncate") << "no WAL on a network";
  EXPECT_EQ(store->database().Text("PRAGMA journal_mode"), "wal");
}

TEST_F(Stores, ProcessesAreKnownByHostNumberAndStart) {
  const std::string own = OwnProcess();
  EXPECT_TRUE(ProcessLives(own));
  EXPECT_FALSE(ProcessLives(own + "1")) << "another one with our number, later";
  EXPECT_FALSE(ProcessLives("elsewhere" + own.substr(own.find(' '))));
  EXPECT_FALSE(ProcessLives(""));
  EXPECT_FALSE(ProcessLives(own.substr(0, own.rfind(' '))));
  const std::string host = own.substr(0, own.find(' '));
  EXPECT_FALSE(ProcessLives(host + " 999999999 5")) << "no such process";
}

TEST_F(Stores, TheHashOfAResultIsOfAllButItsSpeed) {
  RunResult result = ResultOf(both);
  const std::string hash = ResultHash(result);
  result.wall_seconds *= 3;
  EXPECT_EQ(ResultHash(result), hash);
  ++result.kernels[1].l2_hits;
  EXPECT_NE(ResultHash(result), hash);
}

TEST_F(Stores, MembersAreThoseOfTheLastPlanOfTheirSweep) {
  SweepPlan smaller = plan;
  smaller.members.resize(1);
  store->SetMembers(smaller);
  EXPECT_EQ(store->database().Number("SELECT COUNT(*) FROM members"), 1);
  smaller.name = "other";
  store->SetMembers(smaller);
  EXPECT_EQ(store->database().Number("SELECT COUNT(*) FROM members"), 2);
}

TEST_F(Stores, ResultsOfAnotherBuildAreCounted) {
  Store(both, store.get());
  Fail(alone, store.get());
  EXPECT_EQ(store->OfOtherExecutables(plan), 0u);
  store->database().Run("UPDATE runs SET executable_sha256 = 'x'");
  EXPECT_EQ(store->OfOtherExecutables(plan), 1u) << "a failure is no result";
}

TEST_F(Stores, DatabasesOfOthersAreRefused) {
  EXPECT_EQ(Refusal([&] { SweepStore(Path("no.db"), {}); }), Path("no.db") + ": no such database");
  Write("text.db", "precious notes, and many of them\n");
  EXPECT_EQ(Refusal([&] { SweepStore(Path("text.db"), {}); }),
            Path("text.db") + ": file is not a database");
  Database(Path("other.db"), Database::Mode::kCreate).Run("CREATE TABLE t (x)");
  EXPECT_EQ(Refusal([&] { SweepStore(Path("other.db"), {}); }),
            Path("other.db") + ": expected a database of smk sweep");
  store->database().Run("PRAGMA user_version = 99");
  EXPECT_EQ(Refusal([&] { SweepStore(Path("x.db"), {}); }),
            Path("x.db") + ": its schema is version 99, this smk knows version 8; use a newer smk");
  std::filesystem::create_directory(Path("folder"));
  EXPECT_EQ(Refusal([&] {
              SweepStore(Path("folder"), {true, false});
            }),
            Path("folder") + ": unable to open database file");
}

TEST_F(Stores, AnEmptyFileIsWelcome) {
  Write("empty.db", "");
  SweepStore store(Path("empty.db"), {});
  EXPECT_TRUE(store.States().empty());
}

TEST_F(Stores, MergingTakesDoneBeforeFailed) {
  SweepStore other(Path("other.db"), {true, false});
  Store(both, &other);
  Store(alone, &other);
  Fail(both, store.get());
  const SweepStore::Merged merged = store->Merge(Path("other.db"));
  EXPECT_EQ(merged.done, 2u);
  EXPECT_EQ(merged.failed, 0u);
  EXPECT_TRUE(merged.conflicts.empty());
  EXPECT_EQ(store->StateOf(Id(both)), RunState::kDone);
  const SweepStore::Merged again = store->Merge(Path("other.db"));
  EXPECT_EQ(again.done + again.failed, 0u) << "nothing twice";
  EXPECT_EQ(store->database().Number("SELECT COUNT(*) FROM kernels"), 3);
}

TEST_F(Stores, MergingKeepsAResultBesideAFailure) {
  SweepStore other(Path("other.db"), {true, false});
  Fail(both, &other);
  Fail(alone, &other);
  Store(both, store.get());
  const SweepStore::Merged merged = store->Merge(Path("other.db"));
  EXPECT_EQ(merged.failed, 1u);
  EXPECT_EQ(store->StateOf(Id(both)), RunState::kDone);
  EXPECT_EQ(store->StateOf(Id(alone)), RunState::kFailed);
}

TEST_F(Stores, MergingTellsResultsThatDiffer) {
  SweepStore other(Path("other.db"), {true, false});
  Store(both, &other, 1);
  Store(both, store.get(), 2);
  EXPECT_THAT(store->Merge(Path("other.db")).conflicts, ElementsAre(Id(both)));
  EXPECT_EQ(store->database().Number("SELECT dram_row_hits FROM runs"), 2) << "ours stays";
}

// Every bit of what is stored: a number, a text, what is there twice, what belongs to no run.
TEST_F(Stores, ARunIsDamagedWhenOneCellIsAnother) {
  Store(both, store.get());
  Store(alone, store.get());
  Fail(3 - both - alone, store.get());
  Database& database = store->database();
  EXPECT_THAT(DamagedRuns(&database), ElementsAre());
  std::size_t cells = 0;
  for (const std::string table : kRunTables) {
    if (table == "streams" || table == "jobs") continue;  // SweepStreams
    std::vector<std::string> columns;
    Statement names(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
    while (names.Step()) columns.push_back(names.Text(0));
    for (const std::string& column : columns) {
      if (column == "run" || column == "status" || column == "sm" || column == "slot") continue;
      ++cells;
      Transaction undone(database);
      Statement(database,
                fmt::format("UPDATE {0} SET \"{1}\" = CASE WHEN typeof(\"{1}\") = 'text' THEN "
                            "\"{1}\" || '.' ELSE IFNULL(\"{1}\", 0) + 1 END WHERE run = ?",
                            table, column))
          .With(Id(both))
          .Run();
      EXPECT_THAT(DamagedRuns(&database), ElementsAre(Id(both))) << table << "." << column;
      EXPECT_THAT(DamagedRuns(&database, {{Id(alone)}}), ElementsAre()) << "of others";
    }
  }
  EXPECT_GT(cells, 60u);
  database.Run("DELETE FROM stalls WHERE sm = 1");
  EXPECT_EQ(DamagedRuns(&database).size(), 2u) << "a failed run has none";
}

TEST_F(Stores, DamagedRunsAreTakenAwayForAPlan) {
  Store(both, store.get());
  Store(alone, store.get());
  EXPECT_THAT(store->RemoveDamaged(plan), ElementsAre());
  store->database().Run("UPDATE kernels SET l2_hits = l2_hits + 1 WHERE name = 'b'");
  SweepPlan other = plan;
  other.runs.clear();
  EXPECT_THAT(store->RemoveDamaged(other), ElementsAre()) << "of this plan only";
  EXPECT_THAT(store->RemoveDamaged(plan), ElementsAre("the run " + Id(both) + " (a+b, smk)"));
  EXPECT_THAT(store->States(), ElementsAre(Pair(Id(alone), RunState::kDone)));
  Store(both, store.get());
  EXPECT_THAT(DamagedRuns(&store->database()), ElementsAre());
}

TEST_F(Stores, DamagedDatabasesAreNotMerged) {
  SweepStore other(Path("other.db"), {true, false});
  Store(both, &other);
  other.database().Run("UPDATE kernels SET l2_hits = l2_hits + 1");
  EXPECT_EQ(Refusal([&] { store->Merge(Path("other.db")); }),
            Path("other.db") + ": the run " + Id(both) +
                " (a+b, smk) is damaged: its rows do not have the hash that was stored with them; "
                "smk sweep SPEC --out " +
                Path("other.db") + " makes it again");
  EXPECT_TRUE(store->States().empty());
}

TEST_F(Stores, OtherTablesThanOursAreDamage) {
  store->database().Run("DROP VIEW results");
  store->database().Run("CREATE VIEW results AS SELECT *, 2 AS stp FROM runs");
  EXPECT_EQ(Refusal([&] { SweepStore(Path("x.db"), {}); }),
            Path("x.db") + ": the database is damaged: expected the tables of schema 8");
}

// Before version 8 runs had other columns.
TEST_F(Stores, OlderSchemasAreRefused) {
  store->database().Run("PRAGMA user_version = 7");
  EXPECT_EQ(Refusal([&] { SweepStore(Path("x.db"), {}); }),
            Path("x.db") + ": its schema is version 7, this smk knows version 8; use an older smk");
}

// A machine or a policy gets a new key: what is stored stays good, in either direction.
TEST_F(Stores, KeysThatCameLaterAreColumns) {
  Store(both, store.get());
  AddSettingColumns(&store->database(), {"sm.new_key"});
  EXPECT_THAT(DamagedRuns(&store->database()), ElementsAre());
  SweepStore other(Path("other.db"), {true, false});
  EXPECT_EQ(store->database().Number("SELECT COUNT(\"sm.new_key\") FROM results"), 0);
  store->database().Run("UPDATE settings SET \"sm.new_key\" = 7");
  EXPECT_THAT(DamagedRuns(&store->database()), ElementsAre(Id(both)));
  Statement seal(store->database(), "UPDATE runs SET rows_sha256 = ?");
  seal.With(RowHash(&store->database()).Of(Id(both))).Run();
  store.reset();
  EXPECT_EQ(other.Merge(Path("x.db")).done, 1u);
  EXPECT_EQ(other.database().Number("SELECT \"sm.new_key\" FROM results"), 7);
  EXPECT_THAT(DamagedRuns(&other.database()), ElementsAre());
  SweepStore reader(Path("x.db"), StoreOptions{false, false, true});
  EXPECT_THAT(DamagedRuns(&reader.database()), ElementsAre());
}

TEST_F(Stores, OnlySweepsAreMerged) {
  EXPECT_EQ(Refusal([&] { store->Merge(Path("no.db")); }), Path("no.db") + ": no such database");
  Write("text.db", std::string(2000, 'x'));
  EXPECT_EQ(Refusal([&] { store->Merge(Path("text.db")); }),
            Path("text.db") + ": file is not a database");
  Write("empty.db", "");
  EXPECT_EQ(store->Merge(Path("empty.db")).done, 0u);
}

TEST_F(Stores, JsonHasEachRunWithItsParts) {
  Store(alone, store.get());
  Store(both, store.get());
  Fail(3 - both - alone, store.get(), "cycle 7: \"no\"");
  const auto j = nlohmann::ordered_json::parse(
      Exported([&](std::FILE* out) { ExportJson(store.get(), std::nullopt, out); }));
  EXPECT_EQ(j["schema"], kSweepSchema);
  ASSERT_EQ(j["runs"].size(), 3u);
  std::map<std::string, nlohmann::ordered_json> runs;
  for (const auto& run : j["runs"]) runs[run["run"]] = run;
  const auto& pair = runs[Id(both)];
  EXPECT_EQ(pair["experiments"], nlohmann::ordered_json({"test/all"}));
  EXPECT_EQ(pair["kernels"].size(), 2u);
  EXPECT_EQ(pair["kernels"][1]["name"], "b");
  EXPECT_FALSE(pair["kernels"][0].contains("run"));
  EXPECT_EQ(pair["preemptions"].size(), 2u);
  EXPECT_EQ(pair["stalls"].size(), ResultOf(both).sms.size());
  EXPECT_EQ(pair["sms"].size(), 2 * ResultOf(both).sms.size());
  EXPECT_EQ(runs[Id(alone)]["kernels"].size(), 1u);
  const auto& failed = runs[Id(3 - both - alone)];
  EXPECT_EQ(failed["error"], "cycle 7: \"no\"");
  EXPECT_TRUE(failed["stp"].is_null());
}

TEST_F(Stores, CsvIsATableWithTheSameNumbers) {
  Store(alone, store.get());
  Store(both, store.get());
  Store(3 - both - alone, store.get());
  const auto j = nlohmann::ordered_json::parse(
      Exported([&](std::FILE* out) { ExportJson(store.get(), std::nullopt, out); }));
  Exported([&](std::FILE* out) { ExportCsv(store.get(), std::nullopt, out); });
  CsvTable table(Path("export"), {"run", "stp", "experiments", "name_0", "normalized_ipc_3"});
  for (const auto& run : j["runs"]) {
    ASSERT_TRUE(table.Next());
    EXPECT_EQ(table.Text(table.Column("run")), run["run"]) << "in the same order";
    EXPECT_EQ(table.Text(table.Column("experiments")), "test/all");
    EXPECT_EQ(std::stod(table.Text(table.Column("stp"))), run["stp"].get<double>());
    for (std::size_t slot = 0; slot < 4; ++slot) {
      const std::string name = table.Text(table.Column("name_" + std::to_string(slot)));
      if (slot < run["kernels"].size()) {
        EXPECT_EQ(name, run["kernels"][slot]["name"]);
      } else {
        EXPECT_EQ(name, "");
      }
    }
  }
  EXPECT_FALSE(table.Next());
}

TEST_F(Stores, OnlyWhatIsAskedForIsExported) {
  Store(alone, store.get());
  Store(both, store.get());
  const auto exported = [&](const std::vector<std::string>& ids) {
    return nlohmann::ordered_json::parse(
        Exported([&](std::FILE* out) { ExportJson(store.get(), ids, out); }))["runs"];
  };
  EXPECT_EQ(exported({Id(both)}).size(), 1u);
  EXPECT_EQ(exported({Id(both), Id(both), "unknown"}).size(), 1u);
  EXPECT_EQ(exported({}).size(), 0u);
  EXPECT_EQ(exported({Id(both), Id(alone)}).size(), 2u);
}

TEST_F(Stores, CellsWithCommasAreQuoted) {
  Fail(both, store.get(), "cycle 7: \"a\", b");
  Exported([&](std::FILE* out) { ExportCsv(store.get(), std::nullopt, out); });
  CsvTable table(Path("export"), {"error"});
  ASSERT_TRUE(table.Next());
  EXPECT_EQ(table.Text(table.Column("error")), "cycle 7: \"a\", b");
}

}  // namespace
}  // namespace smk::sim
