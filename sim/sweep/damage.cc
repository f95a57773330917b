// SPDX-License-Identifier: Apache-2.0
#include "sweep/damage.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "base/sha256.h"
#include "sweep/schema.h"

namespace smk::sim {
namespace {

// Tables without a row of many runs: failed ones, and those that are no streams.
bool MayBeEmpty(const std::string& table) {
  return table == "settings" || table == "units" || table == "streams" || table == "jobs";
}

// Each cell with its type, and texts with their length, so that no two rows look alike. Columns
// that come later, as in `settings`, change nothing as long as they are empty.
void AddRow(const Statement& row, bool grows, std::string* text) {
  for (int column = 0; column < row.columns(); ++column) {
    if (row.ColumnName(column) == "rows_sha256") continue;
    if (grows && row.IsNull(column)) continue;
    if (grows) *text += row.ColumnName(column) + "=";
    if (row.IsNull(column)) {
      *text += "n,";
    } else if (row.IsWhole(column)) {
      *text += fmt::format("i{},", row.Number(column));
    } else if (row.IsNumber(column)) {
      const double value = row.Real(column);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      *text += fmt::format("r{:016x},", bits);
    } else {
      const std::string cell = row.Text(column);
      *text += fmt::format("t{}:{},", cell.size(), cell);
    }
  }
  *text += '\n';
}

// Throws when the file is no longer a database with our tables.
void CheckFile(Database* database) {
  const std::string said = database->Text("PRAGMA quick_check(1)");
  if (said != "ok") {
    throw InputError(fmt::format("{}: the database is damaged: {}", database->path(), said));
  }
}

}  // namespace

RowHash::RowHash(Database* database) {
  tables_.reserve(std::size(kRunTables));
  for (const char* table : kRunTables) {
    tables_.emplace_back(*database, fmt::format("SELECT * FROM {} WHERE run = ?", table));
  }
}

std::string RowHash::Of(const std::string& run) {
  std::string text;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::string rows;
    const std::string table = kRunTables[i];
    tables_[i].With(run);
    while (tables_[i].Step()) AddRow(tables_[i], table == "settings", &rows);
    // Older schemas had no such table.
    if (rows.empty() && MayBeEmpty(table)) continue;
    text += fmt::format("{}\n{}", kRunTables[i], rows);
  }
  return HashText(text);
}

std::string MemberHash(const std::string& sweep, const std::string& experiment,
                       const std::string& run) {
  return HashText(sweep + '\n' + experiment + '\n' + run);
}

void RemoveDamagedMembers(Database* database) {
  // Not row by row: what is not in its place is not found by its name.
  database->Run("CREATE TEMP TABLE good AS SELECT * FROM members LIMIT 0");
  {
    Statement rows(*database, "SELECT sweep, experiment, run, row_sha256 FROM members");
    Statement keep(*database, "INSERT INTO good VALUES (?, ?, ?, ?)");
    while (rows.Step()) {
      const std::string sweep = rows.Text(0), experiment = rows.Text(1), run = rows.Text(2);
      const std::string hash = MemberHash(sweep, experiment, run);
      if (hash == rows.Text(3)) keep.With(sweep, experiment, run, hash).Run();
    }
  }
  database->Run(
      "DELETE FROM members; INSERT OR IGNORE INTO members SELECT * FROM good; DROP TABLE good");
}

std::vector<std::string> DamagedRuns(Database* database,
                                     const std::optional<std::vector<std::string>>& runs) {
  CheckFile(database);
  std::vector<std::string> damaged;
  RowHash hash(database);
  const auto look = [&](const std::string& run, const std::string& stored) {
    if (hash.Of(run) != stored) damaged.push_back(run);
  };
  if (!runs) {
    Statement all(*database, "SELECT run, rows_sha256 FROM runs");
    while (all.Step()) look(all.Text(0), all.Text(1));
    return damaged;
  }
  Statement one(*database, "SELECT rows_sha256 FROM runs WHERE run = ?");
  for (const std::string& run : *runs) {
    if (one.With(run).Step()) look(run, one.Text(0));
  }
  return damaged;
}

std::string DescribeRun(Database* database, const std::string& run) {
  Statement row(*database, "SELECT workload || ', ' || policy FROM runs WHERE run = ?");
  return row.With(run).Step() ? fmt::format("the run {} ({})", run, row.Text(0)) : "the run " + run;
}

void RefuseDamage(Database* database, const std::optional<std::vector<std::string>>& runs) {
  const std::vector<std::string> damaged = DamagedRuns(database, runs);
  Statement members(*database, "SELECT sweep, experiment, run, row_sha256 FROM members");
  while (members.Step()) {
    if (MemberHash(members.Text(0), members.Text(1), members.Text(2)) == members.Text(3)) continue;
    throw InputError(
        fmt::format("{}: which runs the experiments have is damaged; smk sweep SPEC --out {} "
                    "makes it good",
                    database->path(), database->path()));
  }
  if (damaged.empty()) return;
  throw InputError(fmt::format(
      "{}: {}{} is damaged: its rows do not have the hash that was stored with them; smk sweep "
      "SPEC --out {} makes it again",
      database->path(), DescribeRun(database, damaged.front()),
      damaged.size() == 1 ? "" : fmt::format(", the first of {},", damaged.size()),
      database->path()));
}

}  // namespace smk::sim
