// SPDX-License-Identifier: Apache-2.0
// How fast TBs go on on an SM, from rates that were measured with the same TBs on all SMs.
//
// Alone       A launch has an even share of TBs on each SM, and takes its time. With another number
//             there: between one TB, the even share, and the most that fit, which are measured.
// Together    Where the even shares of all fit on an SM, each has the part of its speed that it has
//             in the set, in so far as the others have their even shares there.
// Otherwise   All have the same part, so that the parts of their highest throughput are at most 1.
// Out of step Where TBs of one kernel did not all come at once, they go on as a launch that feeds.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/run.h"
#include "replay/kinds.h"
#include "replay/tb_spread.h"

namespace smk {

class SmSpeeds {
 public:
  // A launch with TBs on the SM.
  struct Member {
    std::size_t kind = 0;
    unsigned tbs = 0, most = 0;  // now, and since there were none
    std::uint64_t number = 0;    // of the launch, in the order of all
  };

  // The arguments must live as long.
  SmSpeeds(const MachineConfig& machine, Kinds& kinds)
      : limits_(machine.sm.limits), sms_(machine.sms), kinds_(kinds) {}

  // The GPU holds all its TBs.
  bool Holds(const LaunchKind& launch) const;
  // Of each TB of a launch: what it has of the launch's time, on an SM that is at full speed. As
  // others end, those that are left on their SM go on faster, and end when they did alone.
  std::vector<double> PartsOf(std::size_t kind);
  // Of each member, the oldest kernel first: parts of its time in a cycle.
  std::vector<double> Of(const std::vector<Member>& members, bool in_step, Cycle now);

 private:
  unsigned EvenOf(std::size_t kind) const;
  unsigned MostOf(std::size_t kind) const;
  // Cycles of a launch that has so many TBs on each SM, alone.
  double TimeOf(std::size_t kind, unsigned tbs);
  double OutOfStep(std::size_t kind);
  bool AlikeFit(const std::vector<Member>& members) const;
  std::vector<double> Together(const std::vector<Member>& members, Cycle now);
  std::vector<double> Otherwise(const std::vector<Member>& members);

  const ResourceVector limits_;
  const unsigned sms_;
  Kinds& kinds_;
};

}  // namespace smk
