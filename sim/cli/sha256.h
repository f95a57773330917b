// SPDX-License-Identifier: Apache-2.0
// SHA-256, so that the hashes in a manifest can be checked with sha256sum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smk::cli {

// Incremental SHA-256 (FIPS 180-4).
class Sha256 {
 public:
  void Update(std::string_view bytes);
  // The digest as 64 hexadecimal digits. The object is spent afterwards.
  std::string Hex();

 private:
  void Block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> buffer_{};
  std::size_t buffered_ = 0;
  std::uint64_t length_ = 0;  // bytes
};

std::string HashText(std::string_view text);

// Of a file's bytes; "" when it cannot be read.
std::string HashFile(const std::string& path);

}  // namespace smk::cli
