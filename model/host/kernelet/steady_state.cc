// SPDX-License-Identifier: Apache-2.0
// The order of additions must not depend on the machine: no vectors, whose width would decide it,
// and fixed sizes of the caches, after which Eigen sizes its blocks.
// NOLINTBEGIN(readability-identifier-naming): Eigen's names
#define EIGEN_DONT_VECTORIZE
#define EIGEN_DONT_PARALLELIZE
// NOLINTEND(readability-identifier-naming)
#include "host/kernelet/steady_state.h"

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <string>

#include "base/error.h"

namespace smk {
namespace {

using Vector = Eigen::VectorXd;

// Most by which pi P may differ from pi, as a sum over all states.
constexpr double kResidual = 1e-9;
constexpr double kTolerance = 1e-13;  // of BiCGSTAB
constexpr int kIterations = 1'000;

void FixOrderOfAdditions() { Eigen::setCpuCacheSizes(32 << 10, 256 << 10, 2 << 20); }

// A row of P - I, in the order of the states. The diagonal is what the others add up to: no digits
// cancel.
void GetRow(std::uint32_t state, const TransitionsFrom& from, double negligible,
            std::vector<Transition>* row) {
  row->clear();
  from(state, negligible, row);
  const auto earlier = [](const Transition& x, const Transition& y) { return x.to < y.to; };
  std::sort(row->begin(), row->end(), earlier);
  auto self = std::lower_bound(row->begin(), row->end(), Transition{state}, earlier);
  if (self == row->end() || self->to != state) self = row->insert(self, Transition{state});
  self->probability = 0;
  double leaves = 0;
  for (const Transition& t : *row) leaves += t.probability;
  self->probability = -leaves;
}

[[noreturn]] void Fail(const std::string& how) {
  throw CheckFailure("Markov chain: " + how + " found no steady state");
}

// Rounding may leave probabilities a little below zero.
std::vector<double> Normalized(const Vector& pi) {
  std::vector<double> result(pi.data(), pi.data() + pi.size());
  double sum = 0;
  for (double& p : result) sum += p = std::max(p, 0.0);
  for (double& p : result) p /= sum;
  return result;
}

// The equations of all states but the last, whose own follows from them; the sum in its place.
std::vector<double> SolveDense(std::size_t states, const TransitionsFrom& from) {
  const auto n = static_cast<Eigen::Index>(states);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  std::vector<Transition> row;
  for (std::uint32_t s = 0; s < states; ++s) {
    GetRow(s, from, 0, &row);
    for (const Transition& t : row) a(t.to, s) = t.probability;
  }
  a.row(n - 1).setOnes();
  Vector b = Vector::Zero(n);
  b(n - 1) = 1;
  const Vector pi = a.partialPivLu().solve(b);
  if (!((a * pi - b).lpNorm<1>() <= kResidual)) Fail("LU");
  return Normalized(pi);
}

// The likely state has probability 1, and its equation is left out; the sum is mended afterwards.
std::vector<double> SolveSparse(std::size_t states, const TransitionsFrom& from,
                                std::uint32_t likely, double negligible) {
  const auto n = static_cast<Eigen::Index>(states);
  Eigen::SparseMatrix<double> a(n - 1, n - 1);
  Vector b = Vector::Zero(n - 1);
  const auto place = [likely](std::uint32_t s) { return static_cast<int>(s - (s > likely)); };
  std::vector<Transition> row;
  for (std::uint32_t s = 0; s < states; ++s) {
    GetRow(s, from, negligible, &row);
    if (s != likely) a.startVec(place(s));
    for (const Transition& t : row) {
      if (t.to == likely) continue;
      if (s == likely) {
        b(place(t.to)) = -t.probability;
      } else {
        a.insertBack(place(t.to), place(s)) = t.probability;
      }
    }
  }
  a.finalize();
  Eigen::BiCGSTAB<Eigen::SparseMatrix<double>> solver;
  solver.setTolerance(kTolerance);
  solver.setMaxIterations(kIterations);
  solver.compute(a);
  const Vector x = solver.solve(b);
  const double sum = 1 + x.sum();
  if (!((a * x - b).lpNorm<1>() / sum <= kResidual)) Fail("BiCGSTAB");
  Vector pi(n);
  for (std::uint32_t s = 0; s < states; ++s) pi(s) = s == likely ? 1 : x(place(s));
  return Normalized(pi);
}

}  // namespace

std::vector<double> SteadyState(std::size_t states, const TransitionsFrom& from,
                                std::uint32_t likely, const ChainLimits& limits) {
  if (states == 0 || states > limits.most_states) {
    throw InputError("Markov chain: expected 1 to " + std::to_string(limits.most_states) +
                     " states, found " + std::to_string(states));
  }
  FixOrderOfAdditions();
  if (states <= std::max<std::size_t>(limits.dense_states, 1)) return SolveDense(states, from);
  return SolveSparse(states, from, likely, limits.negligible);
}

}  // namespace smk
