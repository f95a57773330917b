// SPDX-License-Identifier: Apache-2.0
// Results of runs, kept between calls of the command.
#pragma once

#include <optional>
#include <string>

#include "machine/run.h"
#include "run/json_cache.h"

namespace smk::sim {

// A JsonCache of results.
class RunCache {
 public:
  // "" switches the cache off. `what` is kept, for messages: "isolated run".
  RunCache(std::string folder, std::string what) : entries_(std::move(folder), std::move(what)) {}

  bool enabled() const { return entries_.enabled(); }
  // Statistics without TB records and the like.
  std::optional<RunResult> Find(const std::string& key);
  void Store(const std::string& key, RunResult result);

 private:
  JsonCache entries_;
};

}  // namespace smk::sim
