// SPDX-License-Identifier: Apache-2.0
// Clients that share one GPU for seconds or hours: an event-driven simulation in nanoseconds.
//
// Purpose     The clients' programs and hooks, the token scheduler, the GPU's time slices and its
//             memory, on one clock. At one time, events are taken in the order in which they were
//             made; the GPU before them, and the scheduler's choice after them.
// Not here    What happens inside a kernel. Its time is given, and is that of the kernel alone: two
//             clients never execute at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "host/gemini/records.h"

namespace smk::gemini {

// A run has no more samples of the shares.
inline constexpr std::size_t kMostSamples = 1'000'000;

struct TenantRequest {
  Settings settings;
  MemorySettings memory;
  std::vector<ClientScript> clients;
  Nanoseconds duration = kNeverNs;  // the run ends then, or when all clients have
  Nanoseconds sample = kSecond;     // between samples of the shares; 0: none
  std::uint64_t seed = 1;
};

// Throws InputError for clients that cannot be: requests of more than the whole GPU, a request
// above its limit, memory that does not fit, no steps, or steps that take no time.
void CheckTenants(const TenantRequest& request);

// Throws InputError when there are more than kMostSamples before all clients end.
TenantResult RunTenants(const TenantRequest& request);

// Laws that every result obeys; throws CheckFailure naming the first that does not hold. The number
// of laws that were looked at.
std::uint64_t CheckTenantResult(const TenantRequest& request, const TenantResult& result);

}  // namespace smk::gemini
