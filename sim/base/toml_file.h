// SPDX-License-Identifier: Apache-2.0
// TOML with errors of one line: file, line, what is wrong.
#pragma once

#include <toml++/toml.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace smk::sim {

// `path` is where `text` comes from. Throws InputError when it is not TOML.
toml::table ParseToml(const std::string& text, const std::string& path);

// A value of a TOML file.
struct TomlLeaf {
  std::string name;   // dotted, within its table
  std::string value;  // a string without quotes
  std::string place;  // "file:line: key"
};

// Every value of a table of `path` and of its tables, by name. `key` stands before the names in
// places.
std::vector<TomlLeaf> TomlLeaves(const toml::table& table, const std::string& path,
                                 const std::string& key = "");

// A text as TOML has it: in quotes.
std::string TomlText(const std::string& text);

// A file as JSON, its keys in order. Throws InputError when it cannot be read or is not TOML.
nlohmann::ordered_json TomlFileAsJson(const std::string& path);

}  // namespace smk::sim
