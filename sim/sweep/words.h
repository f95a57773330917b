// SPDX-License-Identifier: Apache-2.0
// A sweep without a file: its specification from the words of the command line.
#pragma once

#include <string>
#include <vector>

#include "sweep/spec.h"

namespace smk::sim {

// "smk,table:4,2,even" is three policies: numbers after a table belong to it.
std::vector<std::string> SplitPolicies(const std::string& text);

// What `smk sweep KERNELS --set KEY=A,B,C` says; lists have commas. "" or empty: not given.
struct SweepWords {
  std::string workloads;          // sgemm+lbm,cutcp+stencil
  std::vector<std::string> sets;  // sm.l1.bytes=24576,49152
  std::string policies, preempt, machines, control, cycles, until, seeds;

  // Whether there is more than workloads, so that these are no file.
  bool Given() const;
};

// Its name is made of the workloads and the keys with several values. Throws InputError.
SweepSpec SpecOfWords(const SweepWords& words);

}  // namespace smk::sim
