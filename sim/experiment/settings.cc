// SPDX-License-Identifier: Apache-2.0
#include "experiment/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"

namespace smk::sim {
namespace {

[[noreturn]] void RefuseKey(const std::string& key, std::vector<std::string> known) {
  for (const Knob* knob : SettableKnobs()) known.push_back(knob->path);
  throw InputError(
      fmt::format("--set {}: unknown key; the nearest is '{}'", key, Nearest(key, known)));
}

}  // namespace

std::string WithoutHost(const std::string& machine_toml) {
  const std::size_t begin = machine_toml.find("\n[host]\n");
  if (begin == std::string::npos) return machine_toml;
  const std::size_t end = machine_toml.find("\n[", begin + 1);
  return machine_toml.substr(0, begin) + (end == std::string::npos ? "" : machine_toml.substr(end));
}

std::vector<std::string> MergeSets(const std::vector<std::string>& first,
                                   const std::vector<std::string>& more) {
  std::vector<std::string> merged;
  const auto take = [&](const std::string& set) {
    // With its "=": a word without one stays, for ParseSettings to refuse.
    const std::size_t key = set.find('=') + 1;
    const auto earlier = std::find_if(merged.begin(), merged.end(), [&](const std::string& other) {
      return key != 0 && other.compare(0, key, set, 0, key) == 0;
    });
    if (earlier == merged.end()) {
      merged.push_back(set);
    } else {
      *earlier = set;
    }
  };
  for (const std::string& set : first) take(set);
  for (const std::string& set : more) take(set);
  return merged;
}

Settings ParseSettings(const std::vector<std::string>& sets,
                       const std::vector<std::string>& machine_keys) {
  Settings settings;
  std::vector<std::string> seen;
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError(fmt::format("--set: expected key=value, got '{}'", set));
    }
    const std::string key = set.substr(0, equals);
    if (equals + 1 == set.size()) {
      throw InputError(fmt::format("--set {}: expected a value, got nothing", key));
    }
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
