// SPDX-License-Identifier: Apache-2.0
// How fast TBs of one kernel go on on the SMs, from runs of the kernel alone.
//
// Alike       All SMs have as many TBs. One, half the even share of the launch, this share, and the
//             most that fit are measured, and what is between them is linear.
// On one SM   The same on a GPU of one SM: what an SM has when the others are empty.
// Differing   SMs demand what each has when the others are empty. The GPU delivers as much of it as
//             where all are alike and demand as much; all SMs have the same part.
// By age      Warp schedulers prefer the oldest: of the TBs on an SM, the first so many have
//             together what they have alone, in so far as the ends of a launch's TBs show this.
// Out of step TBs that did not all come at once go on as those of slices that overlap.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "machine/run.h"
#include "replay/kinds.h"

namespace smk {

class AloneSpeeds {
 public:
  // The arguments must live as long. `one_sm`: kinds of a GPU of one SM.
  AloneSpeeds(const MachineConfig& machine, Kinds& kinds, Kinds& one_sm)
      : limits_(machine.sm.limits), sms_(machine.sms), kinds_(kinds), one_sm_(one_sm) {}

  // The GPU holds all its TBs.
  bool Holds(const LaunchKind& launch) const;
  unsigned EvenOf(std::size_t kind) const;
  unsigned MostOf(std::size_t kind) const;
  // Cycles of a launch that has so many TBs on each SM; on an SM whose others are empty.
  double TimeOf(std::size_t kind, unsigned tbs) { return Between(kind, tbs, &AloneSpeeds::TimeAt); }
  double OwnTimeOf(std::size_t kind, unsigned tbs) {
    return Between(kind, tbs, &AloneSpeeds::OwnTimeAt);
  }
  // The part that SMs have of what they demand together, in TBs per cycle.
  double Delivered(std::size_t kind, double demand);
  // Where the kernel is alone: by the TBs on each SM.
  double DeliveredTo(std::size_t kind, const std::vector<unsigned>& tbs);
  // Of so many TBs on an SM: the speed of each by their mean, the oldest first.
  const std::vector<double>& ByAge(std::size_t kind, unsigned tbs);
  // Of each TB of a launch: cycles of its own time (OwnTimeOf) until it ends, by that time. At
  // speeds by age TBs end when they did.
  std::vector<double> PartsOf(std::size_t kind);

  // Slices of the kernel, one of which comes as the TBs of another end.
  struct Overlap {
    double speed = 1;     // of TBs, by the speed in step
    double priority = 1;  // of the older slice: 1: it has what it has alone; 0: an equal part
  };
  // Of the largest slices; as in step where the GPU holds the whole kernel.
  Overlap OverlapOf(std::size_t kind, Cycle now);

 private:
  // The same at this priority of the older: 0: all are as fast; 1: they have what they have alone.
  std::vector<double> ByAgeAt(std::size_t kind, unsigned tbs, double priority);
  std::vector<double> PartsAt(std::size_t kind, double priority);
  // With which the parts of TBs differ least, of the largest slice that the GPU holds.
  double AgePriorityOf(std::size_t kind);
  using TimeAtTbs = double (AloneSpeeds::*)(std::size_t kind, unsigned tbs);
  // On each SM, in order.
  std::vector<unsigned> MeasuredOf(std::size_t kind) const;
  double Between(std::size_t kind, unsigned tbs, TimeAtTbs at);
  // Measured: the even share of the launch, or others.
  double TimeAt(std::size_t kind, unsigned tbs);
  double OwnTimeAt(std::size_t kind, unsigned tbs);
  Overlap MeasureOverlap(std::size_t full, Cycle now);

  const ResourceVector limits_;
  const unsigned sms_;
  Kinds &kinds_, &one_sm_;
  // By kind: TBs per cycle that are delivered, by those that SMs demand, where all are alike.
  std::map<std::size_t, std::map<double, double>> delivered_;
  std::map<std::size_t, Overlap> overlaps_;
  // By kind and TBs. References stay good.
  std::map<std::pair<std::size_t, unsigned>, std::vector<double>> by_age_;
  std::map<std::size_t, double> age_priorities_;
};

}  // namespace smk
