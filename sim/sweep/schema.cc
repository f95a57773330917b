// SPDX-License-Identifier: Apache-2.0
#include "sweep/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "config/machine_keys.h"
#include "experiment/knobs.h"
#include "machine/statistics.h"
#include "run/results.h"

namespace smk::sim {
namespace {

constexpr char kSql[] = R"sql(
CREATE TABLE runs (
  run TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
  workload TEXT NOT NULL,
  mix TEXT NOT NULL,
  policy TEXT NOT NULL,
  preempt TEXT NOT NULL,
  machine TEXT NOT NULL,
  control TEXT NOT NULL,
  cycles INTEGER NOT NULL,
  run_cycles INTEGER,
  measured_cycles INTEGER,
  seed TEXT NOT NULL,
  settings TEXT NOT NULL,
  sms INTEGER NOT NULL,
  schedulers INTEGER NOT NULL,
  {knobs}
  command TEXT NOT NULL,
  warp_instructions INTEGER,
  dram_read_bytes INTEGER,
  dram_write_bytes INTEGER,
  late_reservations INTEGER,
  {run_counters}
  result_sha256 TEXT,
  rows_sha256 TEXT NOT NULL,
  wall_seconds REAL,
  finished TEXT NOT NULL,
  host TEXT NOT NULL,
  version TEXT NOT NULL,
  model_version TEXT NOT NULL,
  executable_sha256 TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  error TEXT NOT NULL,
  stderr TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE kernels (
  run TEXT NOT NULL REFERENCES runs,
  slot INTEGER NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  isolated_run TEXT NOT NULL,
  arrival INTEGER NOT NULL,
  {kernel_counters}
  PRIMARY KEY (run, slot)
) WITHOUT ROWID;

CREATE TABLE sms (
  run TEXT NOT NULL REFERENCES runs,
  sm INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  {sm_counters}
  partition_tbs INTEGER NOT NULL,
  PRIMARY KEY (run, sm, slot)
) WITHOUT ROWID;

CREATE TABLE stalls (
  run TEXT NOT NULL REFERENCES runs,
  sm INTEGER NOT NULL,
  {reasons}
  {sim_stalls}
  PRIMARY KEY (run, sm)
) WITHOUT ROWID;

CREATE TABLE preemptions (
  run TEXT NOT NULL REFERENCES runs,
  slot INTEGER NOT NULL,
  {preemption_counters}
  PRIMARY KEY (run, slot)
) WITHOUT ROWID;

{units}{streams}{settings}CREATE TABLE members (
  sweep TEXT NOT NULL,
  experiment TEXT NOT NULL,
  run TEXT NOT NULL,
  row_sha256 TEXT NOT NULL,
  PRIMARY KEY (sweep, experiment, run)
) WITHOUT ROWID;

CREATE TABLE claims (
  run TEXT PRIMARY KEY,
  owner TEXT NOT NULL
) WITHOUT ROWID;
)sql";

// A stream of jobs, and what happened to each. Isolated runs of its jobs have rows of `jobs`, too.
constexpr char kStreamsSql[] = R"sql(
CREATE TABLE streams (
  run TEXT PRIMARY KEY,
  scheduler TEXT NOT NULL,
  device TEXT NOT NULL,
  copies INTEGER NOT NULL,
  copy_in_bytes INTEGER NOT NULL,
  copy_out_bytes INTEGER NOT NULL,
  copy_in_cycles INTEGER NOT NULL,
  copy_out_cycles INTEGER NOT NULL,
  copy_overlapped_cycles INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE jobs (
  run TEXT NOT NULL,
  slot INTEGER NOT NULL,
  client TEXT NOT NULL,
  arrival INTEGER NOT NULL,
  ready INTEGER,
  start INTEGER,
  finish INTEGER,
  slices_completed INTEGER NOT NULL,
  PRIMARY KEY (run, slot)
) WITHOUT ROWID;

CREATE VIEW stream_results AS
SELECT s.*,
  (SELECT COUNT(*) FROM jobs j WHERE j.run = s.run) AS jobs,
  (SELECT COUNT(finish) FROM jobs j WHERE j.run = s.run) AS finished,
  (SELECT CASE WHEN COUNT(*) = COUNT(finish) THEN MAX(finish) - MIN(arrival) END
     FROM jobs j WHERE j.run = s.run) AS makespan,
  (SELECT CASE WHEN COUNT(*) = COUNT(finish)
     THEN 1e6 * COUNT(*) / NULLIF(MAX(finish) - MIN(arrival), 0) END
     FROM jobs j WHERE j.run = s.run) AS throughput,
  (SELECT AVG(finish - arrival) FROM jobs j WHERE j.run = s.run) AS mean_turnaround,
  CAST(s.copy_overlapped_cycles AS REAL) / NULLIF(s.copy_in_cycles + s.copy_out_cycles, 0)
    AS copy_overlap
FROM streams s;

)sql";

// A job that has ended did what it does alone: its time is what counts. In a merged launch it has
// executed the scheduler's code as well.
constexpr char kAloneInstructions[] =
    "CASE WHEN j.finish IS NOT NULL AND a.finish IS NOT NULL THEN k.warp_instructions "
    "ELSE i.warp_instructions END";
constexpr char kJobJoin[] =
    " LEFT JOIN jobs j ON j.run = k.run AND j.slot = k.slot"
    " LEFT JOIN jobs a ON a.run = k.isolated_run AND a.slot = 0";

constexpr char kKernelResultsSql[] = R"sql(
CREATE VIEW kernel_results AS
SELECT k.*,
  CAST(k.warp_instructions AS REAL) / k.cycles_present AS ipc,
  CAST({alone} AS REAL) / i.cycles_present AS ipc_isolated,
  (CAST(k.warp_instructions AS REAL) / k.cycles_present) /
    NULLIF(CAST({alone} AS REAL) / i.cycles_present, 0) AS normalized_ipc,
  CAST(k.l1_hits AS REAL) / NULLIF(k.l1_accesses, 0) AS l1_hit_rate,
  CAST(k.l2_hits AS REAL) / NULLIF(k.l2_accesses, 0) AS l2_hit_rate
FROM kernels k LEFT JOIN kernels i ON i.run = k.isolated_run AND i.slot = 0{join};
)sql";

constexpr char kResultsSql[] = R"sql(
CREATE VIEW results AS
SELECT r.*,
  (SELECT COUNT(*) FROM kernels k WHERE k.run = r.run) AS kernels,
  (SELECT CASE WHEN COUNT(*) = COUNT(normalized_ipc) THEN SUM(normalized_ipc) END
     FROM kernel_results k WHERE k.run = r.run) AS stp,
  (SELECT CASE WHEN COUNT(*) = COUNT(normalized_ipc) AND MIN(normalized_ipc) > 0
     THEN SUM(1 / normalized_ipc) / COUNT(*) END
     FROM kernel_results k WHERE k.run = r.run) AS antt,
  (SELECT CASE WHEN COUNT(*) = COUNT(normalized_ipc) AND MAX(normalized_ipc) > 0
     THEN MIN(normalized_ipc) / MAX(normalized_ipc) END
     FROM kernel_results k WHERE k.run = r.run) AS fairness,
  (SELECT SUM(count) FROM preemptions p WHERE p.run = r.run) AS preemptions,
  (SELECT SUM(context_bytes) FROM preemptions p WHERE p.run = r.run) AS context_bytes,
  (SELECT SUM(cycles) FROM preemptions p WHERE p.run = r.run) AS preemption_cycles
  {settings}
FROM runs r LEFT JOIN settings s USING (run);
)sql";

// Numbers become numbers, words stay words.
std::string SettingsSql(const std::vector<std::string>& keys) {
  std::string sql = "CREATE TABLE settings (run TEXT PRIMARY KEY";
  for (const std::string& key : keys) sql += fmt::format(", \"{}\" NUMERIC", key);
  return sql + ") WITHOUT ROWID;\n\n";
}

std::string UnitsSql() {
  std::vector<std::string> names;
  for (const KernelCounter& counter : KernelCounters()) {
    if (counter.of_unit) names.emplace_back(counter.name);
  }
  return fmt::format(
      "CREATE TABLE units (run TEXT NOT NULL, slot INTEGER NOT NULL, {}PRIMARY KEY (run, slot)) "
      "WITHOUT ROWID;\n\n",
      NameColumns(names, "{name} INTEGER NOT NULL, "));
}

std::string KernelResultsSql() {
  return fmt::format(kKernelResultsSql, fmt::arg("alone", kAloneInstructions),
                     fmt::arg("join", kJobJoin));
}

std::string ResultsSql(const std::vector<std::string>& keys) {
  std::string columns;
  for (const std::string& key : keys) columns += fmt::format(", s.\"{}\"", key);
  return fmt::format(kResultsSql, fmt::arg("settings", columns));
}

// What makes the tables and views of a database, in their order.
std::string TablesOf(Database* database) {
  Statement rows(*database,
                 "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY 1");
  std::string text;
  while (rows.Step()) text += rows.Text(0) + "\n" + rows.Text(1) + "\n";
  return text;
}

}  // namespace

std::string KnobColumns(const char* format) {
  std::string text;
  for (const Knob& knob : Knobs()) {
    if (!knob.has_column) continue;
    text += fmt::format(fmt::runtime(format), fmt::arg("name", knob.name()),
                        fmt::arg("type", knob.is_word ? "TEXT" : "INTEGER"));
  }
  return text;
}

std::string NameColumns(const std::vector<std::string>& names, const char* format) {
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format(fmt::runtime(format), fmt::arg("name", name));
  }
  return text;
}

std::vector<std::string> RunCounterColumns() {
  std::vector<std::string> names;
  for (const RunCounter& counter : RunCounters()) {
    if (counter.value != &RunResult::warp_instructions) names.emplace_back(counter.name);
  }
  return names;
}

std::vector<std::string> KernelColumns() {
  std::vector<std::string> names;
  for (const KernelCounter& counter : KernelCounters()) {
    if (counter.of_preemption == nullptr && !counter.of_unit) names.emplace_back(counter.name);
  }
  for (const unsigned i : KernelStalls()) names.push_back(std::string("stall_") + kStallNames[i]);
  return names;
}

std::vector<std::string> ReasonColumns() { return {kStallNames.begin(), kStallNames.end()}; }

std::vector<std::string> SimStallColumns() {
  std::vector<std::string> names;
  names.reserve(kSimStalls.size());
  for (const CounterText& stall : kSimStalls) names.emplace_back(stall.name);
  return names;
}

std::vector<std::string> OwnSettings() {
  std::vector<std::string> keys;
  for (const SettingColumn& column : SettingColumns()) keys.push_back(column.key);
  return keys;
}

std::string SweepSchemaSql(const std::optional<std::vector<std::string>>& settings) {
  const std::vector<std::string> keys = settings ? *settings : OwnSettings();
  std::vector<std::string> preemptions, sms;
  for (const KernelCounter& counter : KernelCounters()) {
    if (counter.of_preemption != nullptr) preemptions.emplace_back(counter.of_preemption);
  }
  for (const SmCounter& counter : SmCounters()) sms.emplace_back(counter.name);
  constexpr char kNumber[] = "{name} INTEGER NOT NULL, ";
  return fmt::format(kSql, fmt::arg("knobs", KnobColumns("{name} {type} NOT NULL, ")),
                     fmt::arg("units", UnitsSql()), fmt::arg("streams", kStreamsSql),
                     fmt::arg("settings", SettingsSql(keys)),
                     fmt::arg("run_counters", NameColumns(RunCounterColumns(), "{name} INTEGER, ")),
                     fmt::arg("kernel_counters", NameColumns(KernelColumns(), kNumber)),
                     fmt::arg("preemption_counters", NameColumns(preemptions, kNumber)),
                     fmt::arg("sm_counters", NameColumns(sms, kNumber)),
                     fmt::arg("reasons", NameColumns(ReasonColumns(), kNumber)),
                     fmt::arg("sim_stalls", NameColumns(SimStallColumns(), kNumber))) +
         KernelResultsSql() + ResultsSql(keys);
}

std::vector<std::string> StoredSettings(Database* database) {
  std::vector<std::string> keys;
  Statement columns(*database,
                    "SELECT name FROM pragma_table_info('settings') WHERE name <> 'run'");
  while (columns.Step()) keys.push_back(columns.Text(0));
  return keys;
}

void AddSettingColumns(Database* database, const std::vector<std::string>& keys) {
  std::vector<std::string> all = StoredSettings(database);
  const std::size_t before = all.size();
  for (const std::string& key : keys) {
    if (std::find(all.begin(), all.end(), key) != all.end()) continue;
    database->Run(fmt::format("ALTER TABLE settings ADD COLUMN \"{}\" NUMERIC", key));
    all.push_back(key);
  }
  if (all.size() > before) database->Run("DROP VIEW results;" + ResultsSql(all));
}

void CheckSweepSchema(Database* database) {
  // At one moment: another process may just be making the tables.
  database->Run("BEGIN");
  const std::int64_t tables = database->Number("SELECT COUNT(*) FROM sqlite_master");
  const std::int64_t version = database->Number("PRAGMA user_version");
  const std::int64_t application = database->Number("PRAGMA application_id");
  const std::string made_by = TablesOf(database);
  database->Run("COMMIT");
  if (version == 0 && tables == 0) return;
  if (application != kSweepApplication) {
    throw InputError(fmt::format("{}: expected a database of smk sweep", database->path()));
  }
  if (version != kSweepSchema) {
    throw InputError(fmt::format(
        "{}: its schema is version {}, this smk knows version {}; use {} smk", database->path(),
        version, kSweepSchema, version > kSweepSchema ? "a newer" : "an older"));
  }
  Database fresh(":memory:", Database::Mode::kCreate);
  fresh.Run(SweepSchemaSql(StoredSettings(database)));
  if (made_by != TablesOf(&fresh)) {
    throw InputError(fmt::format("{}: the database is damaged: expected the tables of schema {}",
                                 database->path(), version));
  }
}

std::vector<SettingColumn> SettingColumns() {
  std::vector<SettingColumn> columns;
  MachineConfig machine;
  NaturalLimits limits;
  for (const MachineKey& key : MachineKeys(&machine, &limits)) {
    if (key.path == "name" || key.path == "sms") continue;
    columns.push_back({key.path, key.unit, key.meaning});
  }
  for (const Knob* knob : SettableKnobs()) columns.push_back({knob->path, "", knob->meaning});
  return columns;
}

}  // namespace smk::sim
