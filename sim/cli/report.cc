// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "report/data.h"
#include "report/page.h"
#include "run/statistics.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

std::string BaseName(const std::string& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal.filename() : normal.parent_path().filename();
}

ordered_json ReadSource(const ReportOptions& options, const Context& context) {
  ordered_json j;
  if (!fs::exists(options.path)) {
    throw InputError(fmt::format("{}: no such folder or database", options.path));
  }
  if (!fs::is_directory(options.path)) {
    j["kind"] = "sweep";
    j["sweep"] =
        ReportDatabase(options.path, context.backend.data_dir + "/sweeps/paper_values.toml");
  } else if (fs::exists(options.path + "/compare.json")) {
    j["kind"] = "compare";
    j.update(ReportCompareFolder(options.path));
  } else {
    j["kind"] = "run";
    j["runs"] = ordered_json::array({ReportRunFolder(options.path)});
  }
  return j;
}

// The text of a key; "" without such a text.
std::string TextOf(const ordered_json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_string() ? found->get<std::string>() : "";
}

// The names of the specifications that filled a database; its own when they are none or many.
std::string SweepTitle(const ordered_json& experiments, const std::string& source) {
  std::set<std::string> names;
  for (const ordered_json& experiment : experiments) names.insert(TextOf(experiment, "sweep"));
  return names.empty() || names.size() > 3 ? source : fmt::format("{}", fmt::join(names, ", "));
}

std::string DefaultTitle(const ordered_json& j, const std::string& source) {
  if (j["kind"] == "sweep") return SweepTitle(j["sweep"]["experiments"], source);
  const ordered_json& stats = j["runs"][0]["stats"];
  std::string workload = TextOf(stats, "workload");
  if (j["kind"] == "compare") return workload;
  if (stats.contains("host") && stats["host"].is_object()) {
    return fmt::format("{} by {} under {}", workload, TextOf(stats["host"], "scheduler"),
                       TextOf(stats, "policy"));
  }
  const std::string policy = TextOf(stats, "policy");  // clients with scripts have none
  return fmt::format("{} under {}", workload, policy.empty() ? TextOf(stats, "scheduler") : policy);
}

std::string OutPath(const ReportOptions& options) {
  if (options.out.empty()) {
    if (fs::is_directory(options.path)) return (fs::path(options.path) / "report.html").string();
    return fs::path(options.path).replace_extension(".html").string();
  }
  if (fs::is_directory(options.out)) {
    throw InputError(
        fmt::format("--out {}: is a folder, expected the name of a file", options.out));
  }
  std::error_code ignored;
  if (fs::equivalent(options.out, options.path, ignored)) {
    throw InputError(fmt::format("--out {}: is the database itself", options.out));
  }
  return options.out;
}

// What the page says of a statistic: by object and name.
ordered_json Meanings() {
  ordered_json j;
  for (const StatisticTable& table : StatisticTables()) {
    for (const Statistic& s : table.statistics) {
      j[table.object][s.name] = {{"unit", s.unit}, {"meaning", s.meaning}};
    }
  }
  return j;
}

}  // namespace

int ReportCommand(const Context& context, const ReportOptions& options) {
  EmptyPage();  // first of all: is there one?
  const std::string source = BaseName(options.path);
  ordered_json j;
  j["statistics"] = Meanings();
  j.update(ReadSource(options, context));
  const std::string title = options.title.empty() ? DefaultTitle(j, source) : options.title;
  const std::string out = OutPath(options);
  WritePage(out, title, source, j);
  if (!options.quiet) fmt::print("{}\n", out);
  return 0;
}

}  // namespace smk::sim
