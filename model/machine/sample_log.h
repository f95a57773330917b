// SPDX-License-Identifier: Apache-2.0
// Samples of the SMs over time, for a run whose length nobody knows: at most so many steps.
//
// Steps       Of equal length, from the first sample on. When there would be one more than allowed,
//             each two that follow each other are added up, and steps are twice as long.
// Jobs        What is between two steps, because a kernel slot changes hands, stays where the jobs
//             before and after it differ: a sample is of one job in each slot.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "machine/run.h"

namespace smk {

class SampleLog {
 public:
  // `most_steps`: an even number; 0: no limit.
  SampleLog(std::size_t sms, Cycle step, std::size_t most_steps);

  // The cycle is that of NextEnd(), or the first. Says whether it is the end of a step, to be added
  // for all SMs: it is not when steps have just become longer.
  bool EndsStep(Cycle cycle);
  // Samples of all SMs follow each other, and are of one cycle.
  void Add(const EpochSample& sample) { samples_.push_back(sample); }
  Cycle NextEnd() const { return first_ + ends_ * step_; }
  bool empty() const { return samples_.empty(); }
  std::vector<EpochSample> Take() { return std::move(samples_); }

 private:
  void Halve();

  const std::size_t sms_, most_steps_;
  Cycle step_;
  Cycle first_ = 0;
  std::size_t ends_ = 0;  // of steps, with the beginning of the first
  std::vector<EpochSample> samples_;
};

}  // namespace smk
