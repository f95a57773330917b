// SPDX-License-Identifier: Apache-2.0
// timeline.json: the run as a Chrome trace, for https://ui.perfetto.dev.
#pragma once

#include <string>

#include "cli/report.h"

namespace smk::cli {

// pid = SM, tid = TB slot, one begin/end pair for each stay of a TB; counters per SM and, under one
// more process, for the whole GPU; flow arrows from the end of a saved TB's stay to the beginning
// of the next. `ts` is microseconds of simulated time at the core clock; the cycles are in `args`,
// as integers. Events are in order of time. Stays are cut at the ends of the experiment's window.
std::string TimelineJson(const Report& report);

}  // namespace smk::cli
