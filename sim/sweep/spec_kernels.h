// SPDX-License-Identifier: Apache-2.0
// The workloads that an experiment of a specification names, mixes of its kernels among them.
#pragma once

#include <vector>

#include "experiment/experiment.h"
#include "sweep/spec_place.h"

namespace smk::sim {

// How many sets of `size` kernels the experiment has.
double SetsOf(unsigned size, const SpecPlace& place, const Backend& backend);

// All workloads of the experiment, as the command line would have them.
std::vector<SpecText> WorkloadsOf(const SpecPlace& place, const Backend& backend);

}  // namespace smk::sim
