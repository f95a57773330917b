// SPDX-License-Identifier: Apache-2.0
#include "run/isolated_cache.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/reason.h"
#include "base/sha256.h"
#include "experiment/model_version.h"
#include "experiment/requests.h"
#include "run/result_io.h"

namespace smk::sim {
namespace fs = std::filesystem;
std::string IsolatedCache::Path(const Experiment& experiment, std::size_t kernel) {
  if (executable_hash_.empty()) executable_hash_ = HashFile("/proc/self/exe");
  const RunRequest request = IsolatedRequest(experiment, kernel, {});
  std::string key = fmt::format(
      "model {}\nexecutable {}\nworkload {} {}\ncycles {}\nseed {}\nrepeat {}\ncontrol {}\n",
      kModelVersion, executable_hash_, experiment.workloads[kernel]->name,
      experiment.workloads[kernel]->content_hash, request.cycles, request.seed,
      request.jobs[0].repeat, Name(experiment.control));
  const Configuration alone = InEffectAlone(experiment);
  for (const Knob& knob : Knobs()) {
    if (knob.alone) key += fmt::format("{} {}\n", knob.path, knob.print(alone));
  }
  return fmt::format("{}/{}.json", folder_, HashText(key + experiment.machine_toml));
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
    Warn(fmt::format("isolated runs are not kept: {}", Reason(error)));
    folder_.clear();
  }
}

}  // namespace smk::sim
