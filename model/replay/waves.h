// SPDX-License-Identifier: Apache-2.0
// TBs of a launch that nobody takes places from as its TBs end: those that run, and those that
// wait.
//
// Order       As TBs begin. With fewer places the youngest stop, and go on before others begin
//             [D60].
// Pace        All that run go on alike; one that ends is followed by the next that waits.
#pragma once

#include <cstdint>
#include <vector>

namespace smk {

class Waves {
 public:
  Waves() = default;
  // So many TBs, of so much work each.
  Waves(std::uint32_t tbs, double work);

  // At most so many run from now on.
  void SetPlaces(std::uint32_t places);
  // Each that runs does so much work. Those that are left with half of `end` or less have ended;
  // says whether there are such.
  bool Advance(double work, double end);

  std::uint32_t Running() const { return running_; }
  bool AllRun() const { return running_ == left_; }
  bool Done() const { return left_ == 0; }
  // Work until the next one ends; 0: none runs.
  double UntilNextEnd() const;

 private:
  struct Group {
    std::uint32_t tbs;
    double work;  // that each is left with
  };

  std::vector<Group> groups_;  // the oldest first; no group runs in part
  std::uint32_t places_ = 0, running_ = 0, left_ = 0;
};

}  // namespace smk
