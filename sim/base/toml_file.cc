// SPDX-License-Identifier: Apache-2.0
#include "base/toml_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/toml_keys.h"

namespace smk::sim {

toml::table ParseToml(const std::string& text, const std::string& path) {
  CheckTomlKeys(text, path);
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    std::string description(error.description());
    std::replace(description.begin(), description.end(), '\n', ' ');
    throw InputError(
        fmt::format("{}:{}: expected TOML: {}", path, error.source().begin.line, description));
  }
}

std::string TomlText(const std::string& text) {
  std::ostringstream out;
  out << toml::array{text};
  const std::string list = out.str();
  // A long one has a line of its own between the brackets.
  const std::size_t begin = list.find_first_not_of("[ \n");
  return list.substr(begin, list.find_last_not_of("] \n") - begin + 1);
}

nlohmann::ordered_json TomlFileAsJson(const std::string& path) {
  std::ostringstream text;
  text << toml::json_formatter{ParseToml(ReadFile(path), path)};
  return nlohmann::ordered_json::parse(text.str());
}

}  // namespace smk::sim
