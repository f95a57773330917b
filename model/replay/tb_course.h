// SPDX-License-Identifier: Apache-2.0
// Launches that are followed TB by TB: left-over, and not too many TBs. What one has beyond those
// that the GPU holds goes on as these do; a whole launch at the speed at which it does so alone.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "machine/run.h"
#include "replay/alone_speeds.h"
#include "replay/course.h"
#include "replay/sm_speeds.h"
#include "replay/tb_spread.h"

namespace smk {

class TbCourse : public Course {
 public:
  // The arguments must live as long. `one_sm`: kinds of a GPU of one SM.
  TbCourse(const MachineConfig& machine, Residents& residents, Kinds& one_sm);

  // A whole launch of more TBs is followed at rates: each end of a TB is an event.
  static constexpr std::uint32_t kMostTbs = 4096;
  static bool Follows(const LaunchKind& launch) { return !launch.whole || launch.tbs <= kMostTbs; }
  // A whole launch that feeds.
  bool Feeds(const LaunchKind& launch) const {
    return launch.whole && !alone_speeds_.Holds(launch);
  }
  void Begin(KernelId slot) override;
  // The residents go on in another course.
  void Clear() { spread_.Clear(); }
  void Refresh() override;
  bool Advance(Cycle next) override;
  bool Done(KernelId slot) const override { return spread_.Ended(slot); }
  Cycle NextEvent() const override;

 private:
  using Slot = Residents::Slot;
  // Of what is on an SM, by kernel slot.
  struct SlotSpeed {
    SmSpeeds::Speed of_all;
    const std::vector<double>* by_age = nullptr;
  };
  using SlotSpeeds = std::array<SlotSpeed, kNumKernels>;
  // The launch whose TBs are as fast: the largest slice that the GPU holds, if that is less.
  std::size_t HeldOf(std::size_t kind);
  SlotSpeeds SpeedsOn(const TbSpread::State& state);
  // Of a whole launch that feeds, which has begun: SmSpeeds::Member.
  std::optional<double> FeedingOf(std::size_t kind);
  // A launch alone, at the speeds of TBs that begin together.
  double CyclesInStep(std::size_t kind);
  void SetSpeeds();

  Residents& residents_;
  const ResourceVector limits_;
  const unsigned sms_;
  AloneSpeeds alone_speeds_;
  SmSpeeds sm_speeds_;
  TbSpread spread_;
  std::map<TbSpread::State, SlotSpeeds> speeds_;  // while the same launches are there
  // Of the TBs of a kind, by kind.
  std::map<std::size_t, std::vector<double>> parts_;
  std::map<std::size_t, double> feeding_;
};

}  // namespace smk
