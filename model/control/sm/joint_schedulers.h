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
      : greedy_(policy == WarpPolicy::kGto),
        layout_(warps_per_scheduler),
        greedy_16_(greedy_ && layout_.lanes_per_scheduler() == 16) {}

  const LaneLayout& layout() const { return layout_; }
  bool loaded() const { return loaded_; }
  bool gated() const { return gated_; }
  // The state is here from now on. `warps`: some have come since the last time.
  void Load(const Schedulers& schedulers, const Masks& stop, bool gated, bool warps);
  // It is with the schedulers again.
  void Store(Schedulers* schedulers, ProfileCounters* profile);

  // What greedy schedulers grant: those granted before, and the oldest of the rest where that is
  // not ready. `kept`: who was granted last, of the other schedulers.
  struct Choice {
    LaneMask again, rest, kept, oldest;
  };

  // One cycle: a warp of each scheduler that has an eligible one. If counting() then,
  // CountGrants() must be told.
  LaneMask Grant(LaneMask ready);
  // The same in steps if Usual(): the state is here, schedulers of 16 lanes are greedy, and all of
  // the warps can be granted.
  bool Usual(LaneMask ready) const { return (ready & ~usual_) == 0; }
  [[gnu::always_inline]] Choice ChooseUsual(LaneMask ready) {
    return Choose(LaneLayout(16), ready);
  }
  // One of the oldest may not be: an older one may have a higher lane.
  bool Unsure(const Choice& choice) const { return (choice.oldest & inverted_) != 0; }
  // Finds those.
  LaneMask SureOf(LaneMask oldest, LaneMask rest) const {
    for (LaneMask m = oldest & inverted_; m != 0; m &= m - 1) {
      oldest ^= (m & -m) ^ LaneBit(Oldest(LowestLane(m), rest));
    }
    return oldest;
  }
  // Grants them; which ones.
  [[gnu::always_inline]] LaneMask Take(const Choice& choice) {
    last_ = choice.kept | choice.oldest;
    const LaneMask granted = choice.again | choice.oldest;
    granted_ |= granted;
    return granted;
  }
  // After a grant: it is counted by kernel, or a field of recent_ nearly is full.
  bool counting() const { return (recent_ & counted_) != 0; }
  // Returns, by scheduler, the one whose kernel has spent its quota: they must be told before the
  // next cycle.
  LaneMask CountGrants(LaneMask granted) {
    if (__builtin_expect(Full(), 0)) CountRecent();
    if (gated_) return Spend(granted);
    if (several_) Count(granted);
    return 0;
  }
  std::uint8_t KernelOf(unsigned lane) const { return kernel_of_[lane]; }
  const std::array<std::uint16_t, kMaxKernels>& left(unsigned scheduler) const {
    return left_[scheduler];
  }

 private:
  // The one before, or else the oldest. All fields at once, without a loop of which the host would
  // have to guess the end. Only where an older warp may have a higher lane it is looked for.
  [[gnu::always_inline]] Choice Choose(const LaneLayout& layout, LaneMask eligible) {
    const LaneMask again = eligible & last_;
    const LaneMask same = layout.LastLanesIn(again);
    const LaneMask rest = eligible & ~layout.FieldsOf(same);
    const LaneMask others = layout.LastLanesIn(rest);
    recent_ += layout.FirstLanesOf(same | others);
    const LaneMask kept = last_ & ~layout.FieldsOf(others);
    return {again, rest, kept, layout.LowestLanesIn(rest, others)};
  }
  LaneMask Greedy(const LaneLayout& layout, LaneMask eligible) {
    Choice choice = Choose(layout, eligible);
    choice.oldest = SureOf(choice.oldest, choice.rest);
    return Take(choice);
  }
  // The next one behind the one before.
  [[gnu::always_inline]] LaneMask InTurn(const LaneLayout& layout, LaneMask eligible) {
    const LaneMask granting = layout.LastLanesIn(eligible);
    const LaneMask behind = eligible & layout.LanesAbove(last_);
    const LaneMask around = eligible & ~layout.FieldsOf(layout.LastLanesIn(behind));
    const LaneMask next = layout.LowestLanesIn(behind | around, granting);
    last_ = (last_ & ~layout.FieldsOf(granting)) | next;
    recent_ += layout.FirstLanesOf(granting);
    granted_ |= next;
    return next;
  }
  // Of the lanes of the scheduler of `lane`, which is one of them.
  unsigned Oldest(unsigned lane, LaneMask lanes) const {
    for (LaneMask older = older_[lane] & lanes; older != 0; older = older_[lane] & lanes) {
      lane = LowestLane(older);
    }
    return lane;
  }
  void CountRecent();
  // A field of recent_ nearly is.
  bool Full() const { return (recent_ & layout_.AllLast()) != 0; }
  void Count(LaneMask granted) {
    for (; granted != 0; granted &= granted - 1) ++issued_[kernel_of_[LowestLane(granted)]];
  }
  void NoteBlocked(LaneMask ready, LaneMask eligible) {
    blocked_ |= layout_.LastLanesIn(ready) & ~layout_.LastLanesIn(eligible);
  }
  LaneMask Spend(LaneMask granted) {
    LaneMask spent = 0;
    for (LaneMask m = granted; m != 0; m &= m - 1) {
      const unsigned lane = LowestLane(m);
      if (--left_[layout_.SchedulerOf(lane)][kernel_of_[lane]] == 0) spent |= LaneBit(lane);
    }
    return spent;
  }

  // By lane. `may_`: warps that can be granted when they are ready; `last_`: granted last.
  LaneMask may_ = 0, last_ = 0;
  LaneMask usual_ = 0;        // see Usual()
  LaneMask granted_ = 0;      // since Load()
  LaneMask blocked_ = 0;      // likewise: schedulers with ready warps that granted none
  std::uint32_t grants_ = 0;  // likewise, but for those in `recent_`
  LaneMask recent_ = 0;       // likewise, by field
  LaneMask inverted_ = 0;     // an older one has a higher lane
  bool loaded_ = false, gated_ = false;
  bool several_ = false;   // there are warps of more than one kernel
  bool counting_ = false;  // gated_ or several_: grants are counted by kernel
  LaneMask counted_ = 0;   // of recent_: any is, or one that is full
  unsigned kernel_ = 0;    // if not: whose they are
  const bool greedy_;
  const LaneLayout layout_;
  const bool greedy_16_;                             // and schedulers have 16 lanes
  std::array<std::uint32_t, kMaxKernels> issued_{};  // since Load(), if not gated
  std::array<std::array<std::uint16_t, kMaxKernels>, kMaxSchedulers> left_{};  // if gated
  std::array<std::uint8_t, kLanes> kernel_of_{};
  std::array<LaneMask, kLanes> older_{};  // who is older than each
};

}  // namespace smk
