// SPDX-License-Identifier: Apache-2.0
#include "replay/kinds.h"

#include <utility>

namespace smk {

std::size_t Kinds::Of(const LaunchKind& launch) {
  const auto [place, is_new] =
      numbers_.emplace(std::make_tuple(&launch.spec(), launch.tbs, launch.whole), kinds_.size());
  if (is_new) kinds_.push_back({launch, rates_.Alone(launch)});
  return place->second;
}

const SetRates& Kinds::Together(const Set& set, Cycle now) {
  const auto found = known_.find(set);
  if (found != known_.end()) return found->second;
  SetRates rates;
  if (set.size() == 1) {
    const AloneRate& alone = kinds_[set[0]].alone;
    rates.mean = {{alone.rate, alone.places}};
  } else {
    std::vector<LaunchKind> launches;
    for (const std::size_t kind : set) launches.push_back(kinds_[kind].launch);
    rates = rates_.Together(launches);
  }
  checks_.Rates(rates.mean, set.size(), now);
  for (const auto& [ages, of] : rates.by_age) checks_.Rates(of, set.size(), now);
  return known_[set] = std::move(rates);
}

}  // namespace smk
