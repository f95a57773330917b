// SPDX-License-Identifier: Apache-2.0
// The launches in the kernel slots, and how fast each goes on.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "machine/run.h"
#include "replay/course.h"
#include "replay/rates.h"
#include "replay/replay_checks.h"
#include "replay/set_course.h"
#include "replay/tb_course.h"

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
  bool Has(KernelId slot) const { return SlotOf(slot).busy; }
  JobId JobOf(KernelId slot) const { return SlotOf(slot).job; }
  const AloneRate& AloneOf(KernelId slot) const { return residents_.KindOf(SlotOf(slot)).alone; }

 private:
  using Slot = Residents::Slot;
  const Slot& SlotOf(KernelId slot) const { return residents_.slots[Index(slot)]; }
  // Of the TBs from the first on, in the unit of the kind.
  double WorkOf(const Kinds::Kind& kind, std::uint32_t first_tb);
  // A launch that feeds, and goes on at its rate until another comes.
  struct Lone {
    KernelId slot{0};
    Cycle begin = 0;
  };
  // The course in which the launch that begins, and all that are there, go on.
  Course& CourseWith(KernelId slot, const LaunchKind& kind);
  // TB by TB from now on, as if it always had.
  void Follow(const Lone& lone);
  void Refresh();

  ReplayChecks& checks_;
  Residents residents_;
  Kinds one_sm_;  // of a GPU of one SM
  SetCourse set_course_;
  TbCourse tb_course_;
  Course* course_;
  std::optional<Lone> lone_;
  // Lengths of the TBs before each of a kernel's, and of all; empty: they are alike.
  std::map<const KernelSpec*, std::vector<double>> lengths_;
  std::uint64_t launches_ = 0;
  bool changed_ = false;  // rates are those of another set
  const bool ordered_;    // the order of a set matters
};

}  // namespace smk
