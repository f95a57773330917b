// SPDX-License-Identifier: Apache-2.0
// timeline.json.gz: the run as a Chrome trace, for https://ui.perfetto.dev. docs/timeline.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "run/results.h"

namespace smk::sim {

// A timeline has no more stays of TBs and decisions than this: it ends before the next one.
inline constexpr std::size_t kMaxTimelineEvents = 100'000;

struct TimelineTrace {
  std::string json;
  std::optional<Cycle> cut;  // where it ends before its window does
};

// pid = SM, and one more for the GPU; tid = 100 * (SM + 1) + TB slot, so that no two tracks have
// the same and none that of a process. One begin/end pair for each stay of a TB; counters per SM
// and for the GPU; the driver's decisions that move TBs; flow arrows from the end of a saved TB's
// stay to the beginning of the next. `ts` is microseconds of simulated time at the core clock; the
// cycles are in `args`, as integers. Events are in order of time. Stays are cut at the ends of the
// experiment's window.
TimelineTrace TimelineJson(const Results& results, std::size_t max_events = kMaxTimelineEvents);

}  // namespace smk::sim
