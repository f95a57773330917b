// SPDX-License-Identifier: Apache-2.0
// What the replay device knows of kernels: how fast their TBs end, alone and beside others.
//
// Work        A TB is one unit of work, done when its instructions are issued. Where TBs have more
//             or fewer instructions, the unit is the mean of those that were measured.
// Phases      A launch of more TBs than it has places first feeds: a TB that ends is followed by
//             one that was not placed yet. From the last placement on it drains, and has fewer and
//             fewer TBs. A launch whose TBs are all placed at once does neither: it has one rate.
// Source      Measured by the cycle model: see measure.h and docs/replay.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/resources.h"
#include "workload/workload.h"

namespace smk {

// Launches that are alike: one kernel, and as many TBs.
struct LaunchKind {
  std::shared_ptr<const Workload> workload;
  std::uint16_t kernel = 0;  // place in Workload::kernels
  std::uint32_t tbs = 0;
  bool whole = true;  // the kernel has no other TBs

  const KernelSpec& spec() const { return workload->kernels[kernel]; }
};

// TBs on an SM when they lie evenly: the most that one has.
inline std::uint32_t EvenShare(std::uint32_t tbs, unsigned sms) { return (tbs + sms - 1) / sms; }

// The even shares of all fit on an SM together.
bool EvenSharesFit(const std::vector<LaunchKind>& set, const ResourceVector& limits, unsigned sms);

// A launch in a set.
struct SetRate {
  double rate = 0;    // TBs per cycle, until it drains
  double places = 0;  // its TBs on the SMs meanwhile
};

// What the launches of a set have, in the order of the set. Warps that are older issue first, so a
// slice goes on faster beside a younger one.
struct SetRates {
  // Places in the set, the launch that was taken first at the front.
  using Ages = std::vector<std::size_t>;

  std::vector<SetRate> mean;
  std::map<Ages, std::vector<SetRate>> by_age;  // as far as it was seen
  double first_cycles = 0;  // until the launch that was taken first was done; 0: it was not

  const std::vector<SetRate>& Of(const Ages& ages) const {
    const auto found = by_age.find(ages);
    return found == by_age.end() ? mean : found->second;
  }
};

// A launch alone on the GPU.
struct AloneRate {
  double rate = 0;          // TBs per cycle, until it drains
  double drain_tbs = 0;     // work that is left then; 0: all its TBs are placed at once
  double drain_cycles = 0;  // and how long that takes
  double places = 0;        // its TBs on the SMs until it drains
  double drain_places = 0;  // and on average while it does
  double instructions = 0;  // of a TB, warp instructions
  double dram_bytes = 0;    // of a TB, read and written
  double unit_tbs = 0;      // of so many first TBs these are the means
  // Of a launch whose TBs are all placed at once: when each ends, as a part of its time.
  std::vector<double> tb_ends{};

  // Of a launch that drains: parts of its rate, and of its places, that it has. Of the work on its
  // places: what is left at the beginning. One that never drained, or in so short a time that its
  // places were not seen: as TBs end one by one.
  double RatePart() const;
  double PlacesPart() const;
  double WorkPart() const;
  // What it has beside others when that cannot be measured: as if each had an equal part.
  SetRate Part(std::size_t members) const;
  // From its first TB's placement until it is done.
  double Cycles(std::uint32_t tbs) const;
};

// Contract: the same answer to the same question, whenever it is asked.
class RateSource {
 public:
  virtual ~RateSource() = default;
  virtual AloneRate Alone(const LaunchKind& launch) = 0;
  // Of each of two or more launches that have places at the same time, and that feed
  // if they ever do. With the left-over policy the first in the set is the oldest.
  virtual SetRates Together(const std::vector<LaunchKind>& set) = 0;
  // The rates on a GPU with one of the SMs, and all of the memory.
  virtual RateSource& OnOneSm() = 0;
};

}  // namespace smk
