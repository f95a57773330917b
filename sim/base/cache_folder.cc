// SPDX-License-Identifier: Apache-2.0
#include "base/cache_folder.h"

#include <cstdlib>

namespace smk::sim {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string CacheFolder() {
  if (std::string folder = Environment("SMK_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string cache = Environment("XDG_CACHE_HOME"); !cache.empty()) {
    return cache + "/smk";
  }
  const std::string home = Environment("HOME");
  return home.empty() ? "" : home + "/.cache/smk";
}

}  // namespace smk::sim
