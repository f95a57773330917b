// SPDX-License-Identifier: Apache-2.0
// The tables of a sweep's database. docs/results.md explains every column.
#pragma once

#include <string>
#include <vector>

namespace smk::sim {

int SweepSchema();                                    // PRAGMA user_version
inline constexpr int kSweepApplication = 0x534d4b31;  // PRAGMA application_id: "SMK1"

// Names in the order of creation; a table comes after those that it refers to.
inline constexpr const char* kSweepTables[] = {"runs",   "kernels",     "sms",
                                               "stalls", "preemptions", "members"};
// Those that hold a run.
inline constexpr const char* kRunTables[] = {"runs", "kernels", "sms", "stalls", "preemptions"};

// Makes all tables and views.
std::string SweepSchemaSql();

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

}  // namespace smk::sim
