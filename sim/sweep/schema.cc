// SPDX-License-Identifier: Apache-2.0
#include "sweep/schema.h"

#include <fmt/format.h>

#include <algorithm>

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
  seed TEXT NOT NULL,
  settings TEXT NOT NULL,
  sms INTEGER NOT NULL,
  schedulers INTEGER NOT NULL,
  {knobs}
  command TEXT NOT NULL,
  warp_instructions INTEGER,
  dram_read_bytes INTEGER,
  dram_write_bytes INTEGER,
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

CREATE TABLE members (
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

CREATE VIEW kernel_results AS
SELECT k.*,
  CAST(k.warp_instructions AS REAL) / k.cycles_present AS ipc,
  CAST(i.warp_instructions AS REAL) / i.cycles_present AS ipc_isolated,
  (CAST(k.warp_instructions AS REAL) / k.cycles_present) /
    NULLIF(CAST(i.warp_instructions AS REAL) / i.cycles_present, 0) AS normalized_ipc,
  CAST(k.l1_hits AS REAL) / NULLIF(k.l1_accesses, 0) AS l1_hit_rate,
  CAST(k.l2_hits AS REAL) / NULLIF(k.l2_accesses, 0) AS l2_hit_rate
FROM kernels k LEFT JOIN kernels i ON i.run = k.isolated_run AND i.slot = 0;

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
FROM runs r;
)sql";

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
    if (counter.of_preemption == nullptr) names.emplace_back(counter.name);
  }
  for (const unsigned i : KernelStalls()) names.push_back(std::string("stall_") + kStallNames[i]);
  return names;
}

std::vector<std::string> ReasonColumns() { return {kStallNames.begin(), kStallNames.end()}; }

std::vector<std::string> SimStallColumns() {
  std::vector<std::string> names;
  for (const CounterText& stall : kSimStalls) names.emplace_back(stall.name);
  return names;
}

int SweepSchema() {
  int version = 3;
  for (const auto& c : RunCounters()) version = std::max(version, c.since);
  for (const auto& c : KernelCounters()) version = std::max(version, c.since);
  for (const auto& c : SmCounters()) version = std::max(version, c.since);
  for (const auto& c : kSimStalls) version = std::max(version, c.since);
  return version;
}

std::string SweepSchemaSql() {
  std::vector<std::string> preemptions, sms;
  for (const KernelCounter& counter : KernelCounters()) {
    if (counter.of_preemption != nullptr) preemptions.emplace_back(counter.of_preemption);
  }
  for (const SmCounter& counter : SmCounters()) sms.emplace_back(counter.name);
  constexpr char kNumber[] = "{name} INTEGER NOT NULL, ";
  return fmt::format(kSql, fmt::arg("knobs", KnobColumns("{name} {type} NOT NULL, ")),
                     fmt::arg("run_counters", NameColumns(RunCounterColumns(), "{name} INTEGER, ")),
                     fmt::arg("kernel_counters", NameColumns(KernelColumns(), kNumber)),
                     fmt::arg("preemption_counters", NameColumns(preemptions, kNumber)),
                     fmt::arg("sm_counters", NameColumns(sms, kNumber)),
                     fmt::arg("reasons", NameColumns(ReasonColumns(), kNumber)),
                     fmt::arg("sim_stalls", NameColumns(SimStallColumns(), kNumber)));
}

}  // namespace smk::sim
