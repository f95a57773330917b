// SPDX-License-Identifier: Apache-2.0
// Folders of `smk run` and `smk compare`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/toml_file.h"
#include "report/data.h"
#include "report/timeline.h"
#include "run/manifest.h"
#include "run/results.h"

namespace smk::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::uint64_t kMaxCycles = 1'000'000'000'000;  // more than any run has

ordered_json ReadJson(const std::string& path) {
  try {
    return ordered_json::parse(ReadFile(path));
  } catch (const nlohmann::json::exception&) {
    throw InputError(fmt::format("{}: is not valid JSON", path));
  }
}

// The text of a key; "" without such a text.
std::string TextOf(const ordered_json& j, const char* key) {
  return j.is_object() && j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : "";
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
  const Writing writing = WritingInto(folder);
  if (!fs::exists(path) && writing != Writing::kNobody) {
    throw InputError(fmt::format(
        "{}: there are no results: the run that writes there {}", folder,
        writing == Writing::kAtWork ? "is still at work" : "was killed before its end"));
  }
  if (writing != Writing::kNobody) {
    fmt::print(stderr,
               "smk: note: {}: these results are of an earlier run; the one that writes there {}\n",
               folder,
               writing == Writing::kAtWork ? "is still at work" : "was killed before its end");
  }
  if (!fs::exists(path)) {
    throw InputError(fmt::format(
        "{}: expected a folder of smk run or smk compare, or a database of smk sweep", folder));
  }
  ordered_json manifest = ReadJson(path);
  const std::string status = TextOf(manifest, "status");
  if (status != "PASS") {
    throw InputError(fmt::format("{}: the run has no results: {}", folder,
                                 status.empty() ? "no status in its manifest" : status));
  }
  return manifest;
}

RunShape ShapeOf(const ordered_json& stats, const std::string& path) {
  const auto cycles = stats.find("cycles");
  if (cycles == stats.end() || !cycles->is_number_unsigned() ||
      cycles->get<std::uint64_t>() - 1 >= kMaxCycles) {
    throw InputError(
        fmt::format("{}: cycles: expected a whole number from 1 to {}", path, kMaxCycles));
  }
  const auto length = [&](const char* key) {
    const auto list = stats.find(key);
    if (list != stats.end() && list->is_array()) return list->size();
    throw InputError(fmt::format("{}: {}: expected a list", path, key));
  };
  return {cycles->get<std::uint64_t>(), length("kernels"), length("sms")};
}

// Several kernels, each of which had the GPU to itself: their TBs are in the same places at the
// same times.
bool OneAfterAnother(const ordered_json& stats, const RunShape& shape) {
  const auto baseline = stats.find("baseline");
  return baseline != stats.end() && *baseline == true && shape.kernels > 1;
}

// The shape of a run whose TBs can be drawn together.
RunShape DrawableShape(const std::string& folder, const ordered_json& stats) {
  if (TextOf(stats, "kind") == "clients") {
    throw InputError(fmt::format(
        "{}: clients with scripts have no TBs to draw; expected a run of kernels; see smk report, "
        "or timeline.json.gz of smk serve --timeline",
        folder));
  }
  const RunShape shape = ShapeOf(stats, folder + "/stats.json");
  if (!OneAfterAnother(stats, shape)) return shape;
  throw InputError(fmt::format(
      "{}: the policy isolated runs each kernel alone; expected a run of one kernel, or of "
      "another policy",
      folder));
}

// The folder of one policy of a comparison: that of the command.
std::string PolicyFolder(std::string policy) {
  std::replace_if(
      policy.begin(), policy.end(), [](char c) { return c == ':' || c == ','; }, '-');
  return policy;
}

}  // namespace

RunTimeline ReadRunTimeline(const std::string& folder, ordered_json* stats) {
  if (fs::exists(folder + "/compare.json")) {
    throw InputError(fmt::format("{0}: is a comparison; give {0}/POLICY", folder));
  }
  CheckOutputs(folder, PassedManifest(folder), {"stats.json", "tbs.csv", "decisions.csv"});
  *stats = ReadJson(folder + "/stats.json");
  CheckSchema(*stats, folder + "/stats.json");
  return ReadTimeline(folder + "/tbs.csv", folder + "/decisions.csv",
                      DrawableShape(folder, *stats));
}

ordered_json ReportRunFolder(const std::string& folder) {
  ordered_json run;
  run["manifest"] = PassedManifest(folder);
  CheckOutputs(folder, run["manifest"],
               {"stats.json", "config.toml", "tbs.csv", "decisions.csv", "samples.csv", "jobs.csv",
                "launches.csv", "copies.csv", "shares.csv", "tokens.csv"});
  run["stats"] = ReadJson(folder + "/stats.json");
  CheckSchema(run["stats"], folder + "/stats.json");
  run["config"] = TomlFileAsJson(folder + "/config.toml");
  run["config_text"] = ReadFile(folder + "/config.toml");
  if (TextOf(run["stats"], "kind") == "clients") {
    run.update(ReadShares(folder));
    return run;
  }
  if (run["stats"].contains("host") && run["stats"]["host"].is_object()) {
    run["stream"] = ReadStream(folder);
  }
  const RunShape shape = ShapeOf(run["stats"], folder + "/stats.json");
  run["residency"] = ReadResidency(folder + "/tbs.csv", shape);
  run["preemptions"] = ReadPreemptions(folder + "/tbs.csv", shape);
  run["decisions"] = ReadDecisions(folder + "/decisions.csv", shape);
  const RunTimeline timeline = ReadTimeline(folder + "/tbs.csv", folder + "/decisions.csv", shape);
  run["timeline"] = OneAfterAnother(run["stats"], shape) ? nullptr : TimelineColumns(timeline);
  // Absent for kernels that ran one after another, and in folders of older versions.
  const std::string samples = folder + "/samples.csv";
  run["samples"] = fs::exists(samples) ? ReadSamples(samples, shape) : ordered_json(nullptr);
  return run;
}

ordered_json ReportCompareFolder(const std::string& folder) {
  const std::string path = folder + "/compare.json";
  ordered_json manifest;
  if (fs::exists(folder + "/manifest.json")) {
    manifest = PassedManifest(folder);
    CheckOutputs(folder, manifest, {"compare.json"});
  }
  ordered_json j;
  j["compare"] = ReadJson(path);
  CheckSchema(j["compare"], path);
  j["runs"] = ordered_json::array();
  const auto policies = j["compare"].find("policies");
  if (policies == j["compare"].end() || !policies->is_array() || policies->empty()) {
    throw InputError(fmt::format("{}: policies: expected a list of policies", path));
  }
  for (const ordered_json& policy : *policies) {
    const std::string name = TextOf(policy, "policy");
    if (name.empty()) {
      throw InputError(fmt::format("{}: policies: expected objects with a policy", path));
    }
    // Another run may have been made into its folder since.
    CheckOutputs(folder, manifest, {ManifestOf(PolicyFolder(name))});
    ordered_json run = ReportRunFolder(folder + "/" + PolicyFolder(name));
    run["policy"] = name;
    j["runs"].push_back(std::move(run));
  }
  return j;
}

}  // namespace smk::sim
