// SPDX-License-Identifier: Apache-2.0
// Turns the statements of a program into its executable form.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "workload/program_code.h"
#include "workload/scope.h"
#include "workload/syntax.h"

namespace smk {

// Where an array lies in the program's memory; start and size are multiples of 128.
struct ArrayPlace {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  TileShape tiles{};  // of a tiled array; width 0: bytes in a row
};
using ArrayMap = std::map<std::string, ArrayPlace>;

// What a program is compiled for.
struct CompileTarget {
  std::string file;
  int line = 0;  // where the program begins, for errors of the whole program
  KernelGeometry geometry;
  const ArrayMap* arrays = nullptr;
  bool until_store = false;  // the kernel is idempotent until a store marked `overwrites`
};

// Trip counts of a loop: what Program draws from, and what is known of them.
struct CompiledTrips {
  TripSource source;
  std::vector<TripEntry> table;
  std::vector<double> survival;  // [i] = probability of more than i trips
  bool divergent = false;        // warps of a TB may differ
};

// `file` and `line` are for messages.
CompiledTrips CompileTrips(const TripSyntax& trips, const Scope& scope, const std::string& file,
                           int line);

// The access of the instruction `statement`, checked against the array's size.
// Texels of a tiled array are added to `texels`.
Access CompileAccess(const Statement& statement, const Scope& scope, const CompileTarget& target,
                     std::vector<Texels>* texels);

// Throws InputError when the program breaks a rule of docs/workloads.md.
std::shared_ptr<const Program> CompileProgram(const std::vector<Statement>& statements,
                                              const CompileTarget& target);

}  // namespace smk
