// SPDX-License-Identifier: Apache-2.0
// The kinds of launches of a run, and their rates: each is asked for once.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "replay/rates.h"
#include "replay/replay_checks.h"

namespace smk {

class Kinds {
 public:
  struct Kind {
    LaunchKind launch;
    AloneRate alone;
  };
  using Set = std::vector<std::size_t>;  // kinds by number

  // The arguments must live as long.
  Kinds(RateSource& rates, ReplayChecks& checks) : rates_(rates), checks_(checks) {}

  // Its number.
  std::size_t Of(const LaunchKind& launch);
  // The reference stays good.
  const Kind& operator[](std::size_t kind) const { return kinds_[kind]; }
  const SetRates& Together(const Set& set, Cycle now);

 private:
  RateSource& rates_;
  ReplayChecks& checks_;
  std::map<std::tuple<const KernelSpec*, std::uint32_t, bool>, std::size_t> numbers_;
  std::deque<Kind> kinds_;
  std::map<Set, SetRates> known_;
};

}  // namespace smk
