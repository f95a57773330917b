// SPDX-License-Identifier: Apache-2.0
// TBs of a launch that nobody takes places from as its TBs end: those that run, and those that
// wait.
//
// Order       As TBs begin. With fewer places the youngest stop, and go on before others begin
//             [D60].
// Pace        All that run go on alike; one that ends is followed by the next that waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace smk {

class Waves {
 public:
  // So many TBs, of so much work each.
  Waves(std::uint32_t tbs, double work);

  // What the launch has in its set: at most so many run, each at its part of the rate.
  void Share(double places, double rate);
  // Until it is shared again: the pace of those that run, when none waits and they are at most so
  // many.
  void ShareLast(std::uint32_t tbs, double pace) {
    if (AllRun() && running_ <= tbs) pace_ = pace;
  }
  // Work of all that run, per cycle.
  double Rate() const { return pace_ * running_; }
  // Says whether some end.
  bool Advance(double cycles);
  bool AllRun() const { return running_groups_ == groups_.size(); }
  bool Done() const { return groups_.empty(); }
  // Until the next one ends; some run.
  Cycle NextEnd() const;

 private:
  struct Group {
    std::uint32_t tbs;
    double work;  // that each is left with
  };
  // The oldest run, as far as there are places.
  void Place();

  std::vector<Group> groups_;  // the oldest first; no group runs in part
  std::size_t running_groups_ = 0;
  std::uint32_t places_ = 0, running_ = 0;
  double pace_ = 0;  // of each TB that runs: work per cycle
};

}  // namespace smk
