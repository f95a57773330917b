// SPDX-License-Identifier: Apache-2.0
// What the compiler knows at one place of a program: the loops and conditions around it, which
// values the variables can have there, and how often a warp is expected to get there.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "workload/program_parts.h"
#include "workload/syntax.h"

namespace smk {

// The launch that a program is compiled for.
struct KernelGeometry {
  unsigned threads = 32;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;

  unsigned warps() const { return (threads + kWarpThreads - 1) / kWarpThreads; }
  std::uint64_t tbs() const { return std::uint64_t{grid_x} * grid_y * grid_z; }
};

// A place in a program. A block inside another has a copy of its scope, with one thing added.
class Scope {
 public:
  explicit Scope(const KernelGeometry& geometry) : geometry_(geometry) {}

  // Trip counts by a variable of the TB: the first entry whose bound is above it.
  struct Steps {
    unsigned variable = 0;
    std::vector<TripEntry> table;
  };
  // Adds a loop; `survival[i]` is the probability of more than i trips. With `steps`, the trips are
  // known for each TB.
  void AddLoop(const std::string& name, std::vector<double> survival, const Steps* steps);
  void AddCondition(unsigned variable, const ConditionSyntax& condition, bool holds);
  void AddChance(double probability) { probability_ *= probability; }
  // Warps of one TB may differ here, because of the statement on `line`.
  void MarkDivergent(int line) {
    if (divergent_line_ == 0) divergent_line_ = line;
  }
  void AddCopyIndex(const std::string& name, std::int64_t value) { copies_[name] = value; }

  // Line of the outermost statement that lets warps of a TB differ; 0 when there is none.
  int divergent_line() const { return divergent_line_; }
  unsigned loop_depth() const { return static_cast<unsigned>(loops_.size()); }
  // Index of a variable by name, or -1.
  int FindVariable(const std::string& name) const;
  // Value of a copy index (unroll), or null.
  const std::int64_t* FindCopyIndex(const std::string& name) const;

  struct Range {
    std::int64_t low = 0, high = 0;
  };
  // Values a variable may have here.
  Range RangeOf(unsigned variable) const;
  // Part of the values 0..below-1 in all values of the variable, conditions left aside.
  double PartBelow(unsigned variable, std::uint64_t below) const;
  unsigned MaxTrips(unsigned level) const {
    return static_cast<unsigned>(loops_[level].survival->size());
  }
  // Expected executions of an instruction here, per warp.
  double Executions() const;
  // Most executions of an instruction here by one warp.
  double MaxExecutions() const;

 private:
  struct Rule {
    unsigned variable = 0;
    ConditionSyntax condition;
    bool holds = true;
  };
  struct Loop {
    std::string name;
    std::shared_ptr<const std::vector<double>> survival;
    std::shared_ptr<const Steps> steps;  // null: drawn or constant
  };

  std::uint64_t Values(unsigned variable) const;
  bool Holds(unsigned variable, std::uint64_t value) const;
  double WarpPart() const;
  std::vector<unsigned> CountTrips(unsigned level) const;
  double TbPart() const;

  KernelGeometry geometry_;
  std::vector<Loop> loops_;
  std::vector<Rule> rules_;
  std::map<std::string, std::int64_t> copies_;
  double probability_ = 1;
  int divergent_line_ = 0;
};

}  // namespace smk
