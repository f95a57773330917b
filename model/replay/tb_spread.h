// SPDX-License-Identifier: Apache-2.0
// Which TBs lie on which SM under left-over, where the GPU holds every launch whole.
//
// Dispatch    As tb_stream: the oldest kernel that has a TB goes first, to its next SM in turn that
//             has room for it [D29].
// Places      As tb_places: a TB lies where an earlier one of its kernel lay, else behind all
//             others, else in the first gap. Without one it waits there, and the SM gets no other
//             TB meanwhile [D73].
// Time        A TB has a part of the time of its launch, in which it goes on at a speed: the mean
//             of its launch's TBs on the SM, times its share by age.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "base/resources.h"
#include "machine/run.h"
#include "workload/workload.h"

namespace smk {

class TbSpread {
 public:
  // TBs on an SM, by kernel slot.
  using Mix = std::array<std::uint16_t, kNumKernels>;
  // What is on an SM.
  struct State {
    Mix now{}, most{};    // TBs, and the most since there were none
    bool in_step = true;  // all came in the same cycle
    bool operator<(const State& other) const {
      return std::tie(now, most, in_step) < std::tie(other.now, other.most, other.in_step);
    }
  };
  // Of a launch's TBs on an SM.
  struct Speed {
    double mean = 0;  // parts of the launch's time in a cycle
    // What each has of it, the oldest first; all have the same without.
    const std::vector<double>* by_age = nullptr;
  };
  using Speeds = std::array<Speed, kNumKernels>;  // by kernel slot

  TbSpread(const ResourceVector& limits, unsigned sms)
      : limits_(limits), sms_(sms), last_(sms - 1) {}

  // A launch of so many TBs into a slot that has none. `parts`: of the time of the launch, what
  // each TB has; of those that are not there, all of it.
  void Launch(KernelId slot, const KernelSpec& kernel, std::uint32_t tbs,
              std::vector<double> parts);
  // Nothing is on the SMs any more.
  void Clear();
  // TBs that are on no SM go where there is room. By slot: the lower rank is older.
  void Place(const std::array<std::uint64_t, kNumKernels>& ranks);

  unsigned sms() const { return static_cast<unsigned>(sms_.size()); }
  const State& On(unsigned sm) const { return sms_[sm].state; }
  // Until TBs begin or end there. What `by_age` refers to has one number for each TB.
  void SetSpeeds(unsigned sm, const Speeds& speeds);

  // Cycles until a TB ends; kNever when none goes on.
  Cycle NextEnd() const;
  // TBs that have ended leave. Says whether there were any.
  bool Advance(Cycle cycles);
  // Of the launch: TBs that have ended, and the parts that are done of those on the SMs.
  double Done(KernelId slot) const;
  // TBs in a cycle.
  double RateOf(KernelId slot) const;
  bool Ended(KernelId slot) const;

 private:
  struct Lying {
    unsigned slot = 0;
    unsigned registers = 0, shared_memory = 0;  // where it begins
  };
  struct Tb {
    Lying lies;
    double part = 1, left = 1, speed = 0;
    Cycle start = 0;
  };
  struct Sm {
    std::vector<Tb> tbs;      // by age
    std::vector<Lying> kept;  // of TBs that have ended, and whose kernel has others here
    unsigned registers = 0, shared_memory = 0;  // nothing lies from here on
    ResourceVector taken{};
    std::optional<Tb> waits;  // for a gap
    State state;
  };
  struct Slot {
    const KernelSpec* kernel = nullptr;
    std::uint32_t tbs = 0, sent = 0, ended = 0;
    std::vector<double> parts;
  };

  const ResourceVector& NeedOf(unsigned slot) const { return slots_[slot].kernel->need; }
  bool LiesIn(const Lying& at) const;
  bool FindGap(const Sm& sm, Lying* at) const;
  bool FindPlace(Sm* sm, Lying* at) const;
  void Begin(Sm* sm, Tb tb);
  static bool InStep(const Sm& sm);
  void Leave(Sm* sm);
  // The slot's next SM in turn with room; sms() without one.
  unsigned NextSm(unsigned slot) const;

  const ResourceVector limits_;
  std::vector<Sm> sms_;
  std::array<Slot, kNumKernels> slots_{};
  unsigned last_;  // the SM that was sent a TB last
  Cycle now_ = 0;
};

}  // namespace smk
