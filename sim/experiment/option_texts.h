// SPDX-License-Identifier: Apache-2.0
// Options whose text names kernels of the run or cycles: --arrive, --client, --timeline, --wave.
//
// Each puts what is asked for into the experiment, whose kernels, cycles and control plane are
// known. Throws InputError for a text that is none, with the option in front.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace smk::sim {

// KERNEL@CYCLE each.
void ParseArrivals(const std::vector<std::string>& arrivals, Experiment* experiment);
// KERNEL@CLIENT each.
void ParseClients(const std::vector<std::string>& clients, Experiment* experiment);
void ParseTimeline(const Options& options, Experiment* experiment);
void ParseWave(const Options& options, Experiment* experiment);

}  // namespace smk::sim
