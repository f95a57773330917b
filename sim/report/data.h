// SPDX-License-Identifier: Apache-2.0
// What `smk report` puts into its page, read from what other commands wrote. Errors are InputErrors
// that name the file. docs/report.md describes the objects.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace smk::sim {

// Rows of a log that one page holds; what comes after them is counted.
inline constexpr std::size_t kReportLogRows = 10'000;
// Time steps into which a run is divided.
inline constexpr std::uint64_t kReportSteps = 200;

// The folder of `smk run --out` or `smk serve --out`.
nlohmann::ordered_json ReportRunFolder(const std::string& folder);

// The folder of `smk compare --out`, with all its runs.
nlohmann::ordered_json ReportCompareFolder(const std::string& folder);

// The database of `smk sweep`. `papers` is a file of published values; "" or a name that does not
// exist: none.
nlohmann::ordered_json ReportDatabase(const std::string& path, const std::string& papers);

// The logs of a run, from its CSV files.
struct RunShape {
  std::uint64_t cycles = 0;
  std::size_t kernels = 0, sms = 0;
};
// Resident TBs by SM, kernel and step, and the TBs that were preempted, from tbs.csv.
nlohmann::ordered_json ReadResidency(const std::string& path, const RunShape& shape);
nlohmann::ordered_json ReadPreemptions(const std::string& path, const RunShape& shape);
// Reasons by kernel and step, and the log, from decisions.csv.
nlohmann::ordered_json ReadDecisions(const std::string& path, const RunShape& shape);
// The columns of samples.csv.
nlohmann::ordered_json ReadSamples(const std::string& path, const RunShape& shape);
// Of a stream: what the page needs of jobs.csv and launches.csv, and of copies.csv, or null.
nlohmann::ordered_json ReadStream(const std::string& folder);
// Of clients with scripts: the same of shares.csv, and of tokens.csv, or null.
nlohmann::ordered_json ReadShares(const std::string& folder);

}  // namespace smk::sim
