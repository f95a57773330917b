// SPDX-License-Identifier: Apache-2.0
#include "base/database_uri.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/database.h"

namespace smk::sim {

namespace fs = std::filesystem;

std::string UnchangingUri(const std::string& path) {
  std::string name = "file:";
  for (const char c : fs::absolute(path).string()) {
    const bool special = c == '%' || c == '?' || c == '#';
    name += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return name + "?immutable=1";
}

bool CanWriteBeside(const std::string& path) {
  return access(fs::absolute(path).parent_path().c_str(), W_OK) == 0;
}

void RefuseLogBeside(const std::string& path, int code) {
  std::error_code ignored;
  const std::string log = path + "-wal";
  if (!fs::exists(log, ignored) || fs::file_size(log, ignored) == 0) return;
  throw DatabaseError(
      fmt::format("{}: results are still in {}, which cannot be read in a folder that cannot be "
                  "written; copy both to another",
                  path, log),
      code);
}

}  // namespace smk::sim
