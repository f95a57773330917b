// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "report/timeline.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;

void TakeWindow(const std::string& text, TimelineView* view) {
  if (text.empty()) return;
  const std::vector<std::string> ends = Split(text, ':');
  if (ends.size() != 2) {
    throw InputError(fmt::format("--cycles: expected FROM:TO, got '{}'", text));
  }
  view->from = ParseCount("--cycles", ends[0], 0, view->to - 1);
  view->to = std::min(view->to, ParseCount("--cycles", ends[1], view->from + 1, ~0ULL));
}

void TakeSms(const std::vector<std::string>& wanted, std::size_t sms, TimelineView* view) {
  for (const std::string& sm : wanted) {
    view->sms.push_back(static_cast<std::size_t>(ParseCount("--sm", sm, 0, sms - 1)));
  }
  if (!wanted.empty()) return;
  view->sms.resize(sms);
  std::iota(view->sms.begin(), view->sms.end(), std::size_t{0});
}

std::string OutPath(const TimelineOptions& options) {
  if (options.out.empty()) return (fs::path(options.folder) / "timeline.svg").string();
  if (!fs::is_directory(options.out)) return options.out;
  throw InputError(fmt::format("--out {}: is a folder, expected the name of a file", options.out));
}

}  // namespace

int TimelineCommand(const Context& /*context*/, const TimelineOptions& options) {
  if (!options.svg) throw InputError("timeline: expected --svg, the only form that there is");
  if (!fs::is_directory(options.folder)) {
    throw InputError(fmt::format("{}: no such folder of smk run", options.folder));
  }
  nlohmann::ordered_json stats;
  const RunTimeline timeline = ReadRunTimeline(options.folder, &stats);
  TimelineView view;
  view.to = timeline.shape.cycles;
  view.width = static_cast<unsigned>(ParseCount("--width", options.width, 300, 20'000));
  TakeWindow(options.cycles, &view);
  TakeSms(options.sms, timeline.shape.sms, &view);
  const auto text = [](const nlohmann::ordered_json& j, const char* key) {
    return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : std::string();
  };
  NameKernels(stats, &view);
  view.title = fmt::format("{} under {}, cycles {} to {}", text(stats, "workload"),
                           text(stats, "policy"), view.from, view.to);
  const std::string out = OutPath(options);
  WriteFileAtomically(out, TimelineSvg(timeline, view));
  if (!options.quiet) fmt::print("{}\n", out);
  return 0;
}

}  // namespace smk::sim
