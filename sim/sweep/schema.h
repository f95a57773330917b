// SPDX-License-Identifier: Apache-2.0
// The tables of a sweep's database, version 1. docs/results.md explains every column.
#pragma once

#include <string>

namespace smk::sim {

inline constexpr int kSweepSchema = 1;                // PRAGMA user_version
inline constexpr int kSweepApplication = 0x534d4b31;  // PRAGMA application_id: "SMK1"

// Names in the order of creation; a table comes after those that it refers to.
inline constexpr const char* kSweepTables[] = {"runs",   "kernels",     "sms",
                                               "stalls", "preemptions", "members"};

// Makes all tables and views.
std::string SweepSchemaSql();

// The knobs that are columns of `runs`, each in this format, which may hold {name} and {type}.
std::string KnobColumns(const char* format);

}  // namespace smk::sim
