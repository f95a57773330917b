// SPDX-License-Identifier: Apache-2.0
#include "run/manifest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "experiment/model_version.h"
#include "experiment/trace_name.h"
#include "smk/version.h"

namespace smk::sim {

std::string ManifestJson(const Experiment& experiment, const std::string& command_line,
                         const std::string& status) {
  nlohmann::ordered_json j;
  j["status"] = status;
  j["version"] = kVersion;
  j["git_describe"] = kGitDescribe;
  j["model_version"] = kModelVersion;
  j["executable_sha256"] = HashFile("/proc/self/exe");
  j["compiler"] = fmt::format("g++ {}", __VERSION__);
  j["command_line"] = command_line;
  j["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  j["seed"] = experiment.seed;
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
  return j.dump(2) + "\n";
}

std::string CommandLine(int argc, const char* const* argv) {
  const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i];
    if (i != 0) line += ' ';
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
