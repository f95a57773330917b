// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/csv_table.h"
#include "base/error.h"
#include "base/names.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

// A column that folders of older versions do not have.
std::optional<std::size_t> ColumnIfThere(const CsvTable& table, const std::string& name) {
  const auto& header = table.header();
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}
std::optional<std::uint64_t> NumberIfThere(const CsvTable& table,
                                           const std::optional<std::size_t>& column) {
  if (!column || table.IsEmpty(*column)) return std::nullopt;
  return table.Number(*column);
}

// What tbs.csv and decisions.csv say of each other, by the ids in the files.
struct Decided {
  std::vector<TimelineDecision> moves;
  std::map<std::uint64_t, std::size_t> move_of;  // by id
  std::vector<std::uint64_t> cycles;             // of all decisions
};

Decided ReadMoves(const std::string& path, const RunShape& shape) {
  CsvTable table(path, {});
  const std::size_t cycle = table.Column("cycle"), reason = table.Column("reason"),
                    kernel = table.Column("kernel"), sm = table.Column("sm"),
                    victim = table.Column("victim"), victim_tbs = table.Column("victim_tbs");
  Decided decided;
  for (std::uint64_t id = 0; table.Next(); ++id) {
    decided.cycles.push_back(table.Number(cycle));
    const std::string& text = table.Text(reason);
    if (text != "preempt" && text != "repartition" && text != "evict-sm") continue;
    TimelineDecision d;
    d.id = id;
    d.cycle = table.Number(cycle);
    d.reason = text;
    d.kernel = table.NumberBelow(kernel, shape.kernels);
    d.sm = table.NumberBelow(sm, shape.sms);
    if (!table.IsEmpty(victim)) {
      d.victim = table.NumberBelow(victim, shape.kernels);
      d.victim_tbs = table.Number(victim_tbs);
    }
    decided.move_of[id] = decided.moves.size();
    decided.moves.push_back(std::move(d));
  }
  return decided;
}

std::vector<TimelineStay> ReadStays(const std::string& path, const RunShape& shape,
                                    const Decided& decided) {
  CsvTable table(path, {});
  const std::size_t kernel = table.Column("kernel"), launch = table.Column("launch"),
                    tb = table.Column("tb"), sm = table.Column("sm"),
                    slot = table.Column("tb_slot"), start = table.Column("start_cycle"),
                    end = table.Column("end_cycle"), restored = table.Column("restored"),
                    outcome = table.Column("outcome");
  const auto dispatched = ColumnIfThere(table, "dispatched_by"),
             preempted = ColumnIfThere(table, "preempted_by"),
             replaced = ColumnIfThere(table, "replaced_by");
  std::vector<TimelineStay> stays;
  while (table.Next()) {
    TimelineStay stay;
    stay.kernel = table.NumberBelow(kernel, shape.kernels);
    stay.sm = table.NumberBelow(sm, shape.sms);
    stay.launch = table.Number(launch);
    stay.tb = table.Number(tb);
    stay.slot = table.Number(slot);
    stay.start = table.Number(start);
    stay.end = std::max(stay.start, table.Number(end));
    stay.restored = table.Number(restored) != 0;
    stay.outcome = table.Text(outcome);
    if (const auto id = NumberIfThere(table, dispatched); id && *id < decided.cycles.size()) {
      stay.dispatched = decided.cycles[*id];
    }
    if (const auto id = NumberIfThere(table, preempted)) {
      if (const auto move = decided.move_of.find(*id); move != decided.move_of.end()) {
        stay.decision = move->second;
      }
    }
    if (const auto id = NumberIfThere(table, replaced)) stay.replaced_by = *id;
    stays.push_back(std::move(stay));
  }
  return stays;
}

constexpr const char* kOutcomes[] = {"completed", "saved", "flushed", "ended", "running"};

ordered_json Lists(std::initializer_list<const char*> names) {
  ordered_json j;
  for (const char* name : names) j[name] = ordered_json::array();
  return j;
}

// As many as a page holds; what leads to later ones is left out.
ordered_json StayColumns(const RunTimeline& timeline) {
  ordered_json j = Lists({"kernel", "launch", "tb", "sm", "slot", "start", "length", "outcome",
                          "waited", "restored", "links"});
  std::uint64_t before = 0;
  const std::size_t shown = std::min(timeline.stays.size(), kReportStays);
  for (std::size_t i = 0; i < shown; ++i) {
    const TimelineStay& stay = timeline.stays[i];
    j["kernel"].push_back(stay.kernel);
    j["launch"].push_back(stay.launch);
    j["tb"].push_back(stay.tb);
    j["sm"].push_back(stay.sm);
    j["slot"].push_back(stay.slot);
    j["start"].push_back(stay.start - before);
    j["length"].push_back(stay.end - stay.start);
    j["outcome"].push_back(std::find(std::begin(kOutcomes), std::end(kOutcomes), stay.outcome) -
                           std::begin(kOutcomes));
    const bool waited = stay.dispatched && *stay.dispatched <= stay.start;
    j["waited"].push_back(waited ? ordered_json(stay.start - *stay.dispatched)
                                 : ordered_json(nullptr));
    before = stay.start;
    if (stay.restored) j["restored"].push_back(i);
    if (!stay.decision || *stay.decision >= kReportStays) continue;
    const bool known = stay.replaced_by && *stay.replaced_by < shown;
    j["links"].push_back(
        {i, *stay.decision, known ? ordered_json(*stay.replaced_by) : ordered_json(nullptr)});
  }
  return j;
}

ordered_json DecisionColumns(const std::vector<TimelineDecision>& decisions) {
  ordered_json j = Lists({"id", "cycle", "reason", "kernel", "sm", "victim", "victim_tbs"});
  for (std::size_t i = 0; i < std::min(decisions.size(), kReportStays); ++i) {
    const TimelineDecision& d = decisions[i];
    j["id"].push_back(d.id);
    j["cycle"].push_back(d.cycle);
    j["reason"].push_back(d.reason);
    j["kernel"].push_back(d.kernel);
    j["sm"].push_back(d.sm);
    j["victim"].push_back(d.victim ? ordered_json(*d.victim) : ordered_json(nullptr));
    j["victim_tbs"].push_back(d.victim_tbs);
  }
  return j;
}

}  // namespace

RunTimeline ReadTimeline(const std::string& tbs, const std::string& decisions,
                         const RunShape& shape) {
  Decided decided = ReadMoves(decisions, shape);
  std::vector<TimelineStay> stays = ReadStays(tbs, shape, decided);
  std::vector<std::size_t> order(stays.size()), place(stays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return stays[a].start < stays[b].start; });
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  RunTimeline timeline{shape, {}, std::move(decided.moves)};
  for (const std::size_t i : order) {
    TimelineStay& stay = stays[i];
    if (stay.replaced_by && *stay.replaced_by >= stays.size()) stay.replaced_by.reset();
    if (stay.replaced_by) stay.replaced_by = place[*stay.replaced_by];
    timeline.stays.push_back(std::move(stay));
  }
  return timeline;
}

ordered_json TimelineColumns(const RunTimeline& timeline) {
  ordered_json j = StayColumns(timeline);
  j["total"] = timeline.stays.size();
  j["outcomes"] = std::vector<std::string>(std::begin(kOutcomes), std::end(kOutcomes));
  j["decisions"] = DecisionColumns(timeline.decisions);
  return j;
}

void NameKernels(const ordered_json& stats, TimelineView* view) {
  const auto text = [](const ordered_json& j, const char* key) {
    return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : std::string();
  };
  std::vector<std::string> names;
  for (const auto& kernel : stats["kernels"]) names.push_back(text(kernel, "name"));
  view->kernels = NumberedNames(names);
  if (!stats.contains("host") || !stats.contains("jobs") || !stats["jobs"].is_array()) return;
  std::vector<std::string> clients(names.size());  // a job is a kernel
  for (const auto& job : stats["jobs"]) {
    const auto id = job.find("job");
    if (id == job.end() || !id->is_number_unsigned()) continue;
    const std::size_t kernel = id->get<std::size_t>();
    if (kernel < clients.size()) clients[kernel] = text(job, "client");
  }
  const bool all = std::count(clients.begin(), clients.end(), "") == 0;
  if (all) view->clients = std::move(clients);
}

}  // namespace smk::sim
