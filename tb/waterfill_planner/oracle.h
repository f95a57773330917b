// SPDX-License-Identifier: Apache-2.0
// Algorithm 1 of Warped-Slicer as printed, with its vectors Q and M, and the search of all tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/oracle.h"

namespace smk::oracle {

// A kernel of a plan: what a TB needs, and its performance with 1, 2, ... TBs.
struct Curve {
  ResourceVector need{};
  std::vector<unsigned> performance;  // [TBs - 1]
};
using Curves = std::vector<Curve>;
using TbCounts = std::vector<unsigned>;

// TBs of one kernel that an SM of its own holds.
inline unsigned MostAlone(const Curve& curve, const ResourceVector& limits) {
  unsigned most = 0;
  while (most < curve.performance.size() && Fits(Times(curve.need, most + 1), limits)) ++most;
  return most;
}

inline unsigned Peak(const Curve& curve, const ResourceVector& limits) {
  unsigned peak = 0;
  for (unsigned i = 0; i < MostAlone(curve, limits); ++i) {
    peak = std::max(peak, curve.performance[i]);
  }
  return peak;
}

// Performance over the best one, in 2^-16, rounded down; the best of all is all ones.
inline unsigned Level(const Curve& curve, unsigned tbs, const ResourceVector& limits) {
  if (tbs == 0) return 0;
  const unsigned peak = Peak(curve, limits), has = curve.performance[tbs - 1];
  if (has >= peak) return 65535;
  return static_cast<unsigned>(std::uint64_t{has} * 65536 / peak);
}

inline bool AllFit(const Curves& curves, const TbCounts& tbs, const ResourceVector& limits) {
  unsigned sums[4] = {};
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const ResourceVector& need = curves[i].need;
    sums[0] += need.registers * tbs[i];
    sums[1] += need.shared_memory * tbs[i];
    sums[2] += need.threads * tbs[i];
    sums[3] += tbs[i];
  }
  return sums[0] <= limits.registers && sums[1] <= limits.shared_memory &&
         sums[2] <= limits.threads && sums[3] <= limits.tbs;
}

inline unsigned LowestLevel(const Curves& curves, const TbCounts& tbs,
                            const ResourceVector& limits) {
  unsigned lowest = 65535;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    lowest = std::min(lowest, Level(curves[i], tbs[i], limits));
  }
  return lowest;
}

// Lines 6 to 32. What it leaves open: a step beyond the last is none [D31]; the first TBs are given
// from kernel `first` on, while they fit [D4].
inline TbCounts WaterFill(const Curves& curves, const ResourceVector& limits, std::size_t first) {
  const std::size_t n = curves.size();
  std::vector<TbCounts> m(n);
  TbCounts t(n, 0), g(n, 0);
  std::vector<bool> full(n, false);
  for (std::size_t i = 0; i < n; ++i) {
    unsigned max = curves[i].performance.empty() ? 0 : curves[i].performance[0];
    m[i].push_back(1);
    for (unsigned j = 2; j <= MostAlone(curves[i], limits); ++j) {
      if (curves[i].performance[j - 1] <= max) continue;
      max = curves[i].performance[j - 1];
      m[i].push_back(j);
    }
  }
  for (std::size_t offset = 0; offset < n; ++offset) {
    const std::size_t i = (first + offset) % n;
    t[i] = 1;
    if (AllFit(curves, t, limits)) continue;
    t[i] = 0;
    full[i] = true;
  }
  for (;;) {
    std::size_t s = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (full[i]) continue;
      if (s == n || Level(curves[i], t[i], limits) < Level(curves[s], t[s], limits)) s = i;
    }
    if (s == n) return t;
    full[s] = true;
    if (g[s] + 1 == m[s].size()) continue;
    TbCounts more = t;
    more[s] = m[s][g[s] + 1];
    if (!AllFit(curves, more, limits)) continue;
    full[s] = false;
    t = more;
    ++g[s];
  }
}

// The highest lowest level of all tables with a TB of each kernel or more.
inline unsigned BestOfAllTables(const Curves& curves, const ResourceVector& limits) {
  TbCounts tbs(curves.size(), 1);
  unsigned best = 0;
  for (;;) {
    if (AllFit(curves, tbs, limits)) best = std::max(best, LowestLevel(curves, tbs, limits));
    std::size_t i = 0;
    while (i < curves.size() && tbs[i] == MostAlone(curves[i], limits)) tbs[i++] = 1;
    if (i == curves.size()) return best;
    ++tbs[i];
  }
}

}  // namespace smk::oracle
