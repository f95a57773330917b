// SPDX-License-Identifier: Apache-2.0
// The CSV files of a run, as the page draws them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "base/csv_table.h"
#include "base/error.h"
#include "base/ids.h"
#include "report/data.h"

namespace smk::sim {
namespace {

using nlohmann::ordered_json;

std::uint64_t StepLength(const RunShape& shape) {
  return std::max<std::uint64_t>(1, (shape.cycles + kReportSteps - 1) / kReportSteps);
}

std::size_t Steps(const RunShape& shape) {
  return static_cast<std::size_t>((shape.cycles + StepLength(shape) - 1) / StepLength(shape));
}

// Columns of a log of limited length. A cell is a number, or null.
class Log {
 public:
  explicit Log(std::vector<const char*> names) : names_(std::move(names)), columns_(names_.size()) {
    for (ordered_json& column : columns_) column = ordered_json::array();
  }
  void Add(const std::vector<ordered_json>& row) {
    ++rows_;
    if (rows_ > kReportLogRows) return;
    for (std::size_t i = 0; i < row.size(); ++i) columns_[i].push_back(row[i]);
  }
  // Changes a cell of a row that is there already; nothing when it was left out.
  void Set(std::size_t row, std::size_t column, const ordered_json& value) {
    if (row < kReportLogRows) columns_[column][row] = value;
  }
  std::size_t rows() const { return rows_; }
  ordered_json Json() const {
    ordered_json j;
    j["total"] = rows_;
    for (std::size_t i = 0; i < names_.size(); ++i) j[names_[i]] = columns_[i];
    return j;
  }

 private:
  std::vector<const char*> names_;
  std::vector<ordered_json> columns_;
  std::size_t rows_ = 0;
};

// One stay of a TB on an SM.
struct Stay {
  std::size_t kernel, sm;
  std::uint64_t launch, tb, slot, start, end;
  std::string outcome;
  std::size_t row = 0;  // of the log of preemptions
};

std::vector<Stay> ReadStays(const std::string& path, const RunShape& shape) {
  CsvTable table(path, {});
  const std::size_t kernel = table.Column("kernel"), launch = table.Column("launch"),
                    tb = table.Column("tb"), sm = table.Column("sm"),
                    slot = table.Column("tb_slot"), start = table.Column("start_cycle"),
                    end = table.Column("end_cycle"), outcome = table.Column("outcome");
  std::vector<Stay> stays;
  while (table.Next()) {
    stays.push_back({table.NumberBelow(kernel, shape.kernels), table.NumberBelow(sm, shape.sms),
                     table.Number(launch), table.Number(tb), table.Number(slot),
                     table.Number(start), table.Number(end), table.Text(outcome)});
  }
  return stays;
}

// Collects decisions: how often each reason was given by kernel and step, and one row for each
// decision or series of equal refusals.
class DecisionLog {
 public:
  DecisionLog(CsvTable* table, const RunShape& shape)
      : table_(*table),
        shape_(shape),
        cycle_(table->Column("cycle")),
        reason_(table->Column("reason")),
        kernel_(table->Column("kernel")),
        sm_(table->Column("sm")),
        tb_(table->Column("tb")),
        victim_(table->Column("victim")),
        victim_tbs_(table->Column("victim_tbs")) {
    for (std::size_t k = 0; k < std::min<std::size_t>(shape.kernels, kNumKernels); ++k) {
      shares_.push_back(table->Column(fmt::format("share_{}", k)));
    }
  }

  void AddRow() {
    const std::size_t reason = ReasonIndex(table_.Text(reason_));
    const std::size_t kernel = table_.NumberBelow(kernel_, shape_.kernels);
    const std::size_t at = table_.NumberBelow(cycle_, shape_.cycles);
    ++counts_[reason][kernel * Steps(shape_) + at / StepLength(shape_)];
    const bool refusal = table_.IsEmpty(tb_) && table_.IsEmpty(victim_);
    if (refusal && std::make_pair(reason, kernel) == before_) {
      log_.Set(log_.rows() - 1, kLast, at);
      log_.Set(log_.rows() - 1, kTimes, ++times_);
      return;
    }
    before_ = {reason, kernel};
    times_ = 1;
    ordered_json share = ordered_json::array();
    for (const std::size_t column : shares_) share.push_back(table_.Number(column));
    log_.Add({at, at, 1, reason, kernel, table_.NumberBelow(sm_, shape_.sms), OrNull(tb_),
              OrNull(victim_), OrNull(victim_tbs_), share});
  }

  ordered_json Json() const {
    ordered_json j;
    j["reasons"] = reasons_;
    j["step"] = StepLength(shape_);
    j["steps"] = Steps(shape_);
    j["counts"] = counts_;
    j["log"] = log_.Json();
    return j;
  }

 private:
  static constexpr std::size_t kLast = 1, kTimes = 2;  // columns of the log

  std::size_t ReasonIndex(const std::string& name) {
    const auto found = std::find(reasons_.begin(), reasons_.end(), name);
    const auto index = static_cast<std::size_t>(found - reasons_.begin());
    if (found == reasons_.end()) {
      reasons_.push_back(name);
      counts_.emplace_back(shape_.kernels * Steps(shape_));
    }
    return index;
  }
  ordered_json OrNull(std::size_t column) const {
    return table_.IsEmpty(column) ? ordered_json(nullptr) : ordered_json(table_.Number(column));
  }

  const CsvTable& table_;
  const RunShape shape_;
  const std::size_t cycle_, reason_, kernel_, sm_, tb_, victim_, victim_tbs_;
  std::vector<std::size_t> shares_;
  std::vector<std::string> reasons_;
  std::vector<std::vector<std::uint64_t>> counts_;  // by reason; kernel, step
  Log log_{
      {"cycle", "last", "times", "reason", "kernel", "sm", "tb", "victim", "victim_tbs", "shares"}};
  std::pair<std::size_t, std::size_t> before_{~std::size_t{0}, 0};  // reason and kernel
  std::uint64_t times_ = 0;
};

}  // namespace

ordered_json ReadResidency(const std::string& path, const RunShape& shape) {
  const std::uint64_t length = StepLength(shape);
  const std::size_t steps = Steps(shape);
  std::vector<std::uint64_t> cycles(shape.sms * shape.kernels * steps);
  for (const Stay& stay : ReadStays(path, shape)) {
    std::uint64_t* row = &cycles[(stay.sm * shape.kernels + stay.kernel) * steps];
    const std::uint64_t end = std::min(stay.end, shape.cycles);
    for (std::uint64_t at = stay.start; at < end;) {
      const std::uint64_t next = std::min(end, (at / length + 1) * length);
      row[at / length] += next - at;
      at = next;
    }
  }
  ordered_json j;
  j["step"] = length;
  j["steps"] = steps;
  // Mean TBs in a step, in hundredths, by SM, kernel and step.
  j["hundredths"] = ordered_json::array();
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    const std::uint64_t start = i % steps * length;
    const auto in_step = static_cast<double>(std::min(length, shape.cycles - start));
    j["hundredths"].push_back(
        static_cast<std::uint64_t>(std::lround(100.0 * static_cast<double>(cycles[i]) / in_step)));
  }
  return j;
}

ordered_json ReadPreemptions(const std::string& path, const RunShape& shape) {
  std::vector<Stay> stays = ReadStays(path, shape);
  // In tbs.csv stays are ordered by their ends, and so is the log.
  Log log({"kernel", "launch", "tb", "sm", "slot", "start", "end", "flushed", "back", "back_sm"});
  constexpr std::size_t kNone = ~std::size_t{0}, kBack = 8, kBackSm = 9;
  for (Stay& stay : stays) {
    stay.row = kNone;
    if (stay.outcome != "saved" && stay.outcome != "flushed") continue;
    stay.row = log.rows();
    log.Add({stay.kernel, stay.launch, stay.tb, stay.sm, stay.slot, stay.start, stay.end,
             stay.outcome == "flushed" ? 1 : 0, nullptr, nullptr});
  }
  // A stay ends before the next of the same TB begins, so in order of the starts each is seen
  // after the one that it continues.
  std::stable_sort(stays.begin(), stays.end(),
                   [](const Stay& a, const Stay& b) { return a.start < b.start; });
  std::map<std::tuple<std::size_t, std::uint64_t, std::uint64_t>, std::size_t> away;
  for (const Stay& stay : stays) {
    const auto key = std::make_tuple(stay.kernel, stay.launch, stay.tb);
    if (const auto before = away.find(key); before != away.end()) {
      log.Set(before->second, kBack, stay.start);
      log.Set(before->second, kBackSm, stay.sm);
      away.erase(before);
    }
    if (stay.row != kNone) away[key] = stay.row;
  }
  return log.Json();
}

ordered_json ReadDecisions(const std::string& path, const RunShape& shape) {
  CsvTable table(path, {});
  DecisionLog log(&table, shape);
  while (table.Next()) log.AddRow();
  return log.Json();
}

ordered_json ReadSamples(const std::string& path, const RunShape& shape) {
  CsvTable table(path, {});
  ordered_json j;
  for (const char* name :
       {"cycle", "length", "sm", "kernel", "warp_instructions", "resident_tbs", "quota"}) {
    table.Column(name);
    j[name] = ordered_json::array();
  }
  while (table.Next()) {
    table.NumberBelow(table.Column("sm"), shape.sms);
    table.NumberBelow(table.Column("kernel"), shape.kernels);
    for (auto& [name, column] : j.items()) column.push_back(table.Number(table.Column(name)));
  }
  return j;
}

}  // namespace smk::sim
