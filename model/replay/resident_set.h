// SPDX-License-Identifier: Apache-2.0
// The launches in the kernel slots, and how fast each goes on.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "machine/run.h"
#include "replay/alone_speeds.h"
#include "replay/kinds.h"
#include "replay/places.h"
#include "replay/rates.h"
#include "replay/replay_checks.h"
#include "replay/sm_speeds.h"
#include "replay/tb_spread.h"

namespace smk {

class ResidentSet {
 public:
  // The arguments must live as long.
  ResidentSet(const RunRequest& request, RateSource& rates, ReplayChecks& checks);

  // A launch that is done: what it was.
  struct Ended {
    JobId job{0};
    std::uint32_t tbs = 0;
    double work = 0;
    const AloneRate* alone = nullptr;
  };

  void Launch(KernelId slot, JobId job, const LaunchKind& kind, std::uint32_t first_tb, Cycle now);
  // Work until `now`, which is at most NextEvent().
  void Advance(Cycle now);
  // Launches that are done, a bit per slot.
  KernelMask Done() const;
  // Takes one of them out.
  Ended Take(KernelId slot, Cycle now);
  // When a launch is done, begins to drain, or its rate may change; kNever without launches.
  Cycle NextEvent();
  // Some launch goes on.
  bool Progresses();
  // Of the launch in the slot: whole TBs that are done, and work; 0 without one.
  std::uint32_t TbsDone(KernelId slot) const;
  double WorkDone(KernelId slot) const;
  bool Has(KernelId slot) const { return slots_[Index(slot)].busy; }
  JobId JobOf(KernelId slot) const { return slots_[Index(slot)].job; }
  const AloneRate& AloneOf(KernelId slot) const { return kinds_[slots_[Index(slot)].kind].alone; }

 private:
  using Kind = Kinds::Kind;
  struct Slot {
    bool busy = false;
    bool placed = false;     // it goes on
    bool spread = false;     // TB by TB: its work follows from them
    bool drains = false;     // all its TBs have been placed, and some have ended
    double places = 0;       // its TBs on the SMs; when it drains, at the beginning
    Cycle leaves_until = 0;  // its places are given to an older launch, whose kernel came again
    JobId job{0};
    std::size_t kind = 0;  // of it, or of the one before
    double left = 0;       // work
    double rate = 0;
    double work = 0;           // done
    double all = 0;            // of all its TBs
    std::uint64_t number = 0;  // of the launch, in the order of all
  };
  // Of the TBs from the first on, in the unit of the kind.
  double WorkOf(const Kind& kind, std::uint32_t first_tb);
  // Its TBs have all been placed: it has none for the places of others.
  bool AllPlaced(const Slot& slot) const;
  // Work that is left when the launch begins to drain; 0: it does not.
  double DrainsAt(const Slot& slot) const;
  bool Leaves(const Slot& slot) const { return slot.leaves_until > now_; }
  KernelMask Busy() const;
  KernelMask Holders() const;
  // It is followed TB by TB: the GPU holds it whole, and so it does all that are there.
  bool Spreads(const LaunchKind& kind) const;
  void BeginSpread(KernelId slot);
  void EndSpread();
  void AdvanceSpread(Cycle cycles);
  void RefreshSpread();
  // Of what is on an SM, by kernel slot.
  using SlotSpeeds = std::array<SmSpeeds::Speed, kNumKernels>;
  SlotSpeeds SpeedsOn(const TbSpread::State& state);
  void Refresh();
  void AddRates(KernelMask slots, double weight);
  void Displace(const std::vector<KernelId>& before);

  ReplayChecks& checks_;
  Kinds kinds_, one_sm_;  // of the GPU, and of one of a single SM
  AloneSpeeds alone_speeds_;
  SmSpeeds sm_speeds_;
  Places places_;
  TbSpread spread_;
  std::map<TbSpread::State, SlotSpeeds> speeds_;  // while the same launches are there
  // Of the TBs of a kind, by kind.
  std::map<std::size_t, std::vector<double>> parts_;
  // Lengths of the TBs before each of a kernel's, and of all; empty: they are alike.
  std::map<const KernelSpec*, std::vector<double>> lengths_;
  std::uint64_t launches_ = 0;
  std::array<Slot, kNumKernels> slots_{};
  bool changed_ = false;  // rates are those of another set
  bool ordered_;          // the order of a set matters
  Cycle now_ = 0;
};

}  // namespace smk
