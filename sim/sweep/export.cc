// SPDX-License-Identifier: Apache-2.0
#include "sweep/export.h"

#include <fmt/format.h>

#include "base/csv_table.h"
#include "sweep/schema.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

// With what a stream came to.
constexpr char kRuns[] =
    "SELECT r.*, t.scheduler, t.device, t.makespan, t.throughput, t.mean_turnaround "
    "FROM results r JOIN wanted USING (run) LEFT JOIN stream_results t USING (run)";
constexpr char kOrder[] =
    " ORDER BY kernels, workload, machine, policy, scheduler, preempt, settings, cycles, seed, "
    "control, "
    "run";
// Of each kernel, in CSV.
constexpr const char* kKernelColumns[] = {"name", "ipc", "ipc_isolated", "normalized_ipc"};

// Makes the temporary table `wanted` of the runs to write.
void Want(Database* database, const std::optional<std::vector<std::string>>& runs) {
  database->Run("CREATE TEMP TABLE IF NOT EXISTS wanted (run TEXT PRIMARY KEY) WITHOUT ROWID");
  database->Run("DELETE FROM wanted");
  if (!runs) {
    database->Run("INSERT INTO wanted SELECT run FROM runs");
    return;
  }
  Statement insert(*database, "INSERT OR IGNORE INTO wanted VALUES (?)");
  for (const std::string& run : *runs) insert.With(run).Run();
}

std::string Experiments(Statement* members, const std::string& run, const char* separator) {
  std::string text;
  members->With(run);
  while (members->Step()) text += (text.empty() ? "" : separator) + members->Text(0);
  return text;
}

// Numbers so that they are read back as they were.
std::string NumberText(const Statement& row, int column) {
  return row.IsWhole(column) ? fmt::to_string(row.Number(column))
                             : fmt::format("{}", row.Real(column));
}

std::string CsvCell(const Statement& row, int column) {
  if (row.IsNull(column)) return "";
  if (row.IsNumber(column)) return NumberText(row, column);
  return QuotedCell(row.Text(column));
}

// The row as an object; without the column `run` when `part` of a run.
ordered_json JsonRow(const Statement& row, bool part) {
  ordered_json object = ordered_json::object();
  for (int column = 0; column < row.columns(); ++column) {
    const std::string name = row.ColumnName(column);
    if (!part || name != "run") object[name] = JsonCell(row, column);
  }
  return object;
}

constexpr char kMembersSql[] =
    "SELECT DISTINCT sweep || '/' || experiment FROM members WHERE run = ? ORDER BY 1";

}  // namespace

ordered_json JsonCell(const Statement& row, int column) {
  if (row.IsNull(column)) return nullptr;
  if (row.IsWhole(column)) return row.Number(column);
  if (row.IsNumber(column)) return row.Real(column);
  return row.Text(column);
}

void ExportCsv(SweepStore* store, const std::optional<std::vector<std::string>>& runs,
               std::FILE* out) {
  Database& database = store->database();
  Want(&database, runs);
  Statement rows(database, std::string(kRuns) + kOrder);
  Statement members(database, kMembersSql);
  Statement kernels(database,
                    fmt::format("SELECT {} FROM kernel_results WHERE run = ? ORDER BY slot",
                                fmt::join(kKernelColumns, ", ")));
  for (int column = 0; column < rows.columns(); ++column) {
    fmt::print(out, "{},", rows.ColumnName(column));
  }
  fmt::print(out, "experiments");
  const std::size_t slots = std::max<std::size_t>(
      kNumKernels, static_cast<std::size_t>(database.Number(
                       "SELECT IFNULL(MAX(slot), 0) + 1 FROM kernels JOIN wanted USING (run)")));
  for (std::size_t slot = 0; slot < slots; ++slot) {
    for (const char* column : kKernelColumns) fmt::print(out, ",{}_{}", column, slot);
  }
  fmt::print(out, "\n");
  while (rows.Step()) {
    std::string line;
    for (int column = 0; column < rows.columns(); ++column) line += CsvCell(rows, column) + ",";
    line += Experiments(&members, rows.Text(0), " ");
    kernels.With(rows.Text(0));
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const bool there = kernels.Step();
      for (int i = 0; i < kernels.columns(); ++i) line += "," + (there ? CsvCell(kernels, i) : "");
      if (!there) {
        for (++slot; slot < slots; ++slot) line += std::string(std::size(kKernelColumns), ',');
      }
    }
    fmt::print(out, "{}\n", line);
  }
}

void ExportJson(SweepStore* store, const std::optional<std::vector<std::string>>& runs,
                std::FILE* out) {
  Database& database = store->database();
  Want(&database, runs);
  Statement rows(database, std::string(kRuns) + kOrder);
  Statement members(database, kMembersSql);
  struct Part {
    const char* name;
    Statement rows;
  };
  Part parts[] = {
      {"kernels", {database, "SELECT * FROM kernel_results WHERE run = ? ORDER BY slot"}},
      {"sms", {database, "SELECT * FROM sms WHERE run = ? ORDER BY sm, slot"}},
      {"stalls", {database, "SELECT * FROM stalls WHERE run = ? ORDER BY sm"}},
      {"preemptions", {database, "SELECT * FROM preemptions WHERE run = ? ORDER BY slot"}},
      {"units", {database, "SELECT * FROM units WHERE run = ? ORDER BY slot"}},
      {"jobs", {database, "SELECT * FROM jobs WHERE run = ? ORDER BY slot"}}};
  fmt::print(out, "{{\"schema\": {}, \"runs\": [", kSweepSchema);
  const char* separator = "\n";
  while (rows.Step()) {
    ordered_json run = JsonRow(rows, false);
    const std::string id = rows.Text(0);
    run["experiments"] = ordered_json::array();
    members.With(id);
    while (members.Step()) run["experiments"].push_back(members.Text(0));
    for (Part& part : parts) {
      run[part.name] = ordered_json::array();
      part.rows.With(id);
      while (part.rows.Step()) run[part.name].push_back(JsonRow(part.rows, true));
    }
    fmt::print(out, "{}{}", separator,
               run.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    separator = ",\n";
  }
  fmt::print(out, "\n]}}\n");
}

}  // namespace smk::sim
