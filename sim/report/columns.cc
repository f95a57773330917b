// SPDX-License-Identifier: Apache-2.0
// CSV files of the host, as the page draws them: column by column, as they are.
#include <filesystem>

#include "base/csv_table.h"
#include "report/data.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// The columns of a file; an empty cell of a number is null. Rows after kReportLogRows are counted
// in `total` only.
ordered_json ReadColumns(const std::string& path, const std::vector<const char*>& texts,
                         const std::vector<const char*>& numbers) {
  CsvTable table(path, {});
  ordered_json j;
  j["total"] = 0;
  for (const auto* names : {&texts, &numbers}) {
    for (const char* name : *names) {
      table.Column(name);
      j[name] = ordered_json::array();
    }
  }
  std::size_t total = 0;
  while (table.Next()) {
    if (++total > kReportLogRows) continue;
    for (const char* name : texts) j[name].push_back(table.Text(table.Column(name)));
    for (const char* name : numbers) {
      const std::size_t column = table.Column(name);
      j[name].push_back(table.IsEmpty(column) ? ordered_json(nullptr)
                                              : ordered_json(table.Number(column)));
    }
  }
  j["total"] = total;
  return j;
}

}  // namespace

ordered_json ReadStream(const std::string& folder) {
  ordered_json j;
  j["jobs"] = ReadColumns(folder + "/jobs.csv", {"name", "client"},
                          {"job", "arrival", "ready", "start", "finish", "last_tb_end",
                           "turnaround", "slices_completed", "tbs_completed"});
  j["launches"] = ReadColumns(folder + "/launches.csv", {"kernel"},
                              {"job", "kernel_slot", "first_tb", "tb_count", "start", "end"});
  const std::string copies = folder + "/copies.csv";
  j["copies"] = fs::exists(copies)
                    ? ReadColumns(copies, {"direction"}, {"job", "bytes", "start", "end"})
                    : ordered_json(nullptr);
  return j;
}

ordered_json ReadShares(const std::string& folder) {
  ordered_json j;
  j["shares"] = ReadColumns(folder + "/shares.csv", {"client"},
                            {"time_ns", "window_ns", "allocated_ns", "kernel_ns"});
  const std::string tokens = folder + "/tokens.csv";
  j["tokens"] = fs::exists(tokens) ? ReadColumns(tokens, {"client", "reason"},
                                                 {"requested_ns", "granted_ns", "start_ns",
                                                  "quota_ns", "end_ns", "overuse_ns"})
                                   : ordered_json(nullptr);
  return j;
}

}  // namespace smk::sim
