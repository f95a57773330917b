// SPDX-License-Identifier: Apache-2.0
// Which names can stand in every file, and how the others are shown.
#include "base/names.h"

#include <gtest/gtest.h>

#include "sim/refusal.h"

namespace smk::sim {
namespace {

std::string Said(const std::string& text) {
  return Refusal([&] { CheckName("x", text); });
}

TEST(Names, AreUtf8WithoutControlCharacters) {
  for (const char* good : {"", "a b", "sgemm", "\"',;\\", "\xc3\xa4", "\xe2\x82\xac",
                           "\xf0\x9f\x98\x80", "\xc2\xa0", "~"}) {
    EXPECT_EQ(Said(good), "accepted") << good;
  }
  for (const char* bad : {"\n", "a\rb", "\t", "\x7f", "\x1b[31m", "\xc2\x85", "\xc2\x9f", "\xff",
                          "\xc3", "a\xe4", "\xed\xa0\x80", "\xc0\x80"}) {
    EXPECT_NE(Said(bad), "accepted") << Printable(bad);
  }
  EXPECT_NE(Said(std::string("a\0b", 3)), "accepted");
}

TEST(Names, AreRefusedInOneLine) {
  EXPECT_EQ(Said("a\nb"), "x: expected UTF-8 without control characters, got 'a\\x0ab'");
  EXPECT_EQ(Said("\xc3\xa4\xff"),
            "x: expected UTF-8 without control characters, got '\\xc3\\xa4\\xff'");
  EXPECT_EQ(Printable("\xc3\xa4\x1b"), "\xc3\xa4\\x1b");
  EXPECT_EQ(Printable("\xc2\x85\xc2\xa9"), "\\xc2\\x85\xc2\xa9") << "next line; copyright";
  EXPECT_EQ(Printable("\xc2\x62\xff"), "\\xc2b\\xff");
}

TEST(Names, OfWhichThereAreSeveralHaveNumbers) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(NumberedNames({"tea", "sad", "tea"}), (Names{"tea#1", "sad", "tea#2"}));
  EXPECT_EQ(NumberedNames({}), Names{});
}

}  // namespace
}  // namespace smk::sim
