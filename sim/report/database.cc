// SPDX-License-Identifier: Apache-2.0
// Databases of `smk sweep`, as columns.
#include "base/database.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/toml_file.h"
#include "machine/statistics.h"
#include "report/data.h"
#include "sweep/damage.h"
#include "sweep/export.h"
#include "sweep/schema.h"
#include "sweep/store.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

// Texts that repeat: each once, and for each row which one.
class TextColumn {
 public:
  void Add(const std::string& text) {
    const auto [place, added] = index_of_.emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    rows_.push_back(place->second);
  }
  ordered_json Json() const { return {{"texts", texts_}, {"rows", rows_}}; }

 private:
  std::map<std::string, std::size_t> index_of_;
  std::vector<std::string> texts_;
  std::vector<std::size_t> rows_;
};

// All rows of a statement, as columns by name. Those in `repeating` are TextColumns.
ordered_json Columns(Database* database, const std::string& sql,
                     const std::vector<std::string>& repeating = {}) {
  Statement rows(*database, sql);
  ordered_json j = ordered_json::object();
  std::vector<ordered_json> columns(static_cast<std::size_t>(rows.columns()),
                                    ordered_json::array());
  std::vector<TextColumn> texts(columns.size());
  std::vector<bool> is_text(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string name = rows.ColumnName(static_cast<int>(i));
    is_text[i] = std::find(repeating.begin(), repeating.end(), name) != repeating.end();
  }
  while (rows.Step()) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const int column = static_cast<int>(i);
      if (is_text[i]) {
        texts[i].Add(rows.Text(column));
      } else {
        columns[i].push_back(JsonCell(rows, column));
      }
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    j[rows.ColumnName(static_cast<int>(i))] = is_text[i] ? texts[i].Json() : columns[i];
  }
  return j;
}

// The order of everything in the page: that of the export.
constexpr char kNumbered[] = R"sql(
CREATE TEMP TABLE numbered AS
SELECT run, ROW_NUMBER() OVER (ORDER BY (SELECT COUNT(*) FROM kernels k WHERE k.run = runs.run),
  workload, machine, policy, (SELECT scheduler FROM streams s WHERE s.run = runs.run), preempt,
  settings, cycles, seed, control, run) - 1 AS number
FROM runs WHERE status = 'done';
CREATE UNIQUE INDEX temp.by_run ON numbered (run);
)sql";

// {knobs}, {counters} and the like are columns, each with a comma behind.
constexpr char kRuns[] = R"sql(
SELECT r.run, r.workload, r.mix, r.policy, r.preempt, r.machine, r.control, r.cycles, r.run_cycles,
  r.measured_cycles, r.seed,
  r.settings, r.sms, r.schedulers, {knobs}
  r.command, r.kernels, r.stp, r.antt, r.fairness, r.warp_instructions, r.dram_read_bytes,
  r.dram_write_bytes, {counters} r.wall_seconds, r.preemptions, r.context_bytes, r.preemption_cycles,
  r.version, {stalls} r.model_version, t.scheduler, t.device, t.makespan, t.throughput, t.mean_turnaround,
  (SELECT COUNT(DISTINCT sm) FROM sms WHERE sms.run = n.run) AS sm_rows
FROM numbered n JOIN results r USING (run) LEFT JOIN stream_results t USING (run) LEFT JOIN (
  SELECT {sums} run FROM stalls GROUP BY run) s USING (run)
ORDER BY n.number
)sql";

constexpr char kKernels[] = R"sql(
SELECT n.number AS run, i.number AS isolated, k.name, k.type, k.arrival, k.ipc, k.ipc_isolated, k.normalized_ipc,
  {counters} {preemptions} c.client, k.slot
FROM numbered n JOIN kernel_results k USING (run)
  LEFT JOIN jobs c ON c.run = k.run AND c.slot = k.slot
  LEFT JOIN preemptions p ON p.run = k.run AND p.slot = k.slot
  LEFT JOIN numbered i ON i.run = k.isolated_run
ORDER BY n.number, k.slot
)sql";

// Mean resident TBs in hundredths, by run, SM and kernel; their number follows from the run.
constexpr char kTbs[] = R"sql(
SELECT CAST(ROUND(100.0 * s.tb_cycles / r.measured_cycles) AS INTEGER) AS hundredths
FROM numbered n JOIN sms s USING (run) JOIN runs r USING (run)
ORDER BY n.number, s.sm, s.slot
)sql";

// The settings that differ between runs, as columns.
ordered_json Settings(Database* database) {
  std::string counts;
  const std::vector<std::string> all = StoredSettings(database);
  for (const std::string& key : all) counts += fmt::format("COUNT(DISTINCT s.\"{}\"), ", key);
  Statement differ(*database, "SELECT " + counts + "0 FROM numbered JOIN settings s USING (run)");
  differ.Step();
  std::string names;
  ordered_json j;
  j["keys"] = ordered_json::object();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (differ.Number(static_cast<int>(i)) < 2) continue;
    names += fmt::format("s.\"{}\", ", all[i]);
    for (const SettingColumn& known : SettingColumns()) {
      if (known.key != all[i]) continue;
      j["keys"][all[i]] = {{"unit", known.unit}, {"meaning", known.meaning}};
    }
  }
  j["settings"] = Columns(database, "SELECT " + names +
                                        "n.number FROM numbered n LEFT JOIN settings s USING "
                                        "(run) ORDER BY n.number");
  return j;
}

constexpr char kFailed[] =
    "SELECT run, workload, policy, settings, command, error FROM runs WHERE status = 'failed' "
    "ORDER BY workload, policy, run";

std::string RunsSql() {
  std::string stalls;
  for (const std::string& reason : ReasonColumns()) {
    // `control` is the control plane, too.
    stalls += fmt::format("s.{}{}, ", reason, reason == "control" ? " AS control_stall" : "");
  }
  return fmt::format(kRuns, fmt::arg("knobs", KnobColumns("r.{name}, ")),
                     fmt::arg("counters", NameColumns(RunCounterColumns(), "r.{name}, ")),
                     fmt::arg("stalls", stalls),
                     fmt::arg("sums", NameColumns(ReasonColumns(), "SUM({name}) AS {name}, ")));
}

std::string KernelsSql() {
  std::string preemptions;
  for (const KernelCounter& counter : KernelCounters()) {
    if (counter.of_preemption == nullptr) continue;
    preemptions += fmt::format("p.{} AS {}, ", counter.of_preemption, counter.name);
  }
  return fmt::format(kKernels, fmt::arg("counters", NameColumns(KernelColumns(), "k.{name}, ")),
                     fmt::arg("preemptions", preemptions));
}

ordered_json Experiments(Database* database) {
  ordered_json list = ordered_json::array();
  Statement rows(*database,
                 "SELECT m.sweep, m.experiment, n.number FROM members m LEFT JOIN numbered n "
                 "USING (run) ORDER BY 1, 2, 3");
  while (rows.Step()) {
    const std::string sweep = rows.Text(0), experiment = rows.Text(1);
    if (list.empty() || list.back()["sweep"] != sweep || list.back()["name"] != experiment) {
      list.push_back({{"sweep", sweep},
                      {"name", experiment},
                      {"planned", 0},
                      {"runs", ordered_json::array()}});
    }
    list.back()["planned"] = list.back()["planned"].get<int>() + 1;
    if (!rows.IsNull(2)) list.back()["runs"].push_back(rows.Number(2));
  }
  return list;
}

// The published values: a TOML file with the lists `value` and `ratio`.
ordered_json PaperValues(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return ordered_json::object();
  return TomlFileAsJson(path);
}

ordered_json ReadAll(const std::string& path) {
  Database database(path, Database::Mode::kRead);
  CheckSweepSchema(&database);
  if (database.Number("PRAGMA user_version") == 0 ||
      database.Number("SELECT COUNT(*) FROM runs") == 0) {
    throw InputError(fmt::format("{}: holds no runs yet", path));
  }
  RefuseDamage(&database);
  // One state of the file, whoever writes to it meanwhile.
  database.Run("BEGIN");
  database.Run(kNumbered);
  ordered_json j;
  j["runs"] = Columns(&database, RunsSql(),
                      {"workload", "mix", "policy", "preempt", "machine", "control", "seed",
                       "settings", "version", "model_version"});
  j["kernels"] = Columns(&database, KernelsSql(), {"name", "type", "client"});
  j["tbs"] = Columns(&database, kTbs);
  j["failed"] = Columns(&database, kFailed);
  j["experiments"] = Experiments(&database);
  j.update(Settings(&database));
  return j;
}

}  // namespace

ordered_json ReportDatabase(const std::string& path, const std::string& papers) {
  ordered_json j;
  try {
    j = ReadAll(path);
  } catch (const DatabaseError& error) {
    throw InputError(error.what());
  }
  j["paper"] = PaperValues(papers);
  return j;
}

}  // namespace smk::sim
