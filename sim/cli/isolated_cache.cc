// SPDX-License-Identifier: Apache-2.0
#include "cli/isolated_cache.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "cli/files.h"
#include "cli/result_io.h"
#include "cli/sha256.h"

namespace smk::cli {
namespace fs = std::filesystem;
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string IsolatedCache::DefaultFolder() {
  if (std::string folder = Environment("SMK_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string cache = Environment("XDG_CACHE_HOME"); !cache.empty()) {
    return cache + "/smk";
  }
  const std::string home = Environment("HOME");
  return home.empty() ? "" : home + "/.cache/smk";
}

std::string IsolatedCache::Path(const Experiment& experiment, std::size_t kernel) {
  if (executable_hash_.empty()) executable_hash_ = HashFile("/proc/self/exe");
  const RunRequest request = IsolatedRequest(experiment, kernel, {});
  const std::string key = fmt::format(
      "model {}\nexecutable {}\nworkload {} {}\ncycles {}\nseed {}\nrepeat {}\nwarp_policy {}\n"
      "control {} {}\n{}",
      kModelVersion, executable_hash_, experiment.workloads[kernel]->name,
      experiment.workloads[kernel]->content_hash, request.cycles, request.seed,
      request.programs[0].repeat, Name(request.policy.warp_policy), Name(experiment.control),
      experiment.control_config.preempted_depth, experiment.machine_toml);
  return fmt::format("{}/{}.json", folder_, HashText(key));
}

void IsolatedCache::Warn(const std::string& message) {
  if (!warned_) fmt::print(stderr, "smk: warning: {}\n", message);
  warned_ = true;
}

std::optional<RunResult> IsolatedCache::Find(const Experiment& experiment, std::size_t kernel) {
  if (folder_.empty()) return std::nullopt;
  const std::string path = Path(experiment, kernel);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  try {
    const nlohmann::json entry = nlohmann::json::parse(ReadFile(path));
    if (HashText(entry.at("result").dump()) != entry.at("sha256").get<std::string>()) {
      throw std::runtime_error("wrong checksum");
    }
    return FromJson(entry.at("result"));
  } catch (const std::exception&) {
    Warn(fmt::format("{}: damaged cache entry; the isolated run is made again", path));
    return std::nullopt;
  }
}

void IsolatedCache::Store(const Experiment& experiment, std::size_t kernel, RunResult result) {
  if (folder_.empty()) return;
  result.tbs.clear();
  result.decisions.clear();
  result.epochs.clear();
  try {
    fs::create_directories(folder_);
    nlohmann::json entry;
    entry["result"] = ToJson(result);
    entry["sha256"] = HashText(entry["result"].dump());
    WriteFileAtomically(Path(experiment, kernel), entry.dump() + "\n");
  } catch (const std::exception& error) {
    Warn(fmt::format("isolated runs are not kept: {}", error.what()));
    folder_.clear();
  }
}

}  // namespace smk::cli
