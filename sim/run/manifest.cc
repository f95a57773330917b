// SPDX-License-Identifier: Apache-2.0
#include "run/manifest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "base/program_id.h"
#include "base/sha256.h"
#include "experiment/model_version.h"
#include "experiment/trace_name.h"
#include "smk/version.h"

namespace smk::sim {

std::string ManifestJson(const Experiment& experiment, const std::string& command_line,
                         const std::string& status, const OutputFolder& folder,
                         const std::vector<std::string>& runs) {
  nlohmann::ordered_json j;
  j["status"] = status;
  j["version"] = kVersion;
  j["git_describe"] = kGitDescribe;
  j["model_version"] = kModelVersion;
  j["executable_sha256"] = ProgramHash(experiment.cache);
  j["compiler"] = fmt::format("g++ {}", __VERSION__);
  j["command_line"] = command_line;
  j["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  j["seed"] = experiment.seed;
  if (!experiment.gates.empty()) j["gates"] = experiment.gates;
  j["inputs"] = nlohmann::ordered_json::array();
  const auto add = [&](const char* kind, const std::string& path) {
    j["inputs"].push_back({{"kind", kind}, {"path", path}, {"sha256", HashFile(path)}});
  };
  add("machine", experiment.machine_path);
  for (std::size_t i = 0; i < experiment.workloads.size(); ++i) {
    const Workload& workload = *experiment.workloads[i];
    add("workload", workload.source_file);
    // The file of a trace is only a list of others.
    if (IsTraceName(experiment.names[i])) {
      j["inputs"].back()["content_hash"] = workload.content_hash;
    }
  }
  j["outputs"] = nlohmann::ordered_json::array();
  std::vector<std::string> outputs = folder.Outputs();
  for (const std::string& run : runs) {
    if (folder) outputs.push_back(ManifestOf(run));
  }
  for (const std::string& name : outputs) {
    j["outputs"].push_back({{"path", name}, {"sha256", HashFile(folder.path() + "/" + name)}});
  }
  return j.dump(2) + "\n";
}

std::string ManifestOf(const std::string& run) { return run + "/manifest.json"; }

std::vector<std::string> RunsOfComparison(const std::string& folder) {
  std::vector<std::string> runs;
  if (folder.empty()) return runs;
  try {
    const auto manifest = nlohmann::ordered_json::parse(ReadFile(folder + "/manifest.json"));
    for (const auto& output : manifest.at("outputs")) {
      const std::string path = output.at("path");
      const std::string run = path.substr(0, path.find('/'));
      if (path != ManifestOf(run) || run.empty() || run == "." || run == "..") continue;
      if (HashFile(folder + "/" + path) == output.at("sha256")) runs.push_back(run);
    }
  } catch (const InputError&) {                 // there is none
  } catch (const nlohmann::json::exception&) {  // or not one of ours
  }
  return runs;
}

void CheckOutputs(const std::string& folder, const nlohmann::ordered_json& manifest,
                  const std::vector<std::string>& names) {
  if (!manifest.is_object() || !manifest.contains("outputs")) return;
  try {
    for (const auto& output : manifest["outputs"]) {
      const std::string name = output.at("path");
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      const std::string path = folder + "/" + name;
      const std::string hash = HashFile(path);
      if (hash.empty()) throw InputError(fmt::format("{}: cannot be read", path));
      if (hash == output.at("sha256").get<std::string>()) continue;
      throw InputError(
          fmt::format("{}: is damaged or of another run: it does not have the hash in "
                      "{}/manifest.json; the command in there makes it again",
                      path, folder));
    }
  } catch (const nlohmann::json::exception&) {
    throw InputError(folder + "/manifest.json: outputs: expected objects with path and sha256");
  }
}

std::string CommandLine(const std::vector<std::string>& words) {
  const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  std::string line;
  for (const std::string& word : words) {
    if (&word != &words.front()) line += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace smk::sim
