// SPDX-License-Identifier: Apache-2.0
#include "base/shared_folder.h"

#include <filesystem>
#include <system_error>

namespace smk::sim {
namespace fs = std::filesystem;

std::string SharedFile(const std::string& name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return fs::weakly_canonical(program.parent_path().parent_path() / "share/smk" / name).string();
}

}  // namespace smk::sim
