// SPDX-License-Identifier: Apache-2.0
#include "base/reason.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>

namespace smk::sim {

std::string Reason(const std::exception& error) {
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return fmt::format("{}: {}", file->path1().string(), file->code().message());
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "not enough memory";
  return error.what();
}

bool IsWrongPath(const std::exception& error) {
  const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  return file != nullptr && IsWrongPath(file->code());
}

bool IsWrongPath(const std::error_code& code) {
  return code != std::errc::no_space_on_device && code != std::errc::io_error;
}

}  // namespace smk::sim
