// SPDX-License-Identifier: Apache-2.0
// What the parser makes of a program's text and the compiler reads: statements with their lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "workload/program.h"

namespace smk {

// Throws InputError: "file:line: token: expected what".
[[noreturn]] inline void FailAt(const std::string& file, int line, const std::string& token,
                                const std::string& expected) {
  throw InputError(file + ":" + std::to_string(line) + ": " + token + ": expected " + expected);
}

// constant + sum of coefficient x name. Names are resolved by the compiler.
struct AffineSyntax {
  std::int64_t constant = 0;
  std::vector<std::pair<std::string, std::int64_t>> terms;
};

// [array x X y Y]: a texel of a tiled array per lane. Lane i is at position from + i x step of a
// window of so many texels by rows, whose first texel is (x, y).
struct TexelSyntax {
  AffineSyntax x, y, from;
  unsigned columns = 32, rows = 1;
  unsigned step = 1;
};

// [array + offset] and what follows it.
struct AccessSyntax {
  std::string array;
  AffineSyntax offset;
  std::optional<TexelSyntax> texels;
  unsigned lanes = 32;
  unsigned bytes = 4;
  std::optional<std::int64_t> stride;  // bytes between lanes; without: `bytes`
  std::optional<unsigned> row_lanes;   // `rows N pitch B`
  std::int64_t pitch = 0;
  bool wrap = false;
  std::optional<double> gather;  // mean number of distinct lines
  std::uint64_t window = 0;      // bytes
  double far = 0;                // probability per line
  std::uint32_t seed = 0;        // gathers with the same one meet at the same lines; 0: none
};

// Trip count of a loop.
struct TripSyntax {
  enum class Kind : std::uint8_t { kConstant, kUniform, kWeighted, kGeometric, kSteps };
  Kind kind = Kind::kConstant;
  bool per_tb = false;
  std::int64_t low = 0, high = 0;                        // kConstant: low; kGeometric: high = max
  double mean = 0;                                       // kGeometric
  std::vector<std::pair<std::int64_t, double>> entries;  // value: weight; kSteps: bound: value
  std::string variable;                                  // kSteps
};

struct ConditionSyntax {
  bool chance = false;
  bool per_tb = false;
  double probability = 0, both = 0;
  std::string variable;
  std::int64_t modulus = 0;  // 0: none
  std::int64_t low = 0, high = 0;
  bool negate = false;
};

// One statement, with the statements inside its braces.
struct Statement {
  enum class Kind : std::uint8_t { kInstruction, kLoop, kIf, kUnroll };
  Kind kind = Kind::kInstruction;
  int line = 0;
  // kInstruction
  OpClass op = OpClass::kAlu;
  std::string token;  // the instruction's name, for messages
  std::string dst;
  std::vector<std::string> src;
  unsigned conflicts = 1;
  unsigned repeat = 1;
  bool chain = false;
  unsigned ilp = 0;
  bool overwrites = false;
  Special special = Special::kNone;
  std::optional<AccessSyntax> access;
  // kLoop, kUnroll
  std::string name;
  TripSyntax trips;
  // kIf
  ConditionSyntax condition;
  std::vector<Statement> body;
  std::vector<Statement> otherwise;
};

}  // namespace smk
