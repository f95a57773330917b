// SPDX-License-Identifier: Apache-2.0
// SweepStore: damaged rows go, rows of another database come.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "base/database_uri.h"
#include "base/error.h"
#include "sweep/damage.h"
#include "sweep/schema.h"
#include "sweep/store.h"

namespace smk::sim {
namespace {

// Checks a database to be merged; false when there is nothing in it. A writer that was killed
// may have left something to be undone, so it is opened for writing where that is possible.
bool CheckOther(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw InputError(fmt::format("{}: no such database", path));
  }
  try {
    Database database(path, CanWriteBeside(path) ? Database::Mode::kWrite : Database::Mode::kRead);
    CheckSweepSchema(&database);
    if (database.Number("PRAGMA user_version") == 0) return false;
    RefuseDamage(&database);
    return true;
  } catch (const DatabaseError& error) {
    throw InputError(error.what());
  }
}

}  // namespace

void SweepStore::RequireReadable(const std::string& path) { CheckOther(path); }

std::vector<std::string> SweepStore::RemoveDamaged(const SweepPlan& plan) {
  std::vector<std::string> removed;
  const std::vector<std::string> damaged = DamagedRuns(&database_);
  Transaction transaction(database_);
  RemoveDamagedMembers(&database_);
  if (!damaged.empty()) {
    std::set<std::string> ours;
    for (const SweepRun& run : plan.runs) ours.insert(run.id);
    database_.Run("CREATE TEMP TABLE bad (run TEXT PRIMARY KEY)");
    for (const std::string& run : DamagedRuns(&database_)) {
      // An id that nobody asks for may be what was damaged.
      Statement asked(database_, "SELECT 1 FROM members WHERE run = ?");
      if (ours.count(run) == 0 && asked.With(run).Step()) continue;
      removed.push_back(DescribeRun(&database_, run));
      Statement(database_, "INSERT INTO bad VALUES (?)").With(run).Run();
    }
    Rewrite();
  }
  transaction.Commit();
  return removed;
}

void SweepStore::Rewrite() {
  for (const char* table : kRunTables) {
    database_.Run(fmt::format(
        "CREATE TEMP TABLE good AS SELECT * FROM main.{0} WHERE +run NOT IN (SELECT run FROM bad) "
        "AND +run IN (SELECT +run FROM main.runs);"
        "DELETE FROM main.{0}; INSERT OR IGNORE INTO main.{0} SELECT * FROM good ORDER BY 1, 2, 3;"
        "DROP TABLE good",
        table));
  }
  database_.Run("DROP TABLE bad");
}

std::size_t SweepStore::OfOtherExecutables(const SweepPlan& plan) {
  std::size_t others = 0;
  Statement select(database_,
                   "SELECT executable_sha256 <> ? FROM runs WHERE run = ? AND status = 'done'");
  for (const SweepRun& run : plan.runs) {
    if (select.With(executable_, run.id).Step() && select.Number(0) != 0) ++others;
  }
  return others;
}

void SweepStore::MergeSettings() {
  std::vector<std::string> keys;
  {
    Statement columns(
        database_, "SELECT name FROM pragma_table_info('settings', 'other') WHERE name <> 'run'");
    while (columns.Step()) keys.push_back(columns.Text(0));
  }
  AddSettingColumns(&database_, keys);
  std::string names = "run";
  for (const std::string& key : keys) names += fmt::format(", \"{}\"", key);
  database_.Run(fmt::format(
      "INSERT OR IGNORE INTO main.settings ({0}) SELECT {0} FROM other.settings WHERE run IN "
      "(SELECT run FROM fresh)",
      names));
}

SweepStore::Merged SweepStore::Merge(const std::string& path) {
  if (!CheckOther(path)) return {};
  const std::string absolute = std::filesystem::absolute(path).string();
  Statement(database_, "ATTACH ? AS other")
      .With(CanWriteBeside(path) ? absolute : UnchangingUri(path))
      .Run();
  Merged merged;
  {
    Transaction transaction(database_);
    Statement conflicts(database_,
                        "SELECT o.run FROM other.runs o JOIN main.runs r USING (run) WHERE "
                        "o.status = 'done' AND r.status = 'done' AND "
                        "o.result_sha256 <> r.result_sha256 ORDER BY 1");
    while (conflicts.Step()) merged.conflicts.push_back(conflicts.Text(0));
    // New here: runs that are not there, and results of runs that have failed here.
    database_.Run(
        "CREATE TEMP TABLE fresh AS SELECT o.run, o.status FROM other.runs o LEFT JOIN main.runs r "
        "USING (run) WHERE r.run IS NULL OR (r.status = 'failed' AND o.status = 'done')");
    merged.done = static_cast<std::size_t>(
        database_.Number("SELECT COUNT(*) FROM fresh WHERE status = 'done'"));
    merged.failed = static_cast<std::size_t>(
        database_.Number("SELECT COUNT(*) FROM fresh WHERE status = 'failed'"));
    database_.Run("DELETE FROM main.runs WHERE run IN (SELECT run FROM fresh)");
    for (const char* table : kSweepTables) {
      if (std::string(table) == "settings") {
        MergeSettings();
        continue;
      }
      const bool all = std::string(table) == "members";
      database_.Run(fmt::format("INSERT OR IGNORE INTO main.{0} SELECT * FROM other.{0}{1}", table,
                                all ? "" : " WHERE run IN (SELECT run FROM fresh)"));
    }
    database_.Run("DROP TABLE fresh");
    transaction.Commit();
  }
  database_.Run("DETACH other");
  return merged;
}

}  // namespace smk::sim
