// SPDX-License-Identifier: Apache-2.0
// How long memory takes under load, as Kernelet sees it: a straight line over the requests that
// are outstanding ([Kernelet] Sec. 4.3, "linear memory latency model").
#pragma once

#include <vector>

namespace smk {

// L = a0 x + b0: cycles from the cycle after a warp issued a memory instruction until it is ready
// again, with x requests outstanding on its SM. A latency that counts the cycle of issue as well
// has a b0 that is larger by one [D40].
struct LatencyLine {
  double a0 = 0;  // cycles per outstanding request
  double b0 = 1;  // cycles without load

  // At least one cycle.
  double At(double outstanding) const;
};

// What a microbenchmark measured.
struct LatencyPoint {
  double outstanding = 0;  // requests per SM
  double latency = 0;      // cycles
};

// The line with the smallest sum of squares among those that neither fall nor begin below zero
// [D47]. InputError with fewer than two different numbers of requests.
LatencyLine FitLatencyLine(const std::vector<LatencyPoint>& points);

// The line of instructions of so many requests each, when all that is known is that of one
// request: the last of them has the others before it, so L = a0 (x + requests - 1) + b0 [D41].
LatencyLine LineOfSeveral(const LatencyLine& line, double requests);

}  // namespace smk
