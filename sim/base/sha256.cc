// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace smk::sim {
namespace {

class Digest {
 public:
  Digest() { Check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

  void Update(const char* bytes, std::size_t size) {
    Check(EVP_DigestUpdate(context_.get(), bytes, size));
  }

  std::string Hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    Check(EVP_DigestFinal_ex(context_.get(), digest.data(), &size));
    return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
  }

 private:
  static void Check(int passed) {
    if (passed != 1) throw std::runtime_error("libcrypto cannot compute SHA-256");
  }

  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

}  // namespace

std::string HashText(std::string_view text) {
  Digest digest;
  digest.Update(text.data(), text.size());
  return digest.Hex();
}

std::string HashFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "";
  Digest digest;
  std::vector<char> chunk(1 << 16);
  while (in) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    digest.Update(chunk.data(), static_cast<std::size_t>(in.gcount()));
  }
  return in.bad() ? "" : digest.Hex();
}

}  // namespace smk::sim
