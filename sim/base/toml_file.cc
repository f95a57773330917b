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

std::vector<TomlLeaf> TomlLeaves(const toml::table& table, const std::string& path,
                                 const std::string& key) {
  std::vector<TomlLeaf> leaves;
  for (const auto& [name, node] : table) {
    const std::string own(name.str());
    if (const toml::table* inner = node.as_table()) {
      for (TomlLeaf& leaf : TomlLeaves(*inner, path, key + own + ".")) {
        leaf.name.insert(0, own + ".");
        leaves.push_back(std::move(leaf));
      }
      continue;
    }
    std::ostringstream value;
    if (const auto* text = node.as_string()) {
      value << text->get();
    } else {
      node.visit([&](const auto& v) { value << v; });
    }
    const unsigned line = std::max(1u, name.source().begin.line);
    leaves.push_back({own, value.str(), fmt::format("{}:{}: {}{}", path, line, key, own)});
  }
  return leaves;
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
