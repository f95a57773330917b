// SPDX-License-Identifier: Apache-2.0
// What has to be looked at before a text is parsed as TOML.
#pragma once

#include <string>

namespace smk {

// Most parts of a key, a.b.c has three. None of our formats needs more than five.
inline constexpr unsigned kMaxKeyParts = 32;

// Throws InputError when a key has more parts: the parser makes a table in a table of each, and its
// recursion ends with the stack.
void CheckTomlKeys(const std::string& text, const std::string& path);

}  // namespace smk
