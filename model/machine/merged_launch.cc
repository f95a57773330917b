// SPDX-License-Identifier: Apache-2.0
#include "machine/merged_launch.h"

#include <algorithm>

namespace smk {

std::optional<MergedLaunch::Item> MergedLaunch::Take(TbId group, SmId sm) {
  unsigned from = 0;
  if (members_.size() == 2) {
    if (split_.any()) {
      const bool first = Index(group) < split_.groups || Index(sm) < split_.sms;
      from = first ? 0 : 1;
    } else {
      from = left(turn_) != 0 ? turn_ : 1 - turn_;
      turn_ = 1 - from;
    }
  }
  if (left(from) == 0) return std::nullopt;
  const std::uint32_t tb = members_[from].first_tb + taken_[from]++;
  return Item{static_cast<std::uint8_t>(from), static_cast<TbId>(tb)};
}

Cycle MergedLaunch::Answered(Cycle now) {
  if (answer_cycles_ == 0) return now;
  const Cycle taken = std::max(now, next_request_);
  next_request_ = taken + 1;
  return taken + answer_cycles_;
}

bool MergedLaunch::complete() const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (completed_[i] != members_[i].tb_count) return false;
  }
  return true;
}

}  // namespace smk
