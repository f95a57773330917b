// SPDX-License-Identifier: Apache-2.0
// The tables of a sweep's database. docs/results.md explains every column.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/database.h"

namespace smk::sim {

inline constexpr int kSweepSchema = 8;                // PRAGMA user_version
inline constexpr int kSweepApplication = 0x534d4b31;  // PRAGMA application_id: "SMK1"

// Names in the order of creation; a table comes after those that it refers to.
inline constexpr const char* kSweepTables[] = {"runs",        "kernels", "sms",     "stalls",
                                               "preemptions", "units",   "streams", "jobs",
                                               "settings",    "members"};
// Those that hold a run.
inline constexpr const char* kRunTables[] = {"runs",  "kernels", "sms",  "stalls",  "preemptions",
                                             "units", "streams", "jobs", "settings"};

// Makes all tables and views. `settings`: the columns of that table, if not ours.
std::string SweepSchemaSql(const std::optional<std::vector<std::string>>& settings = {});
// Throws InputError for a database that is not ours, of another schema, or with other tables than
// this schema has; an empty one is welcome.
void CheckSweepSchema(Database* database);
// The keys that have a column of `settings` in a database that this smk makes.
std::vector<std::string> OwnSettings();
// The keys that have a column of `settings` in this database: those of the smk that made it, and
// of those that wrote since.
std::vector<std::string> StoredSettings(Database* database);
void AddSettingColumns(Database* database, const std::vector<std::string>& keys = OwnSettings());

// The knobs that are columns of `runs`, each in this format, which may hold {name} and {type}.
std::string KnobColumns(const char* format);
// The same of other columns.
std::string NameColumns(const std::vector<std::string>& names, const char* format);

// Counters of `runs` besides instructions and bytes; counters and stalls of `kernels`; `stalls`:
// our reasons, and those of the papers' simulator.
std::vector<std::string> RunCounterColumns();
std::vector<std::string> KernelColumns();
std::vector<std::string> ReasonColumns();
std::vector<std::string> SimStallColumns();

// A column of `settings`: a key of --set, as one types it.
struct SettingColumn {
  std::string key, unit, meaning;
};
// The keys of a machine, but its name and `sms`, which are in `runs`; then the knobs.
std::vector<SettingColumn> SettingColumns();

}  // namespace smk::sim
