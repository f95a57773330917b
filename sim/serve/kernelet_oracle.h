// SPDX-License-Identifier: Apache-2.0
// Pairs of kernels as they are when they are measured, for Kernelet's OPT and for its Fig. 5.
#pragma once

#include <string>
#include <vector>

#include "serve/kernelet_profiles.h"

namespace smk::sim {

// Two kernels in slices of some sizes, as the model predicts it and as it was measured.
struct MeasuredPair {
  std::size_t a = 0, b = 0;  // places in KerneletProfiles::kernels, a <= b
  SlicePair predicted, measured;
  bool balanced = false;  // the sizes are those that the model finds
};

// Every pair that fits an SM, in all sizes that fill one. Each is run for as long as both kernels
// take one after the other, and no longer than is enough [D96]; a kernel that ends begins again.
std::vector<MeasuredPair> MeasurePairs(const KerneletProfiles& profiles, KerneletRuns* runs);

// OPT ([Kernelet] Sec. 5.1): the same algorithm, which knows of every pair the sizes with the
// largest profit, and the profit, from measurements. No pair is left out.
KerneletPlan OraclePlan(const KerneletProfiles& profiles, const std::vector<MeasuredPair>& pairs);

// A row for each pair and size.
std::string MeasuredCsv(const KerneletProfiles& profiles, const std::vector<MeasuredPair>& pairs);

}  // namespace smk::sim
