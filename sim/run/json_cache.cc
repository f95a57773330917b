// SPDX-License-Identifier: Apache-2.0
#include "run/json_cache.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "base/files.h"
#include "base/program_id.h"
#include "base/reason.h"
#include "base/sha256.h"
#include "experiment/model_version.h"

namespace smk::sim {
namespace fs = std::filesystem;

std::string JsonCache::Path(const std::string& key) {
  if (program_.empty()) program_ = ProgramId();
  return fmt::format(
      "{}/{}.json", folder_,
      HashText(fmt::format("model {}\nexecutable {}\n{}", kModelVersion, program_, key)));
}

void JsonCache::Warn(const std::string& message) {
  if (!warned_) fmt::print(stderr, "smk: warning: {}\n", message);
  warned_ = true;
}

void JsonCache::Damaged(const std::string& key) {
  Warn(fmt::format("{}: damaged cache entry; the {} is made again", Path(key), what_));
}

std::optional<nlohmann::json> JsonCache::Find(const std::string& key) {
  if (!enabled()) return std::nullopt;
  const std::string path = Path(key);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  try {
    nlohmann::json entry = nlohmann::json::parse(ReadFile(path));
    if (HashText(entry.at("result").dump()) == entry.at("sha256").get<std::string>()) {
      return std::move(entry["result"]);
    }
  } catch (const std::exception&) {  // not what was written
  }
  Damaged(key);
  return std::nullopt;
}

void JsonCache::Store(const std::string& key, const nlohmann::json& value) {
  if (!enabled()) return;
  try {
    fs::create_directories(folder_);
    nlohmann::json entry;
    entry["result"] = value;
    entry["sha256"] = HashText(entry["result"].dump());
    WriteFileAtomically(Path(key), entry.dump() + "\n");
  } catch (const std::exception& error) {
    Warn(fmt::format("{}s are not kept: {}", what_, Reason(error)));
    folder_.clear();
  }
}

}  // namespace smk::sim
