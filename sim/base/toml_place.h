// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace smk::sim {

// Where a value of a TOML file stands.
struct TomlPlace {
  std::string name;   // dotted, within its table
  std::string place;  // "file:line: key"
};

}  // namespace smk::sim
