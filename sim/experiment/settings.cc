// SPDX-License-Identifier: Apache-2.0
#include "experiment/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/numbers.h"
#include "base/toml_file.h"

namespace smk::sim {
namespace {

void Flatten(const toml::table& table, const std::string& prefix,
             std::vector<std::pair<std::string, std::string>>* leaves) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      Flatten(*inner, name + ".", leaves);
    } else if (const auto* text = node.as_string()) {
      leaves->emplace_back(name, text->get());
    } else {
      std::ostringstream out;
      node.visit([&](const auto& value) { out << value; });
      leaves->emplace_back(name, out.str());
    }
  }
}

[[noreturn]] void RefuseKey(const std::string& key, std::vector<std::string> known) {
  for (const Knob* knob : SettableKnobs()) known.push_back(knob->path);
  throw InputError(
      fmt::format("--set {}: unknown key; the nearest is '{}'", key, Nearest(key, known)));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> FlattenToml(const std::string& toml,
                                                             const std::string& what) {
  std::vector<std::pair<std::string, std::string>> leaves;
  Flatten(ParseToml(toml, what), "", &leaves);
  return leaves;
}

std::string WithoutHost(const std::string& machine_toml) {
  const std::size_t begin = machine_toml.find("\n[host]\n");
  if (begin == std::string::npos) return machine_toml;
  const std::size_t end = machine_toml.find("\n[", begin + 1);
  return machine_toml.substr(0, begin) + (end == std::string::npos ? "" : machine_toml.substr(end));
}

Settings ParseSettings(const std::vector<std::string>& sets,
                       const std::vector<std::string>& machine_keys) {
  Settings settings;
  std::vector<std::string> seen;
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == set.size()) {
      throw InputError(fmt::format("--set: expected key=value, got '{}'", set));
    }
    const std::string key = set.substr(0, equals);
    if (const Knob* knob = FindKnob(key)) {
      Configuration checked;
      settings.knobs.push_back({knob, set.substr(equals + 1)});
      Apply({settings.knobs.back()}, &checked);
      continue;
    }
    if (std::find(machine_keys.begin(), machine_keys.end(), key) == machine_keys.end()) {
      RefuseKey(key, machine_keys);
    }
    const auto earlier = std::find(seen.begin(), seen.end(), key);
    if (earlier != seen.end()) {
      settings.machine[static_cast<std::size_t>(earlier - seen.begin())] = set;
    } else {
      seen.push_back(key);
      settings.machine.push_back(set);
    }
  }
  return settings;
}

}  // namespace smk::sim
