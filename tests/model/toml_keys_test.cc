// SPDX-License-Identifier: Apache-2.0
// Keys that would be too deep for the parser are refused; nothing else is.
#include "base/toml_keys.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace smk {
namespace {

std::string Dotted(unsigned parts) {
  std::string key = "a";
  for (unsigned i = 1; i < parts; ++i) key += ".b";
  return key;
}

void Refuses(const std::string& text, const std::string& line) {
  try {
    CheckTomlKeys(text, "f.toml");
    ADD_FAILURE() << text;
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), "f.toml:" + line + ": expected keys of at most 32 parts");
  }
}

TEST(TomlKeys, ThirtyTwoPartsAreThere) {
  CheckTomlKeys(Dotted(32) + " = 1\n[" + Dotted(32) + "]\n", "f.toml");
  Refuses(Dotted(33) + " = 1\n", "1");
}

TEST(TomlKeys, WhereverAKeyCanStand) {
  Refuses("a = 1\n[" + Dotted(33) + "]\n", "2");
  Refuses("a = 1\n\n[[" + Dotted(33) + "]]\n", "3");
  Refuses("a = { b = 1, " + Dotted(33) + " = 2 }\n", "1");
  std::string spaced, quoted;
  for (unsigned i = 0; i < 32; ++i) spaced += "a . ";
  for (unsigned i = 0; i < 32; ++i) quoted += "\"a\".'b'.";
  Refuses(spaced + "a = 1\n", "1");
  Refuses(quoted + "a = 1\n", "1");
}

TEST(TomlKeys, OtherPointsAreNoKeys) {
  std::string numbers = "a = [", words = "# ", points(1000, '.');
  for (unsigned i = 0; i < 1000; ++i) numbers += "1.5, ";
  for (unsigned i = 0; i < 1000; ++i) words += "One more. ";
  CheckTomlKeys(numbers + "]\n" + words + "\n# " + points + "\n", "f.toml");
}

}  // namespace
}  // namespace smk
