// SPDX-License-Identifier: Apache-2.0
// How much of their cycles the execution units of the SMs were taken.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/results.h"

namespace smk::sim {

// A kind of execution unit. `busy`: what KernelCounters() call `<name>_busy`.
struct Unit {
  const char* name;
  const char* meaning;  // goes on after "share of their cycles that"
  std::uint64_t KernelStats::*busy;
  unsigned UnitConfig::*pipes;  // of an SM; null: it has one
};
const std::vector<Unit>& Units();

// Of all kernels, and of one, from 0 to 1.
double Utilisation(const Results& results, const Unit& unit);
double KernelUtilisation(const Results& results, const Unit& unit, std::size_t kernel);

// "ALU 48 %, SFU 12 %, LSU 75 %", with DP only where there is any.
std::string UtilisationText(const Results& results);

}  // namespace smk::sim
