// SPDX-License-Identifier: Apache-2.0
#include "host/kernelet/co_schedule.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "base/error.h"
#include "workload/random.h"

namespace smk {
namespace {

// When both differences are below, they are none: every pair is kept.
constexpr double kNoDifference = 1e-3;
// Times, as parts of each other, and profits that differ by less are the same but for rounding.
constexpr double kSame = 1e-9;

// True when x is the better of two pairs of sizes [D43]; `time` is how long slices take.
bool IsBetter(const SlicePair& x, const SlicePair& y, double time) {
  const double difference = x.difference - y.difference;
  if (std::fabs(difference) > kSame * time) return difference < 0;
  if (std::fabs(x.profit - y.profit) > kSame) return x.profit > y.profit;
  return std::min(x.tbs[0], x.tbs[1]) > std::min(y.tbs[0], y.tbs[1]);
}

}  // namespace

double CoSchedulingProfit(const std::vector<double>& together, const std::vector<double>& alone) {
  if (together.empty() || together.size() != alone.size()) {
    throw InputError("profit: expected an IPC together and one alone of every kernel");
  }
  double sum = 0;
  for (std::size_t i = 0; i < together.size(); ++i) {
    if (!(together[i] > 0) || !(alone[i] > 0)) throw InputError("profit: expected IPCs above 0");
    sum += together[i] / alone[i];
  }
  return 1 - 1 / sum;
}

double TimeDifference(double instructions_1, double tbs_1, double ipc_1, double instructions_2,
                      double tbs_2, double ipc_2) {
  return std::fabs(instructions_1 * tbs_1 / ipc_1 - instructions_2 * tbs_2 / ipc_2);
}

CoScheduleFinder::CoScheduleFinder(const KerneletMachine& machine,
                                   std::vector<KerneletKernel> kernels,
                                   const CoScheduleParams& params, const ChainLimits& limits)
    : model_(machine, limits), kernels_(std::move(kernels)), params_(params) {
  Check(params);
  for (const KerneletKernel& kernel : kernels_) model_.Check(kernel);
}

void CoScheduleFinder::Check(const CoScheduleParams& params) const {
  if (!(params.pur_difference >= 0 && params.pur_difference <= 1) ||
      !(params.mur_difference >= 0 && params.mur_difference <= 1)) {
    throw InputError("pruning: pur_difference and mur_difference: expected 0 to 1");
  }
  if (!(params.relax >= 0 && params.relax < 1)) {
    throw InputError("pruning: relax: expected at least 0 and below 1");
  }
  if (params.least_profit && !std::isfinite(*params.least_profit)) {
    throw InputError("least_profit: expected a number");
  }
}

double CoScheduleFinder::Alone(std::size_t kernel) {
  const auto [place, is_new] = alone_.emplace(kernel, 0);
  if (is_new) place->second = model_.Alone(kernels_[kernel], model_.MostTbs(kernels_[kernel]));
  return place->second;
}

std::vector<std::pair<unsigned, unsigned>> CoScheduleFinder::Sizes(std::size_t a,
                                                                   std::size_t b) const {
  const KerneletKernel &ka = kernels_[a], &kb = kernels_[b];
  std::vector<std::pair<unsigned, unsigned>> sizes;
  for (unsigned i = ka.least_tbs; model_.Fit(ka, i, kb, kb.least_tbs); ++i) {
    unsigned j = kb.least_tbs;
    if (params_.sizes == SliceSizes::kAll) {
      for (; model_.Fit(ka, i, kb, j); ++j) sizes.emplace_back(i, j);
      continue;
    }
    while (model_.Fit(ka, i, kb, j + 1)) ++j;
    if (!model_.Fit(ka, i + 1, kb, j)) sizes.emplace_back(i, j);
  }
  return sizes;
}

bool CoScheduleFinder::AnyFits(std::size_t a, std::size_t b) const {
  return model_.Fit(kernels_[a], kernels_[a].least_tbs, kernels_[b], kernels_[b].least_tbs);
}

SlicePair CoScheduleFinder::Predict(std::size_t a, unsigned tbs_a, std::size_t b, unsigned tbs_b) {
  const auto ipc = model_.Together(kernels_[a], tbs_a, kernels_[b], tbs_b);
  SlicePair pair{{tbs_a, tbs_b}, {ipc[0], ipc[1]}};
  pair.difference = TimeDifference(kernels_[a].instructions, tbs_a, ipc[0],
                                   kernels_[b].instructions, tbs_b, ipc[1]);
  pair.profit = CoSchedulingProfit({ipc[0], ipc[1]}, {Alone(a), Alone(b)});
  return pair;
}

std::optional<SlicePair> CoScheduleFinder::FindBalanced(std::size_t a, std::size_t b) {
  std::optional<SlicePair> best;
  for (const auto& [tbs_a, tbs_b] : Sizes(a, b)) {
    const SlicePair pair = Predict(a, tbs_a, b, tbs_b);
    const double time = kernels_[a].instructions * tbs_a / pair.ipc[0];
    if (!best || IsBetter(pair, *best, time)) best = pair;
  }
  return best;
}

// Kept with the lower kernel first.
std::optional<SlicePair> CoScheduleFinder::Balanced(std::size_t a, std::size_t b) {
  const auto [low, high] = std::minmax(a, b);
  auto found = balanced_.find({low, high});
  if (found == balanced_.end()) {
    found = balanced_.emplace(std::make_pair(low, high), FindBalanced(low, high)).first;
  }
  std::optional<SlicePair> pair = found->second;
  if (pair && a > b) {
    std::swap(pair->tbs[0], pair->tbs[1]);
    std::swap(pair->ipc[0], pair->ipc[1]);
  }
  return pair;
}

void CoScheduleFinder::Set(std::size_t a, std::size_t b, const SlicePair& pair) {
  if (a > b || b >= kernels_.size()) throw InputError("known pairs: expected kernels in order");
  if (!model_.Fit(kernels_[a], pair.tbs[0], kernels_[b], pair.tbs[1])) {
    throw InputError("known pairs: expected sizes that fit");
  }
  balanced_[{a, b}] = pair;
}

// Instances of a kernel are alike: the first of each, and the second for a pair with itself.
std::vector<CoScheduleFinder::Candidate> CoScheduleFinder::Candidates(
    const std::vector<std::size_t>& pending) const {
  std::vector<std::vector<std::size_t>> places(kernels_.size());
  std::vector<std::size_t> order;  // kernels by their first instance
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (pending[i] >= kernels_.size()) throw InputError("pending: expected kernels that are known");
    if (places[pending[i]].empty()) order.push_back(pending[i]);
    if (places[pending[i]].size() < 2) places[pending[i]].push_back(i);
  }
  std::vector<Candidate> all;
  for (std::size_t a = 0; a < order.size(); ++a) {
    const std::vector<std::size_t>& of_a = places[order[a]];
    if (of_a.size() > 1 && AnyFits(order[a], order[a])) all.push_back({of_a[0], of_a[1]});
    for (std::size_t b = a + 1; b < order.size(); ++b) {
      if (AnyFits(order[a], order[b])) all.push_back({of_a[0], places[order[b]][0]});
    }
  }
  const auto earlier = [](const Candidate& x, const Candidate& y) {
    return std::tie(x.first, x.second) < std::tie(y.first, y.second);
  };
  std::sort(all.begin(), all.end(), earlier);
  return all;
}

bool CoScheduleFinder::Differ(std::size_t a, std::size_t b, const CoSchedule& with) const {
  return std::fabs(kernels_[a].pur - kernels_[b].pur) >= with.pur_difference ||
         std::fabs(kernels_[a].mur - kernels_[b].mur) >= with.mur_difference;
}

// Those that are kept; the differences in `result` are relaxed until there is one.
std::vector<CoScheduleFinder::Candidate> CoScheduleFinder::Prune(
    const std::vector<Candidate>& all, const std::vector<std::size_t>& pending,
    CoSchedule* result) const {
  std::vector<Candidate> kept;
  while (!all.empty()) {
    for (const Candidate& c : all) {
      if (Differ(pending[c.first], pending[c.second], *result)) kept.push_back(c);
    }
    if (!kept.empty()) break;
    result->pur_difference *= params_.relax;
    result->mur_difference *= params_.relax;
    if (std::max(result->pur_difference, result->mur_difference) < kNoDifference) {
      result->pur_difference = result->mur_difference = 0;
    }
  }
  return kept;
}

void CoScheduleFinder::Take(const Candidate& candidate, const SlicePair& pair,
                            CoSchedule* result) const {
  result->first = candidate.first;
  result->second = candidate.second;
  result->pair = pair;
  for (int i : {0, 1}) result->size[i] = pair.tbs[i] * model_.machine().sms;
}

void CoScheduleFinder::TakeAlone(const std::vector<std::size_t>& pending,
                                 CoSchedule* result) const {
  const KerneletKernel& kernel = kernels_[pending[0]];
  result->size[0] = std::max(kernel.least_tbs, model_.MostTbs(kernel)) * model_.machine().sms;
}

CoSchedule CoScheduleFinder::Draw(const std::vector<std::size_t>& pending, std::uint64_t draw) {
  if (pending.empty()) throw InputError("pending: expected at least one kernel");
  const std::vector<Candidate> all = Candidates(pending);
  CoSchedule result;
  result.candidates = all.size();
  if (all.empty()) {
    TakeAlone(pending, &result);
    return result;
  }
  const Candidate& c = all[draw % all.size()];
  const std::size_t a = pending[c.first], b = pending[c.second];
  const auto sizes = Sizes(a, b);
  const auto& [tbs_a, tbs_b] = sizes[ScrambleBits(draw) % sizes.size()];
  Take(c, {{tbs_a, tbs_b}}, &result);
  return result;
}

CoSchedule CoScheduleFinder::Find(const std::vector<std::size_t>& pending) {
  if (pending.empty()) throw InputError("pending: expected at least one kernel");
  const std::vector<Candidate> all = Candidates(pending);
  CoSchedule result;
  result.candidates = all.size();
  result.pur_difference = params_.pur_difference;
  result.mur_difference = params_.mur_difference;
  const std::vector<Candidate> kept = Prune(all, pending, &result);
  result.predicted = kept.size();
  for (const Candidate& c : kept) {
    const SlicePair pair = *Balanced(pending[c.first], pending[c.second]);
    if (params_.least_profit && pair.profit < *params_.least_profit) continue;
    if (result.second && pair.profit <= result.pair.profit) continue;
    Take(c, pair, &result);
  }
  if (!result.second) TakeAlone(pending, &result);
  return result;
}

}  // namespace smk
