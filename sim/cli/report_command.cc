// SPDX-License-Identifier: Apache-2.0
#include "cli/report_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/files.h"
#include "cli/report_data.h"
#include "smk/version.h"

namespace smk::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr char kTitleMark[] = "<!--TITLE-->";
constexpr char kDataMark[] = "<!--DATA-->";

// The page without data, made by the build (sim/report).
std::string EmptyPage() {
  const char* variable = std::getenv("SMK_REPORT_PAGE");
  const std::string path = variable != nullptr ? variable : SMK_REPORT_PAGE;
  if (!fs::exists(path)) {
    throw InputError(fmt::format(
        "report: the page was not built ({}); call scripts/setup report and build again", path));
  }
  return ReadFile(path);
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

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

std::string DefaultTitle(const ordered_json& j, const std::string& source) {
  if (j["kind"] == "sweep") return source;
  std::string workload = j["runs"][0]["stats"].value("workload", "");
  if (j["kind"] == "compare") return workload;
  return fmt::format("{} under {}", workload, j["runs"][0]["stats"].value("policy", ""));
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

}  // namespace

std::string FillPage(const std::string& page, const std::string& title, const std::string& data) {
  const std::size_t title_at = page.find(kTitleMark), data_at = page.find(kDataMark);
  if (title_at == std::string::npos || data_at == std::string::npos || data_at < title_at) {
    throw InputError("report: the page has no places for title and data; build again");
  }
  std::string filled = page.substr(0, title_at) + Escaped(title);
  const std::size_t after_title = title_at + std::size(kTitleMark) - 1;
  filled.append(page, after_title, data_at - after_title);
  // In JSON, < can stand in texts only.
  for (const char c : data) c == '<' ? filled += "\\u003c" : filled += c;
  return filled.append(page, data_at + std::size(kDataMark) - 1, std::string::npos);
}

int ReportCommand(const Context& context, const ReportOptions& options) {
  const std::string page = EmptyPage();
  const std::string source = BaseName(options.path);
  ordered_json j;
  j["schema"] = 1;
  j["version"] = kVersion;
  j["git_describe"] = kGitDescribe;
  j["date"] = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
  j["source"] = source;
  j.update(ReadSource(options, context));
  const std::string title = options.title.empty() ? DefaultTitle(j, source) : options.title;
  j["title"] = title;
  const std::string out = OutPath(options);
  try {
    // Names of files may hold bytes that are no UTF-8.
    const std::string data = j.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    WriteFileAtomically(out, FillPage(page, title, data));
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw InputError(error.what());
  }
  if (!options.quiet) fmt::print("{}\n", out);
  return 0;
}

}  // namespace smk::cli
