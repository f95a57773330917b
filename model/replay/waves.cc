// SPDX-License-Identifier: Apache-2.0
#include "replay/waves.h"

#include <algorithm>
#include <utility>

namespace smk {

Waves::Waves(std::uint32_t tbs, double work) : left_(tbs) {
  if (tbs != 0) groups_.push_back({tbs, work});
}

void Waves::SetPlaces(std::uint32_t places) {
  places_ = places;
  running_ = std::min(places, left_);
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < groups_.size() && before < running_; ++i) {
    const std::uint32_t rest = running_ - before;
    if (groups_[i].tbs > rest) {
      const Group stays{groups_[i].tbs - rest, groups_[i].work};
      groups_[i].tbs = rest;
      groups_.insert(groups_.begin() + static_cast<std::ptrdiff_t>(i) + 1, stays);
    }
    before += groups_[i].tbs;
  }
}

bool Waves::Advance(double work, double end) {
  std::uint32_t before = 0, ended = 0;
  double rest = 0;
  for (Group& group : groups_) {
    if (before >= running_) break;
    before += group.tbs;
    group.work -= work;
    if (group.work > end / 2) continue;
    rest += group.tbs * group.work;
    ended += std::exchange(group.tbs, 0);
  }
  if (ended == 0) return false;
  groups_.erase(std::remove_if(groups_.begin(), groups_.end(),
                               [](const Group& group) { return group.tbs == 0; }),
                groups_.end());
  const std::uint32_t stay = running_ - ended;
  left_ -= ended;
  SetPlaces(places_);
  // Ends are whole cycles: what is missing of one or too much, those have that begin, or all.
  const std::uint32_t from = stay < running_ ? stay : 0;
  before = 0;
  for (Group& group : groups_) {
    if (before >= running_) break;
    if (before >= from) group.work += rest / (running_ - from);
    before += group.tbs;
  }
  return true;
}

double Waves::UntilNextEnd() const {
  double least = 0;
  std::uint32_t before = 0;
  for (const Group& group : groups_) {
    if (before >= running_) break;
    least = before == 0 ? group.work : std::min(least, group.work);
    before += group.tbs;
  }
  return least;
}

}  // namespace smk
