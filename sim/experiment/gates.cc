// SPDX-License-Identifier: Apache-2.0
#include "experiment/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "experiment/rtl_set.h"

namespace smk::sim {
namespace fs = std::filesystem;
namespace {

// Which modules a module has, directly; names without smk_.
using Instances = std::map<std::string, std::set<std::string>>;

Instances ReadInstances() {
  const std::regex comment("//[^\n]*"), instance("\\bsmk_([a-z0-9_]+)\\s+(?:#|u_)");
  Instances instances;
  for (const std::string& file : RtlFiles()) {
    const std::string stem = fs::path(file).stem();
    if (fs::path(file).extension() != ".sv" || stem == "smk_pkg") continue;
    std::set<std::string>& parts = instances[stem.substr(4)];
    const std::string text =
        std::regex_replace(ReadFile(RtlSource("rtl/" + file)), comment, std::string());
    for (std::sregex_iterator at(text.begin(), text.end(), instance), end; at != end; ++at) {
      parts.insert((*at)[1]);
    }
  }
  return instances;
}

// The module and all that is in it.
std::set<std::string> Within(const std::string& module, const Instances& instances) {
  std::set<std::string> seen;
  std::vector<std::string> queue = {module};
  while (!queue.empty()) {
    const std::string next = queue.back();
    queue.pop_back();
    const auto found = instances.find(next);
    if (found == instances.end() || !seen.insert(next).second) continue;
    queue.insert(queue.end(), found->second.begin(), found->second.end());
  }
  return seen;
}

void CheckInMachine(const std::string& name, const Instances& instances) {
  std::vector<std::string> modules, parts;
  for (const auto& [module, inner] : instances) modules.push_back(module);
  if (instances.count(name) == 0) {
    throw InputError(
        fmt::format("--gates: rtl/README.md has no block '{}'{}", name, DidYouMean(name, modules)));
  }
  for (const RtlPart& part : RtlParts()) {
    if (Within(part.block, instances).count(name) != 0) return;
    if (*part.block != '\0') parts.emplace_back(part.block);
  }
  throw InputError(
      fmt::format("--gates: {} is not in what --control rtl evaluates: {}", name, Join(parts)));
}

}  // namespace

const std::vector<RtlPart>& RtlParts() {
  static const std::vector<RtlPart> kParts = {
      {"driver", "sim_driver", "sim/cosim/sim_driver.sv", "driver", "-O1"},
      // Of the driver, whose gates are in it.
      {"arbiter", "sim_token_arbiter", "sim/cosim/apart/sim_token_arbiter.sv", "", "-O1"},
      {"planner", "sim_partition_planner", "sim/cosim/apart/sim_partition_planner.sv", "", "-O1"},
      {"profiler", "sim_slicer_profiler", "sim/cosim/apart/sim_slicer_profiler.sv", "", "-O1"},
      {"usage", "sim_sm_usage", "sim/cosim/apart/sim_sm_usage.sv", "", "-O1"},
      {"tables", "smk_sm_tables", "rtl/sm/sm_control/smk_sm_tables.sv", "sm_tables", "-O2"},
      {"scheduler", "sim_quota_scheduler", "sim/cosim/sim_quota_scheduler.sv", "quota_scheduler",
       "-O2"},
      {"profile", "smk_sm_profile", "rtl/sm/sm_control/smk_sm_profile.sv", "sm_profile", "-O2"},
      {"sample", "smk_sm_sample", "rtl/sm/sm_control/smk_sm_sample.sv", "sm_sample", "-O2"},
  };
  return kParts;
}

std::vector<std::string> ParseGates(const std::string& text) {
  const Instances instances = ReadInstances();
  std::vector<std::string> gates;
  for (const std::string& word : Split(text, ',')) {
    const std::string name = word.rfind("smk_", 0) == 0 ? word.substr(4) : word;
    if (name.empty()) {
      throw InputError(fmt::format("--gates: expected blocks, BLOCK,BLOCK,..., got '{}'", text));
    }
    CheckInMachine(name, instances);
    if (std::find(gates.begin(), gates.end(), name) != gates.end()) {
      throw InputError(fmt::format("--gates: {} is named twice", name));
    }
    gates.push_back(name);
  }
  for (const std::string& outer : gates) {
    const std::set<std::string> within = Within(outer, instances);
    for (const std::string& inner : gates) {
      if (inner == outer || within.count(inner) == 0) continue;
      throw InputError(fmt::format("--gates: {} is inside {}, and is gates with it", inner, outer));
    }
  }
  std::sort(gates.begin(), gates.end());
  return gates;
}

std::vector<std::string> GatesOf(const RtlPart& part, const std::vector<std::string>& gates) {
  if (gates.empty()) return {};
  const std::set<std::string> within = Within(part.block, ReadInstances());
  std::vector<std::string> found;
  std::copy_if(gates.begin(), gates.end(), std::back_inserter(found),
               [&](const std::string& gate) { return within.count(gate) != 0; });
  return found;
}

}  // namespace smk::sim
