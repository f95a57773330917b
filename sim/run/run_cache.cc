// SPDX-License-Identifier: Apache-2.0
#include "run/run_cache.h"

#include "run/result_io.h"

namespace smk::sim {

std::optional<RunResult> RunCache::Find(const std::string& key) {
  const std::optional<nlohmann::json> entry = entries_.Find(key);
  if (!entry) return std::nullopt;
  try {
    return FromJson(*entry);
  } catch (const std::exception&) {
    entries_.Damaged(key);
    return std::nullopt;
  }
}

void RunCache::Store(const std::string& key, RunResult result) {
  if (!enabled()) return;
  result.tbs.clear();
  result.decisions.clear();
  result.epochs.clear();
  entries_.Store(key, ToJson(result));
}

}  // namespace smk::sim
