// SPDX-License-Identifier: Apache-2.0
#include "replay/waves.h"

#include <algorithm>
#include <cmath>

#include "replay/course.h"

namespace smk {

Waves::Waves(std::uint32_t tbs, double work) : groups_{{tbs, work}} {}

void Waves::Share(double places, double rate) {
  places_ = static_cast<std::uint32_t>(std::max(1.0, std::round(places)));
  pace_ = places > 0 ? rate / places : 0;
  Place();
}

void Waves::Place() {
  running_ = 0;
  for (running_groups_ = 0; running_groups_ < groups_.size() && running_ < places_;) {
    Group& group = groups_[running_groups_++];
    const std::uint32_t rest = places_ - running_;
    running_ += std::min(group.tbs, rest);
    if (group.tbs <= rest) continue;
    const Group waits{group.tbs - rest, group.work};
    group.tbs = rest;
    groups_.insert(groups_.begin() + static_cast<std::ptrdiff_t>(running_groups_), waits);
  }
}

// Ends are whole cycles: what is missing of one or too much, those have that begin, or all.
bool Waves::Advance(double cycles) {
  double rest = 0;
  std::size_t stay = 0;
  for (std::size_t i = 0; i < running_groups_; ++i) {
    Group group = groups_[i];
    group.work -= pace_ * cycles;
    if (group.work > pace_ / 2) {
      groups_[stay++] = group;
    } else {
      rest += group.tbs * group.work;
    }
  }
  if (stay == running_groups_) return false;
  groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(stay),
                groups_.begin() + static_cast<std::ptrdiff_t>(running_groups_));
  Place();
  const std::size_t from = stay < running_groups_ ? stay : 0;
  double tbs = 0;
  for (std::size_t i = from; i < running_groups_; ++i) tbs += groups_[i].tbs;
  for (std::size_t i = from; i < running_groups_; ++i) groups_[i].work += rest / tbs;
  return true;
}

Cycle Waves::NextEnd() const {
  double least = groups_.front().work;
  for (std::size_t i = 1; i < running_groups_; ++i) least = std::min(least, groups_[i].work);
  return CyclesFor(least, pace_);
}

}  // namespace smk
