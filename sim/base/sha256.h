// SPDX-License-Identifier: Apache-2.0
// SHA-256 by libcrypto, so that the hashes in a manifest can be checked with sha256sum.
#pragma once

#include <string>
#include <string_view>

namespace smk::sim {

// 64 hexadecimal digits.
std::string HashText(std::string_view text);

// Of a file's bytes; "" when it cannot be read.
std::string HashFile(const std::string& path);

}  // namespace smk::sim
