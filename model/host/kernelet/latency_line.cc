// SPDX-License-Identifier: Apache-2.0
#include "host/kernelet/latency_line.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace smk {
namespace {

struct Moments {
  double n = 0, x = 0, y = 0;  // number, means
  double xx = 0, xy = 0;       // sums about the means
  double raw_xx = 0, raw_xy = 0;
};

Moments MomentsOf(const std::vector<LatencyPoint>& points) {
  Moments m;
  m.n = static_cast<double>(points.size());
  for (const LatencyPoint& p : points) {
    m.x += p.outstanding / m.n;
    m.y += p.latency / m.n;
  }
  for (const LatencyPoint& p : points) {
    m.xx += (p.outstanding - m.x) * (p.outstanding - m.x);
    m.xy += (p.outstanding - m.x) * (p.latency - m.y);
    m.raw_xx += p.outstanding * p.outstanding;
    m.raw_xy += p.outstanding * p.latency;
  }
  return m;
}

}  // namespace

double LatencyLine::At(double outstanding) const { return std::max(1.0, a0 * outstanding + b0); }

LatencyLine FitLatencyLine(const std::vector<LatencyPoint>& points) {
  bool two = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const LatencyPoint& p = points[i];
    if (!std::isfinite(p.outstanding) || !std::isfinite(p.latency) || p.outstanding < 0 ||
        p.latency <= 0) {
      throw InputError("latency: point " + std::to_string(i) +
                       ": expected requests of at least 0 and a latency above 0");
    }
    two = two || p.outstanding != points[0].outstanding;
  }
  if (!two) throw InputError("latency: expected points of at least two numbers of requests");
  const Moments m = MomentsOf(points);
  LatencyLine line;
  line.a0 = m.xy / m.xx;
  line.b0 = m.y - line.a0 * m.x;
  // A quadratic form over a half plane has its minimum on the edge that the free one lies beyond.
  if (line.a0 < 0) line = {0, m.y};
  if (line.b0 < 0) line = {m.raw_xy / m.raw_xx, 0};
  return line;
}

LatencyLine LineOfSeveral(const LatencyLine& line, double requests) {
  return {line.a0, line.b0 + line.a0 * (requests - 1)};
}

}  // namespace smk
