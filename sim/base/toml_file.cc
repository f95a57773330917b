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

std::vector<TomlPlace> TomlPlaces(const toml::table& table, const std::string& path,
                                  const std::string& key) {
  std::vector<TomlPlace> places;
  for (const auto& [name, node] : table) {
    const std::string own(name.str());
    if (const toml::table* inner = node.as_table()) {
      for (const TomlPlace& place : TomlPlaces(*inner, path, key + own + ".")) {
        places.push_back({own + "." + place.name, place.place});
      }
    } else {
      const unsigned line = std::max(1u, name.source().begin.line);
      places.push_back({own, fmt::format("{}:{}: {}{}", path, line, key, own)});
    }
  }
  return places;
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
