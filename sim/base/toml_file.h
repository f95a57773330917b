// SPDX-License-Identifier: Apache-2.0
// TOML with errors of one line: file, line, what is wrong.
#pragma once

#include <toml++/toml.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/toml_place.h"

namespace smk::sim {

// `path` is where `text` comes from. Throws InputError when it is not TOML.
toml::table ParseToml(const std::string& text, const std::string& path);

// Of every value of a table of `path` and of its tables. `key` stands before their names in places.
std::vector<TomlPlace> TomlPlaces(const toml::table& table, const std::string& path,
                                  const std::string& key = "");

// A text as TOML has it: in quotes.
std::string TomlText(const std::string& text);

// A file as JSON, its keys in order. Throws InputError when it cannot be read or is not TOML.
nlohmann::ordered_json TomlFileAsJson(const std::string& path);

}  // namespace smk::sim
