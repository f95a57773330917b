// SPDX-License-Identifier: Apache-2.0
// How fast the TBs go on that are on an SM together.
//
// One launch  As AloneSpeeds says.
// Together    Where the even shares of all fit on an SM, each has the part of its speed that it has
//             in the set, in so far as the others have their even shares there.
// Crowded     Of one kernel, the older launch goes first, by its priority where slices overlap. Of
//             several, the even shares are cut until they fit, and this set is measured. The time
//             that one loses there grows with what the others have.
// Feeds       TBs that follow each other end sooner than those that begin together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/run.h"
#include "replay/alone_speeds.h"
#include "replay/kinds.h"

namespace smk {

class SmSpeeds {
 public:
  // A launch with TBs on the SM.
  struct Member {
    std::size_t kind = 0;
    unsigned tbs = 0, most = 0;  // now, and since there were none
    std::uint64_t number = 0;    // of the launch, in the order of all
    // Where it feeds: its speed alone, by that of TBs that begin together.
    std::optional<double> feeding = {};
  };
  // What it has when the other SMs are empty.
  struct Speed {
    double parts = 0;   // of its time, in a cycle
    double demand = 0;  // TBs of its kernel per cycle: for AloneSpeeds::Delivered()
  };

  // The arguments must live as long.
  SmSpeeds(const MachineConfig& machine, Kinds& kinds, AloneSpeeds& alone)
      : limits_(machine.sm.limits), sms_(machine.sms), kinds_(kinds), alone_(alone) {}

  // Of each member, the oldest kernel first.
  std::vector<Speed> Of(const std::vector<Member>& members, bool in_step, Cycle now);

 private:
  const KernelSpec& SpecOf(const Member& member) const { return kinds_[member.kind].launch.spec(); }
  bool AlikeFit(const std::vector<Member>& members) const;
  std::vector<Speed> Together(const std::vector<Member>& members, Cycle now);
  std::vector<Speed> OutOfStep(const std::vector<Member>& members, Cycle now);
  std::vector<Speed> Crowded(const std::vector<Member>& members, Cycle now);
  // TBs of each member that fit on an SM together, in turn, up to its even share.
  std::vector<unsigned> CutShares(const std::vector<Member>& members) const;

  const ResourceVector limits_;
  const unsigned sms_;
  Kinds& kinds_;
  AloneSpeeds& alone_;
};

}  // namespace smk
