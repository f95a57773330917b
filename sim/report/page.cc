// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/reason.h"
#include "base/shared_folder.h"
#include "smk/version.h"

namespace smk::sim {
namespace {

constexpr char kTitleMark[] = "<!--TITLE-->";
constexpr char kDataMark[] = "<!--DATA-->";

}  // namespace

std::string EscapedText(const std::string& text) {
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

std::string EmptyPage() {
  const char* variable = std::getenv("SMK_REPORT_PAGE");
  const std::string path = variable != nullptr ? variable : SharedFile("page.html");
  if (!std::filesystem::exists(path)) {
    throw InputError(fmt::format(
        "report: the page was not built ({}); call scripts/setup report and build again", path));
  }
  return ReadFile(path);
}

std::string FillPage(const std::string& page, const std::string& title, const std::string& data) {
  const std::size_t title_at = page.find(kTitleMark), data_at = page.find(kDataMark);
  if (title_at == std::string::npos || data_at == std::string::npos || data_at < title_at) {
    throw InputError("report: the page has no places for title and data; build again");
  }
  std::string filled = page.substr(0, title_at) + EscapedText(title);
  const std::size_t after_title = title_at + std::size(kTitleMark) - 1;
  filled.append(page, after_title, data_at - after_title);
  // In JSON, < can stand in texts only.
  for (const char c : data) c == '<' ? filled += "\\u003c" : filled += c;
  return filled.append(page, data_at + std::size(kDataMark) - 1, std::string::npos);
}

void WritePage(const std::string& out, const std::string& title, const std::string& source,
               const nlohmann::ordered_json& data) {
  const std::string page = EmptyPage();
  nlohmann::ordered_json j;
  j["schema"] = 1;
  j["version"] = kVersion;
  j["git_describe"] = kGitDescribe;
  j["date"] = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
  j["source"] = source;
  j.update(data);
  j["title"] = title;
  try {
    // Names of files may hold bytes that are no UTF-8.
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    WriteFileAtomically(out, FillPage(page, title, j.dump(-1, ' ', false, replace)));
  } catch (const std::system_error& error) {
    if (!IsWrongPath(error.code())) throw;
    throw InputError(error.what());
  }
}

}  // namespace smk::sim
