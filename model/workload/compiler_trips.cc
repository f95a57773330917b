// SPDX-License-Identifier: Apache-2.0
// Trip counts: from what is written to what is drawn.
#include <algorithm>

#include "workload/compiler.h"
#include "workload/random.h"

namespace smk {
namespace {

// Probabilities per trip count; index = trips.
using Distribution = std::vector<double>;

void Add(Distribution* d, std::int64_t trips, double probability) {
  const auto index = static_cast<std::size_t>(trips);
  if (d->size() <= index) d->resize(index + 1, 0.0);
  (*d)[index] += probability;
}

// survival[i] = P(trips > i), without a tail of zeros.
std::vector<double> Survival(const Distribution& d) {
  std::vector<double> survival(d.size() - 1, 0.0);
  double above = 0;
  for (std::size_t i = d.size(); i-- > 1;) {
    above += d[i];
    survival[i - 1] = above;
  }
  return survival;
}

// A table with one entry per trip count that can occur; bounds cover all 32-bit draws.
std::vector<TripEntry> TableOf(const Distribution& d) {
  std::vector<TripEntry> table;
  double sum = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (d[i] <= 0) continue;
    sum += d[i];
    table.push_back({ProbabilityBits(std::min(sum, 1.0)), static_cast<std::uint16_t>(i)});
  }
  table.back().below = kProbabilityOne;
  return table;
}

Distribution Weighted(const TripSyntax& trips) {
  double total = 0;
  for (const auto& [value, weight] : trips.entries) total += weight;
  Distribution d;
  for (const auto& [value, weight] : trips.entries) Add(&d, value, weight / total);
  return d;
}

// One trip for sure, and after each one more with probability 1 - 1/mean, up to `high`.
Distribution Geometric(const TripSyntax& trips) {
  const double more = 1 - 1 / trips.mean;
  Distribution d;
  double left = 1;
  for (std::int64_t i = 1; i < trips.high; ++i) {
    Add(&d, i, left * (1 - more));
    left *= more;
  }
  Add(&d, trips.high, left);
  return d;
}

Distribution Uniform(const TripSyntax& trips) {
  Distribution d;
  const double p = 1.0 / static_cast<double>(trips.high - trips.low + 1);
  for (std::int64_t i = trips.low; i <= trips.high; ++i) Add(&d, i, p);
  return d;
}

Distribution Steps(const TripSyntax& trips, unsigned variable, const Scope& scope) {
  Distribution d;
  double before = 0;
  for (const auto& [bound, value] : trips.entries) {
    const double part = scope.PartBelow(variable, static_cast<std::uint64_t>(bound));
    Add(&d, static_cast<std::int64_t>(value), part - before);
    before = part;
  }
  Add(&d, trips.low, 1 - before);
  return d;
}

std::vector<TripEntry> StepTable(const TripSyntax& trips) {
  std::vector<TripEntry> table;
  for (const auto& [bound, value] : trips.entries) {
    table.push_back({static_cast<std::uint64_t>(bound), static_cast<std::uint16_t>(value)});
  }
  table.push_back({~std::uint64_t{0}, static_cast<std::uint16_t>(trips.low)});
  return table;
}

}  // namespace

CompiledTrips CompileTrips(const TripSyntax& trips, const Scope& scope, const std::string& file,
                           int line) {
  CompiledTrips out;
  TripSource& source = out.source;
  source.per_tb = trips.per_tb;
  out.divergent = !trips.per_tb;
  Distribution d;
  if (trips.kind == TripSyntax::Kind::kConstant) {
    source.low = static_cast<std::uint16_t>(trips.low);
    out.divergent = false;
    Add(&d, trips.low, 1.0);
  } else if (trips.kind == TripSyntax::Kind::kUniform) {
    source.kind = TripSource::Kind::kUniform;
    source.low = static_cast<std::uint16_t>(trips.low);
    source.range = static_cast<std::uint32_t>(trips.high - trips.low + 1);
    d = Uniform(trips);
  } else if (trips.kind == TripSyntax::Kind::kSteps) {
    const int variable = scope.FindVariable(trips.variable);
    if (variable < 0) FailAt(file, line, trips.variable, "tb, tb.x, tb.y, tb.z, warp or a loop");
    source.kind = TripSource::Kind::kSteps;
    source.variable = static_cast<std::uint8_t>(variable);
    out.divergent = source.variable == kWarpVariable;
    out.table = StepTable(trips);
    d = Steps(trips, source.variable, scope);
  } else {
    source.kind = TripSource::Kind::kWeighted;
    d = trips.kind == TripSyntax::Kind::kWeighted ? Weighted(trips) : Geometric(trips);
    out.table = TableOf(d);
  }
  out.survival = Survival(d);
  if (out.survival.empty()) FailAt(file, line, "loop", "a trip count above 0");
  return out;
}

}  // namespace smk
