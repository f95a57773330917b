// SPDX-License-Identifier: Apache-2.0
// JSON values kept between calls of the command.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace smk::sim {

// A folder with one file for each value, named by the hash of everything that decides it: what the
// caller says, model version and executable. Entries are written under a temporary name and
// renamed, so any number of processes may share the folder. A damaged entry is as good as none and
// is overwritten. Trouble with the folder is reported once, on stderr, and then ignored.
class JsonCache {
 public:
  // "" switches the cache off. `what` is kept, for messages: "isolated run".
  JsonCache(std::string folder, std::string what)
      : folder_(std::move(folder)), what_(std::move(what)) {}

  bool enabled() const { return !folder_.empty(); }
  std::optional<nlohmann::json> Find(const std::string& key);
  void Store(const std::string& key, const nlohmann::json& value);
  // What is there under the key is not what the caller expects.
  void Damaged(const std::string& key);

 private:
  std::string Path(const std::string& key);
  void Warn(const std::string& message);

  std::string folder_;
  const std::string what_;
  std::string program_;  // ProgramId()
  bool warned_ = false;
};

}  // namespace smk::sim
