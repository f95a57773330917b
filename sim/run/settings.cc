// SPDX-License-Identifier: Apache-2.0
#include "run/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <sstream>

#include "base/error.h"
#include "base/numbers.h"
#include "base/toml_file.h"

namespace smk::sim {
namespace {

// How one key is read.
struct TunableRow {
  TunableInfo info;
  std::function<void(const std::string& key, const std::string& value, Tunables*)> set;
};

TunableRow NumberRow(const char* key, std::uint64_t min, std::uint64_t max, const char* description,
                     std::optional<std::uint64_t> Tunables::*member) {
  return {{key, fmt::format("{} to {}", min, max), description},
          [=](const std::string& name, const std::string& value, Tunables* tunables) {
            tunables->*member = ParseCount("--set " + name, value, min, max);
          }};
}

void SetWarpPolicy(const std::string& key, const std::string& value, Tunables* tunables) {
  if (value != "gto" && value != "lrr") {
    throw InputError(fmt::format("--set {}: expected gto or lrr, got '{}'", key, value));
  }
  tunables->warp_policy = value == "gto" ? WarpPolicy::kGto : WarpPolicy::kLrr;
}

void SetIdealPreemption(const std::string& key, const std::string& value, Tunables* tunables) {
  if (value != "true" && value != "false") {
    throw InputError(fmt::format("--set {}: expected true or false, got '{}'", key, value));
  }
  tunables->ideal_preemption = value == "true";
}

void SetGridDivisor(const std::string& key, const std::string& value, Tunables* tunables) {
  tunables->grid_divisor = ParseCount("--set " + key, value, 1, 1'000'000);
}

const std::vector<TunableRow>& Rows() {
  static const std::vector<TunableRow> kRows = {
      NumberRow("policy.epoch_length", 100, std::numeric_limits<std::uint16_t>::max(),
                "instructions per scheduler and epoch; also cycles between two ticks",
                &Tunables::epoch_length),
      NumberRow("policy.linger_ticks", 0, 1000,
                "ticks before a finished kernel's place is given away", &Tunables::linger_ticks),
      NumberRow("policy.kernels_per_sm", 1, kMaxKernels, "kernels that may share one SM",
                &Tunables::kernels_per_sm),
      NumberRow("policy.latency_scale", 1, std::numeric_limits<std::uint8_t>::max(),
                "slows every decision of the driver by this factor", &Tunables::latency_scale),
      {{"policy.warp_policy", "gto or lrr", "order of the warps on a scheduler"}, SetWarpPolicy},
      NumberRow("control.preempted_depth", 1, 4096, "preempted TBs of a kernel that can wait",
                &Tunables::preempted_depth),
      {{"run.ideal_preemption", "true or false", "contexts move in no time and without traffic"},
       SetIdealPreemption},
      {{"run.grid_divisor", "1 to 1000000", "divides the TBs of every grid: smaller data sets"},
       SetGridDivisor},
  };
  return kRows;
}

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
  for (const TunableInfo& info : TunableKeys()) known.push_back(info.key);
  throw InputError(
      fmt::format("--set {}: unknown key; the nearest is '{}'", key, Nearest(key, known)));
}

}  // namespace

const std::vector<TunableInfo>& TunableKeys() {
  static const std::vector<TunableInfo> kKeys = [] {
    std::vector<TunableInfo> infos;
    for (const TunableRow& row : Rows()) infos.push_back(row.info);
    return infos;
  }();
  return kKeys;
}

std::vector<std::pair<std::string, std::string>> FlattenToml(const std::string& toml,
                                                             const std::string& what) {
  std::vector<std::pair<std::string, std::string>> leaves;
  Flatten(ParseToml(toml, what), "", &leaves);
  return leaves;
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
    const auto row = std::find_if(Rows().begin(), Rows().end(),
                                  [&](const TunableRow& r) { return r.info.key == key; });
    if (row != Rows().end()) {
      row->set(key, set.substr(equals + 1), &settings.tunables);
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

void Apply(const Tunables& tunables, PolicyConfig* config) {
  if (tunables.epoch_length) {
    config->epoch_length = static_cast<std::uint16_t>(*tunables.epoch_length);
  }
  if (tunables.linger_ticks) {
    config->linger_ticks = static_cast<std::uint16_t>(*tunables.linger_ticks);
  }
  if (tunables.kernels_per_sm) {
    config->kernels_per_sm = static_cast<std::uint8_t>(*tunables.kernels_per_sm);
  }
  if (tunables.latency_scale) {
    config->latency_scale = static_cast<std::uint8_t>(*tunables.latency_scale);
  }
  if (tunables.warp_policy) config->warp_policy = *tunables.warp_policy;
}

}  // namespace smk::sim
