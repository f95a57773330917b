// SPDX-License-Identifier: Apache-2.0
#include "machine/sample_log.h"

namespace smk {

SampleLog::SampleLog(std::size_t sms, Cycle step, std::size_t most_steps)
    : sms_(sms), most_steps_(most_steps), step_(step) {
  if (most_steps_ != 0) samples_.reserve((most_steps_ + 1) * sms_);
}

bool SampleLog::EndsStep(Cycle cycle) {
  if (ends_ == 0) first_ = cycle;
  if (most_steps_ != 0 && ends_ > most_steps_) {
    Halve();
    return false;
  }
  ++ends_;
  return true;
}

// As their number is even, the end of the last step stays.
void SampleLog::Halve() {
  step_ *= 2;
  ends_ = most_steps_ / 2 + 1;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples_.size(); i += sms_) {
    const std::size_t next = i + sms_;
    const bool joins = (samples_[i].cycle - first_) % step_ != 0 && next < samples_.size() &&
                       samples_[i].job == samples_[next].job;
    for (std::size_t sm = 0; sm < sms_; ++sm) {
      if (!joins) {
        samples_[kept++] = samples_[i + sm];
        continue;
      }
      for (unsigned k = 0; k < kNumKernels; ++k) {
        samples_[next + sm].warp_instructions[k] += samples_[i + sm].warp_instructions[k];
      }
    }
  }
  samples_.resize(kept);
}

}  // namespace smk
