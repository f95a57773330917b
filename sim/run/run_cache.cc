// SPDX-License-Identifier: Apache-2.0
#include "run/run_cache.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/reason.h"
#include "base/sha256.h"
#include "experiment/model_version.h"
#include "run/result_io.h"

namespace smk::sim {
namespace fs = std::filesystem;

std::string RunCache::Path(const std::string& key) {
  if (executable_hash_.empty()) executable_hash_ = HashFile("/proc/self/exe");
  return fmt::format(
      "{}/{}.json", folder_,
      HashText(fmt::format("model {}\nexecutable {}\n{}", kModelVersion, executable_hash_, key)));
}

void RunCache::Warn(const std::string& message) {
  if (!warned_) fmt::print(stderr, "smk: warning: {}\n", message);
  warned_ = true;
}

std::optional<RunResult> RunCache::Find(const std::string& key) {
  if (!enabled()) return std::nullopt;
  const std::string path = Path(key);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  try {
    const nlohmann::json entry = nlohmann::json::parse(ReadFile(path));
    if (HashText(entry.at("result").dump()) != entry.at("sha256").get<std::string>()) {
      throw std::runtime_error("wrong checksum");
    }
    return FromJson(entry.at("result"));
  } catch (const std::exception&) {
    Warn(fmt::format("{}: damaged cache entry; the {} is made again", path, what_));
    return std::nullopt;
  }
}

void RunCache::Store(const std::string& key, RunResult result) {
  if (!enabled()) return;
  result.tbs.clear();
  result.decisions.clear();
  result.epochs.clear();
  try {
    fs::create_directories(folder_);
    nlohmann::json entry;
    entry["result"] = ToJson(result);
    entry["sha256"] = HashText(entry["result"].dump());
    WriteFileAtomically(Path(key), entry.dump() + "\n");
  } catch (const std::exception& error) {
    Warn(fmt::format("{}s are not kept: {}", what_, Reason(error)));
    folder_.clear();
  }
}

}  // namespace smk::sim
