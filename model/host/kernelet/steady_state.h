// SPDX-License-Identifier: Apache-2.0
// The steady state of a Markov chain: the row vector pi with pi P = pi and sum 1 ([Kernelet]
// eq. 2), by the linear solvers of Eigen.
//
// Small chains are solved as dense matrices by LU with partial pivoting. Large ones are solved as
// sparse matrices by BiCGSTAB, and transitions of next to no probability are left out of them.
// Both are set up so that every machine gives the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace smk {

struct Transition {
  std::uint32_t to = 0;  // a state
  double probability = 0;
};

// What a chain may cost.
struct ChainLimits {
  std::size_t most_states = 10'000;  // more are refused
  std::size_t dense_states = 300;    // up to so many: LU
  double negligible = 1e-10;         // BiCGSTAB leaves out transitions below
};

// Appends the transitions from a state to the list, each at most once; those below `negligible`
// may be left out.
using TransitionsFrom =
    std::function<void(std::uint32_t state, double negligible, std::vector<Transition>* row)>;

// For a chain whose states all lead into one set of states. `likely` is a state in that set, and
// should be one of its frequent ones; it is only used by BiCGSTAB. CheckFailure when what the
// solver found is not a steady state.
std::vector<double> SteadyState(std::size_t states, const TransitionsFrom& from,
                                std::uint32_t likely, const ChainLimits& limits);

}  // namespace smk
