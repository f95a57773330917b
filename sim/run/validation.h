// SPDX-License-Identifier: Apache-2.0
// Traces beside the cycles that another simulator, or a GPU, needs for them.
#pragma once

#include <string>
#include <vector>

#include "experiment/backend.h"
#include "experiment/experiment.h"

namespace smk::sim {

// A trace whose cycles are known.
struct ExpectedTrace {
  std::string trace;         // as the list has it: a folder, relative to that of the list
  std::string path;          // of the folder
  std::uint64_t cycles = 0;  // expected
};

// One of them when it has run.
struct ValidatedTrace {
  ExpectedTrace expected;
  std::uint64_t cycles = 0;             // the end of the last TB
  std::uint64_t warp_instructions = 0;  // issued
  double error() const {                // 0.1: 10 % too many
    const auto expects = static_cast<double>(expected.cycles);
    return (static_cast<double>(cycles) - expects) / expects;
  }
};

struct Validation {
  std::string machine;
  std::vector<ValidatedTrace> traces;  // in the order of the list

  double mean_error() const;             // of the absolute errors
  const ValidatedTrace& worst() const;   // by absolute error
  std::size_t outside(double by) const;  // traces with an absolute error of more
};

// Reads FOLDER/expected.csv, which has the columns trace and accelsim_cycles. Of several names in
// `only`, traces that begin with one of them; none: all. Throws InputError.
std::vector<ExpectedTrace> ReadExpected(const std::string& folder,
                                        const std::vector<std::string>& only);

// Runs each trace alone until its end, `jobs` at a time. `options` has the machine and the like,
// without kernels. Throws CheckFailure for a trace that does not end within its cycles.
Validation Validate(const std::vector<ExpectedTrace>& traces, const Options& options,
                    const Backend& backend, unsigned jobs, bool quiet);

std::string ValidationCsv(const Validation& validation);
std::string ValidationJson(const Validation& validation);

}  // namespace smk::sim
