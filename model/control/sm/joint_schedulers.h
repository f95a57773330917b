// SPDX-License-Identifier: Apache-2.0
// The warp schedulers of one SM together, in cycles in which only warps are ready.
//
// Purpose     Does for all schedulers at once what QuotaScheduler::Eval and Tick do for each, by
//             bits of one word. In any other cycle the schedulers are stepped one by one: Store()
//             gives them back their state.
// Source      QuotaScheduler: the same grants and the same state, in another form.
#pragma once

#include <array>
#include <cstdint>

#include "base/lane_layout.h"
#include "control/sm/profile_counters.h"
#include "control/sm/quota_scheduler.h"

namespace smk {

// See the head of this file.
class alignas(64) JointSchedulers {
 public:
  using Schedulers = std::array<QuotaScheduler, kMaxSchedulers>;
  using Masks = std::array<WarpMask, kMaxSchedulers>;

  JointSchedulers(unsigned warps_per_scheduler, WarpPolicy policy)
      : greedy_(policy == WarpPolicy::kGto), layout_(warps_per_scheduler) {}

  const LaneLayout& layout() const { return layout_; }
  bool loaded() const { return loaded_; }
  // The state is here from now on. `warps`: some have come since the last time.
  void Load(const Schedulers& schedulers, const Masks& stop, bool gated, bool warps);
  // It is with the schedulers again.
  void Store(Schedulers* schedulers, ProfileCounters* profile);

  // One cycle: a warp of each scheduler that has an eligible one. `spent` gets, by scheduler, the
  // one whose kernel has spent its quota: they must be told before the next cycle.
  LaneMask Grant(LaneMask ready, LaneMask* spent) {
    const LaneMask eligible = ready & may_;
    if (__builtin_expect(eligible != ready, 0)) NoteBlocked(ready, eligible);
    if (eligible == 0) return 0;
    const LaneMask granted =
        layout_.lanes_per_scheduler() == 16 ? Choose<16>(eligible) : Choose<32>(eligible);
    granted_ |= granted;
    if (several_) Count(granted);
    if (gated_) Spend(granted, spent);
    return granted;
  }
  std::uint8_t KernelOf(unsigned lane) const { return kernel_of_[lane]; }
  const std::array<std::uint16_t, kMaxKernels>& left(unsigned scheduler) const {
    return left_[scheduler];
  }

 private:
  // Greedy then oldest: the one before, or else the oldest. In turn: the next one behind it.
  template <unsigned Warps>
  [[gnu::always_inline]] LaneMask Choose(LaneMask eligible) {
    constexpr LaneLayout kLayout(Warps);
    LaneMask granted = greedy_ ? eligible & last_ : 0;
    const LaneMask same = kLayout.LastLanesIn(granted);
    const LaneMask rest = eligible & ~kLayout.FieldsOf(same);
    LaneMask last = last_;
    unsigned others = 0;
    for (LaneMask m = rest; m != 0; ++others) {
      const unsigned first = LowestLane(m);
      const LaneMask field = kLayout.SchedulerField(kLayout.SchedulerOf(first));
      granted |= LaneBit(greedy_ ? Oldest(first, rest) : Behind(last & field, rest & field));
      last &= ~field;
      m &= ~field;
    }
    last_ = last | granted;
    grants_ += others;
    same_ += same >> (kLayout.lanes_per_scheduler() - 1);
    if (__builtin_expect((same_ & kLayout.AllLast()) != 0, 0)) CountSame();
    return granted;
  }
  // Of the lanes of the scheduler of `lane`, which is one of them.
  unsigned Oldest(unsigned lane, LaneMask lanes) const {
    for (LaneMask older = older_[lane] & lanes; older != 0; older = older_[lane] & lanes) {
      lane = LowestLane(older);
    }
    return lane;
  }
  static unsigned Behind(LaneMask last, LaneMask lanes) {
    const LaneMask behind = lanes & ~((last << 1) - 1);
    return LowestLane(behind != 0 ? behind : lanes);
  }
  void CountSame();
  void Count(LaneMask granted) {
    for (; granted != 0; granted &= granted - 1) ++issued_[kernel_of_[LowestLane(granted)]];
  }
  void NoteBlocked(LaneMask ready, LaneMask eligible) {
    blocked_ |= layout_.LastLanesIn(ready) & ~layout_.LastLanesIn(eligible);
  }
  void Spend(LaneMask granted, LaneMask* spent) {
    for (LaneMask m = granted; m != 0; m &= m - 1) {
      const unsigned lane = LowestLane(m);
      if (--left_[layout_.SchedulerOf(lane)][kernel_of_[lane]] == 0) *spent |= LaneBit(lane);
    }
  }

  // By lane. `may_`: warps that can be granted when they are ready; `last_`: granted last.
  LaneMask may_ = 0, last_ = 0;
  LaneMask granted_ = 0;      // since Load()
  LaneMask blocked_ = 0;      // likewise: schedulers with ready warps that granted none
  std::uint32_t grants_ = 0;  // likewise, but for those in `same_`
  LaneMask same_ = 0;         // likewise, by field: of the warp that had been granted before
  bool loaded_ = false, gated_ = false;
  bool several_ = false;  // there are warps of more than one kernel
  unsigned kernel_ = 0;   // if not: whose they are
  const bool greedy_;
  const LaneLayout layout_;
  std::array<std::uint32_t, kMaxKernels> issued_{};  // since Load(), if several_
  std::array<std::array<std::uint16_t, kMaxKernels>, kMaxSchedulers> left_{};  // if gated
  std::array<std::uint8_t, kLanes> kernel_of_{};
  std::array<LaneMask, kLanes> older_{};  // who is older than each
};

}  // namespace smk
