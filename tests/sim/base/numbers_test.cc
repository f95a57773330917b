// SPDX-License-Identifier: Apache-2.0
#include "base/numbers.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text_table.h"

namespace smk::sim {
namespace {

std::uint64_t Count(const char* text) { return ParseCount("--cycles", text, 1, 1'000'000'000); }

TEST(Numbers, CountsAreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(Count("200000"), 200000u);
  EXPECT_EQ(Count("200k"), 200000u);
  EXPECT_EQ(Count("2M"), 2000000u);
  EXPECT_EQ(Count("1e6"), 1000000u);
  EXPECT_EQ(Count("1.5M"), 1500000u);
  EXPECT_EQ(Count("2.5e3"), 2500u);
  EXPECT_EQ(Count("1G"), 1000000000u);
}

TEST(Numbers, AnythingElseIsRefusedByName) {
  for (const char* text :
       {"", "0", "-5", "+5", " 5", "5 ", "2MM", "0x10", "nan", "inf", "1e", "1.5", "1e99",
        "99999999999999999999", "k", ".", "2M3", "1G1", "1,000"}) {
    try {
      Count(text);
      FAIL() << "accepted '" << text << "'";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("--cycles: expected", 0), 0u) << error.what();
    }
  }
}

TEST(Numbers, SeedsUseAll64Bits) {
  EXPECT_EQ(ParseCount("--seed", "18446744073709551615", 0, ~std::uint64_t{0}), ~std::uint64_t{0});
}

TEST(Numbers, NearestPrefersAKnownTail) {
  const std::vector<std::string> keys = {"sm.l1.bytes", "memory.l2.bytes", "name"};
  EXPECT_EQ(Nearest("l1.bytes", keys), "sm.l1.bytes");
  EXPECT_EQ(Nearest("sm.l1.byte", keys), "sm.l1.bytes");
  EXPECT_EQ(DidYouMean("zzzzzzzzzz", keys), "");
}

TEST(Sha256, MatchesTheStandard) {
  EXPECT_EQ(HashText(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HashText("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HashText(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(TextTable, AlignsNumbersToTheRight) {
  TextTable table({"name", "n"});
  table.Add({"a", "1"});
  table.Add({"longer", "100"});
  EXPECT_EQ(table.ToString(), "name      n\na         1\nlonger  100\n");
}

}  // namespace
}  // namespace smk::sim
