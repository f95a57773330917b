// SPDX-License-Identifier: Apache-2.0
// Folders of `smk run` and `smk compare`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/toml_file.h"
#include "report/data.h"
#include "run/results.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

ordered_json ReadJson(const std::string& path) {
  try {
    return ordered_json::parse(ReadFile(path));
  } catch (const nlohmann::json::exception&) {
    throw InputError(fmt::format("{}: is not valid JSON", path));
  }
}

// Throws for statistics that are not ours, or newer.
void CheckSchema(const ordered_json& j, const std::string& path) {
  const auto schema = j.is_object() ? j.find("schema") : j.end();
  if (!j.is_object() || schema == j.end() || !schema->is_number_integer()) {
    throw InputError(fmt::format("{}: schema: expected a whole number", path));
  }
  if (schema->get<int>() < 1 || schema->get<int>() > kStatsSchema) {
    throw InputError(fmt::format("{}: its schema is version {}, this smk knows version {}", path,
                                 schema->get<int>(), kStatsSchema));
  }
}

// The manifest of a run that passed.
ordered_json PassedManifest(const std::string& folder) {
  const std::string path = folder + "/manifest.json";
  if (!fs::exists(path)) {
    throw InputError(fmt::format(
        "{}: expected a folder of smk run or smk compare, or a database of smk sweep", folder));
  }
  ordered_json manifest = ReadJson(path);
  const std::string status = manifest.is_object() ? manifest.value("status", "") : "";
  if (status != "PASS") {
    throw InputError(fmt::format("{}: the run has no results: {}", folder,
                                 status.empty() ? "no status in its manifest" : status));
  }
  return manifest;
}

// The folder of one policy of a comparison: that of the command.
std::string PolicyFolder(std::string policy) {
  std::replace_if(
      policy.begin(), policy.end(), [](char c) { return c == ':' || c == ','; }, '-');
  return policy;
}

}  // namespace

ordered_json ReportRunFolder(const std::string& folder) {
  ordered_json run;
  run["manifest"] = PassedManifest(folder);
  run["stats"] = ReadJson(folder + "/stats.json");
  CheckSchema(run["stats"], folder + "/stats.json");
  run["config"] = TomlFileAsJson(folder + "/config.toml");
  run["config_text"] = ReadFile(folder + "/config.toml");
  RunShape shape;
  try {
    shape.cycles = run["stats"].at("cycles").get<std::uint64_t>();
    shape.kernels = run["stats"].at("kernels").size();
    shape.sms = run["stats"].at("sms").size();
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}/stats.json: {}", folder, error.what()));
  }
  run["residency"] = ReadResidency(folder + "/tbs.csv", shape);
  run["preemptions"] = ReadPreemptions(folder + "/tbs.csv", shape);
  run["decisions"] = ReadDecisions(folder + "/decisions.csv", shape);
  // Absent for kernels that ran one after another, and in folders of older versions.
  const std::string samples = folder + "/samples.csv";
  run["samples"] = fs::exists(samples) ? ReadSamples(samples, shape) : ordered_json(nullptr);
  return run;
}

ordered_json ReportCompareFolder(const std::string& folder) {
  const std::string path = folder + "/compare.json";
  ordered_json j;
  j["compare"] = ReadJson(path);
  CheckSchema(j["compare"], path);
  j["runs"] = ordered_json::array();
  if (!j["compare"].contains("policies") || !j["compare"]["policies"].is_array()) {
    throw InputError(fmt::format("{}: policies: expected a list", path));
  }
  for (const ordered_json& policy : j["compare"]["policies"]) {
    const std::string name = policy.value("policy", "");
    ordered_json run = ReportRunFolder(folder + "/" + PolicyFolder(name));
    run["policy"] = name;
    j["runs"].push_back(std::move(run));
  }
  return j;
}

}  // namespace smk::sim
