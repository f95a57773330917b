// SPDX-License-Identifier: Apache-2.0
#include "base/toml_keys.h"

#include <cctype>

#include "base/error.h"

namespace smk {
namespace {

// Whether the character may be in a part of a key, quoted ones too.
bool IsOfPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '"' ||
         c == '\'' || (static_cast<unsigned char>(c) & 0x80) != 0;
}

}  // namespace

void CheckTomlKeys(const std::string& text, const std::string& path) {
  unsigned line = 1, parts = 0;
  bool in_part = false, space = false;  // space: after a part
  for (const char c : text) {
    if (IsOfPart(c)) {
      if (in_part && space) parts = 0;
      in_part = true;
      space = false;
    } else if (c == '.' && in_part) {
      in_part = space = false;
      if (++parts < kMaxKeyParts) continue;
      throw InputError(path + ":" + std::to_string(line) + ": expected keys of at most " +
                       std::to_string(kMaxKeyParts) + " parts");
    } else if (c == ' ' || c == '\t') {
      space = true;
    } else {
      in_part = space = false;
      parts = 0;
      if (c == '\n') ++line;
    }
  }
}

}  // namespace smk
