// SPDX-License-Identifier: Apache-2.0
// The quota of a token ([Gemini] Sec. 3.5.2, eq. 1 and 2).
#pragma once

#include "host/gemini/settings.h"

namespace smk::gemini {

// What a client's hook reports with a request: times of merged bursts; 0: none is known.
struct BurstReport {
  Nanoseconds max = 0;   // KB_max, the 90th percentile
  Nanoseconds last = 0;  // KB_last
};

// Eq. 1: KB_est = alpha KB_max + (1 - alpha) KB_last, rounded down.
Nanoseconds EstimatedBurst(const BurstReport& report, std::int64_t alpha);

// Eq. 2: tau = beta tau_last + (1 - beta) KB_est, rounded down.
Nanoseconds SmoothedQuota(Nanoseconds last_quota, Nanoseconds estimate, std::int64_t beta);

// What the client's limit leaves of a window, a nanosecond at least.
Nanoseconds LargestQuota(const Settings& settings, std::int64_t limit);

// The quota of the next token: base_quota before any burst is known, at least least_quota, and at
// most LargestQuota().
Nanoseconds NextQuota(const Settings& settings, Nanoseconds last_quota, const BurstReport& report,
                      std::int64_t limit);

// `share` millionths of `time`, rounded down.
constexpr Nanoseconds PartOf(Nanoseconds time, std::int64_t share) {
  return time / kWhole * share + time % kWhole * share / kWhole;
}

}  // namespace smk::gemini
