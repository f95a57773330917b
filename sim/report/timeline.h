// SPDX-License-Identifier: Apache-2.0
// What a run's folder tells of its TBs: each stay on an SM, the decisions that move TBs, and what
// leads from one to the other.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/data.h"

namespace smk::sim {

// Stays that one page holds; those that begin later are counted.
inline constexpr std::size_t kReportStays = 50'000;

// One stay of a TB on an SM, from tbs.csv.
struct TimelineStay {
  std::size_t kernel = 0, sm = 0;
  std::uint64_t launch = 0, tb = 0, slot = 0, start = 0, end = 0;
  bool restored = false;
  std::string outcome;
  // Places in RunTimeline; folders of older versions do not have them.
  std::optional<std::size_t> decision, replaced_by;
  std::optional<std::uint64_t> dispatched;  // cycle of its dispatch
};

// A decision after which TBs move: preempt, repartition, evict-sm.
struct TimelineDecision {
  std::uint64_t id = 0, cycle = 0;
  std::string reason;
  std::size_t kernel = 0, sm = 0;
  std::optional<std::size_t> victim;
  std::uint64_t victim_tbs = 0;
};

struct RunTimeline {
  RunShape shape;
  std::vector<TimelineStay> stays;  // in order of their starts
  std::vector<TimelineDecision> decisions;
};

// Throws InputError.
RunTimeline ReadTimeline(const std::string& tbs, const std::string& decisions,
                         const RunShape& shape);

// The same of the folder of `smk run --out`, with its stats.json.
RunTimeline ReadRunTimeline(const std::string& folder, nlohmann::ordered_json* stats);

// For the page: columns; starts as differences, ends as lengths.
nlohmann::ordered_json TimelineColumns(const RunTimeline& timeline);

// A picture of some SMs and cycles.
struct TimelineView {
  std::uint64_t from = 0, to = 0;  // cycles
  std::vector<std::size_t> sms;
  std::string title;
  std::vector<std::string> kernels;  // names
  // What has a colour of its own, by kernel: of a stream the client. Empty: the kernels.
  std::vector<std::string> clients;
  unsigned width = 1200;  // pixels
};
// The kernels and clients of stats.json.
void NameKernels(const nlohmann::ordered_json& stats, TimelineView* view);
std::string TimelineSvg(const RunTimeline& timeline, const TimelineView& view);

}  // namespace smk::sim
