// SPDX-License-Identifier: Apache-2.0
// Results of runs, kept between calls of the command.
#pragma once

#include <optional>
#include <string>

#include "machine/run.h"

namespace smk::sim {

// A folder with one file for each run, named by the hash of everything that decides its result:
// what the caller says, model version and executable. Entries are written under a temporary name
// and renamed, so any number of processes may share the folder. A damaged entry is as good as none
// and is overwritten. Trouble with the folder is reported once, on stderr, and then ignored.
class RunCache {
 public:
  // "" switches the cache off. `what` is kept, for messages: "isolated run".
  RunCache(std::string folder, std::string what)
      : folder_(std::move(folder)), what_(std::move(what)) {}

  bool enabled() const { return !folder_.empty(); }
  // Statistics without TB records and the like.
  std::optional<RunResult> Find(const std::string& key);
  void Store(const std::string& key, RunResult result);

 private:
  std::string Path(const std::string& key);
  void Warn(const std::string& message);

  std::string folder_;
  const std::string what_;
  std::string executable_hash_;
  bool warned_ = false;
};

}  // namespace smk::sim
