// SPDX-License-Identifier: Apache-2.0
#include "base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace smk::sim {
namespace {

bool IsUtf8(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

bool IsControl(unsigned char c) { return c < 0x20 || c == 0x7f; }

// Those of ISO 6429 behind the 128 of ASCII are U+0080 to U+009F.
bool IsControl(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  return IsControl(byte(at)) ||
         (byte(at) == 0xc2 && at + 1 < text.size() && byte(at + 1) >= 0x80 && byte(at + 1) < 0xa0);
}

}  // namespace

void CheckName(std::string_view what, const std::string& text) {
  bool plain = IsUtf8(text);
  for (std::size_t i = 0; i < text.size() && plain; ++i) plain = !IsControl(text, i);
  if (plain) return;
  throw InputError(fmt::format("{}: expected UTF-8 without control characters, got '{}'", what,
                               Printable(text)));
}

std::string Printable(std::string_view text) {
  const bool utf8 = IsUtf8(std::string(text));
  std::string shown;
  bool second = false;  // of the two bytes of a control character
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool hidden = second || IsControl(text, i) || (!utf8 && byte >= 0x80);
    second = !second && byte == 0xc2 && IsControl(text, i);
    shown += hidden ? fmt::format("\\x{:02x}", byte) : std::string(1, text[i]);
  }
  return shown;
}

std::vector<std::string> NumberedNames(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> before;
  std::vector<std::string> numbered;
  for (const std::string& name : names) {
    const bool several = std::count(names.begin(), names.end(), name) > 1;
    numbered.push_back(several ? fmt::format("{}#{}", name, ++before[name]) : name);
  }
  return numbered;
}

}  // namespace smk::sim
