// SPDX-License-Identifier: Apache-2.0
#include "control/sm/joint_schedulers.h"

namespace smk {

void JointSchedulers::Load(const Schedulers& schedulers, const Masks& stop, bool gated,
                           bool warps) {
  may_ = last_ = granted_ = blocked_ = 0;
  grants_ = 0;
  recent_ = 0;
  issued_ = {};
  unsigned kernels = 0;
  gated_ = gated;
  loaded_ = true;
  for (unsigned s = 0; s < kLanes / layout_.lanes_per_scheduler(); ++s) {
    const QuotaScheduler::State& from = schedulers[s].state();
    const unsigned first = layout_.LaneOf(s, 0);
    const WarpMask may = (gated ? from.with_quota : from.valid) & ~stop[s];
    may_ |= LaneMask{may} << first;
    if (from.last_valid) last_ |= LaneBit(first + from.last);
    left_[s] = from.left;
    for (unsigned k = 0; k < kMaxKernels; ++k) {
      if (from.warps_of[k] != 0) kernels |= 1u << k;
    }
    for (unsigned i = 0; warps && i < layout_.lanes_per_scheduler(); ++i) {
      older_[first + i] = LaneMask{from.older[i]} << first;
      kernel_of_[first + i] = from.kernel_of[i];
      const LaneMask bit = LaneBit(first + i);
      inverted_ = (inverted_ & ~bit) | (older_[first + i] > bit ? bit : 0);
    }
  }
  usual_ = greedy_16_ ? may_ : 0;
  several_ = (kernels & (kernels - 1)) != 0;
  counting_ = several_ || gated_;
  counted_ = counting_ ? ~LaneMask{0} : layout_.AllLast();
  kernel_ = kernels == 0 ? 0 : static_cast<unsigned>(__builtin_ctz(kernels));
}

LaneMask JointSchedulers::Grant(LaneMask ready) {
  const LaneMask eligible = ready & may_;
  if (eligible != ready) NoteBlocked(ready, eligible);
  return greedy_ ? Greedy(layout_, eligible) : InTurn(layout_, eligible);
}

// Before a field is full.
void JointSchedulers::CountRecent() {
  for (LaneMask fields = recent_; fields != 0; fields >>= layout_.lanes_per_scheduler()) {
    grants_ += static_cast<std::uint32_t>(fields & layout_.SchedulerField(0));
  }
  recent_ = 0;
}

void JointSchedulers::Store(Schedulers* schedulers, ProfileCounters* profile) {
  loaded_ = false;
  usual_ = 0;
  for (unsigned s = 0; s < kLanes / layout_.lanes_per_scheduler(); ++s) {
    const LaneMask field = layout_.SchedulerField(s);
    QuotaScheduler& to = (*schedulers)[s];
    if ((granted_ & field) != 0) to.Granted(layout_.IndexOf(LowestLane(last_ & field)));
    if ((blocked_ & field) != 0) to.Blocked();
    if (gated_) {
      for (unsigned k = 0; k < kMaxKernels; ++k) issued_[k] += to.state().left[k] - left_[s][k];
      to.SetLeft(left_[s]);
    }
  }
  CountRecent();
  if (!counting_) issued_[kernel_] = grants_;
  for (unsigned k = 0; k < kMaxKernels; ++k) profile->Add(k, issued_[k]);
}

}  // namespace smk
