// SPDX-License-Identifier: Apache-2.0
#include "workload/scope.h"

#include <algorithm>
#include <array>

namespace smk {
namespace {

constexpr std::array<const char*, kNumFixedVariables> kNames{"tb", "tb.x", "tb.y", "tb.z", "warp"};
constexpr unsigned kLoopVariable = static_cast<unsigned>(Variable::kLoop);
constexpr std::uint64_t kMaxSampledTbs = 1 << 16;

bool IsInside(const ConditionSyntax& condition, std::uint64_t value) {
  const auto v = static_cast<std::int64_t>(value);
  const std::int64_t rest = condition.modulus == 0 ? v : v % condition.modulus;
  return (condition.low <= rest && rest <= condition.high) != condition.negate;
}

}  // namespace

void Scope::AddLoop(const std::string& name, std::vector<double> survival, const Steps* steps) {
  const bool by_tb = steps != nullptr && steps->variable < kWarpVariable;
  loops_.push_back({name, std::make_shared<const std::vector<double>>(std::move(survival)),
                    by_tb ? std::make_shared<const Steps>(*steps) : nullptr});
}

void Scope::AddCondition(unsigned variable, const ConditionSyntax& condition, bool holds) {
  rules_.push_back({variable, condition, holds});
}

int Scope::FindVariable(const std::string& name) const {
  for (unsigned i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<int>(i);
  }
  for (unsigned i = 0; i < loops_.size(); ++i) {
    if (name == loops_[i].name) return static_cast<int>(kLoopVariable + i);
  }
  return -1;
}

const std::int64_t* Scope::FindCopyIndex(const std::string& name) const {
  const auto found = copies_.find(name);
  return found == copies_.end() ? nullptr : &found->second;
}

std::uint64_t Scope::Values(unsigned variable) const {
  switch (variable) {
    case 0:
      return geometry_.tbs();
    case 1:
      return geometry_.grid_x;
    case 2:
      return geometry_.grid_y;
    case 3:
      return geometry_.grid_z;
    case kWarpVariable:
      return geometry_.warps();
    default:
      return loops_[variable - kLoopVariable].survival->size();
  }
}

bool Scope::Holds(unsigned variable, std::uint64_t value) const {
  return std::all_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return rule.variable != variable || IsInside(rule.condition, value) == rule.holds;
  });
}

Scope::Range Scope::RangeOf(unsigned variable) const {
  Range range{0, static_cast<std::int64_t>(Values(variable)) - 1};
  for (const Rule& rule : rules_) {
    const ConditionSyntax& c = rule.condition;
    if (rule.variable != variable || c.modulus != 0) continue;
    if (rule.holds != c.negate) {
      range.low = std::max(range.low, c.low);
      range.high = std::min(range.high, c.high);
    } else if (c.low == 0) {
      range.low = std::max(range.low, c.high + 1);
    }
  }
  // A condition that never holds: no value, but something has to be said of the address.
  range.low = std::min(range.low, range.high);
  return range;
}

double Scope::PartBelow(unsigned variable, std::uint64_t below) const {
  const std::uint64_t values = Values(variable);
  return static_cast<double>(std::min(below, values)) / static_cast<double>(values);
}

double Scope::WarpPart() const {
  const unsigned warps = geometry_.warps();
  unsigned count = 0;
  for (unsigned warp = 0; warp < warps; ++warp) count += Holds(kWarpVariable, warp) ? 1 : 0;
  return static_cast<double>(count) / warps;
}

// [n] = how many of the first n trips the rules on the loop's counter let through.
std::vector<unsigned> Scope::CountTrips(unsigned level) const {
  std::vector<unsigned> count(MaxTrips(level) + 1, 0);
  for (unsigned i = 0; i + 1 < count.size(); ++i) {
    count[i + 1] = count[i] + (Holds(kLoopVariable + level, i) ? 1 : 0);
  }
  return count;
}

// Mean over all TBs, or evenly spaced ones of a very large grid, of what depends on the TB: whether
// the conditions hold, and trip counts.
double Scope::TbPart() const {
  bool any = std::any_of(rules_.begin(), rules_.end(),
                         [](const Rule& rule) { return rule.variable < kWarpVariable; });
  std::array<std::vector<unsigned>, kMaxLoops> trips;
  for (unsigned level = 0; level < loops_.size(); ++level) {
    if (loops_[level].steps == nullptr) continue;
    any = true;
    trips[level] = CountTrips(level);
  }
  if (!any) return 1;
  const std::uint64_t tbs = geometry_.tbs();
  const std::uint64_t step = (tbs + kMaxSampledTbs - 1) / kMaxSampledTbs;
  std::uint64_t asked = 0;
  double sum = 0;
  for (std::uint64_t i = 0; i < tbs; i += step, ++asked) {
    const std::array<std::uint64_t, 4> tb{i, i % geometry_.grid_x,
                                          i / geometry_.grid_x % geometry_.grid_y,
                                          i / geometry_.grid_x / geometry_.grid_y};
    double part = 1;
    for (unsigned v = 0; v < tb.size() && part > 0; ++v) part = Holds(v, tb[v]) ? part : 0;
    for (unsigned level = 0; level < loops_.size() && part > 0; ++level) {
      if (loops_[level].steps == nullptr) continue;
      const TripEntry* entry = loops_[level].steps->table.data();
      while (tb[loops_[level].steps->variable] >= entry->below) ++entry;
      part *= trips[level][entry->trips];
    }
    sum += part;
  }
  return sum / static_cast<double>(asked);
}

double Scope::Executions() const {
  double executions = probability_ * WarpPart() * TbPart();
  for (unsigned level = 0; level < loops_.size(); ++level) {
    if (loops_[level].steps != nullptr) continue;
    const std::vector<double>& survival = *loops_[level].survival;
    double trips = 0;
    for (unsigned i = 0; i < survival.size(); ++i) {
      if (Holds(kLoopVariable + level, i)) trips += survival[i];
    }
    executions *= trips;
  }
  return executions;
}

double Scope::MaxExecutions() const {
  double executions = 1;
  for (const Loop& loop : loops_) executions *= static_cast<double>(loop.survival->size());
  return executions;
}

}  // namespace smk
