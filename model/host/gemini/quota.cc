// SPDX-License-Identifier: Apache-2.0
#include "host/gemini/quota.h"

#include <algorithm>

namespace smk::gemini {

Nanoseconds EstimatedBurst(const BurstReport& report, std::int64_t alpha) {
  return report.last + PartOf(report.max, alpha) - PartOf(report.last, alpha);
}

Nanoseconds SmoothedQuota(Nanoseconds last_quota, Nanoseconds estimate, std::int64_t beta) {
  return estimate + PartOf(last_quota, beta) - PartOf(estimate, beta);
}

Nanoseconds LargestQuota(const Settings& settings, std::int64_t limit) {
  return std::max<Nanoseconds>(1, PartOf(settings.window, limit));
}

Nanoseconds NextQuota(const Settings& settings, Nanoseconds last_quota, const BurstReport& report,
                      std::int64_t limit) {
  if (settings.control == Control::kStatic) return settings.quota;
  const Nanoseconds most = LargestQuota(settings, limit);
  Nanoseconds quota = settings.base_quota;
  if (report.max != 0) {
    quota = SmoothedQuota(last_quota, EstimatedBurst(report, settings.alpha), settings.beta);
  }
  return std::min(most, std::max(quota, settings.least_quota));
}

}  // namespace smk::gemini
