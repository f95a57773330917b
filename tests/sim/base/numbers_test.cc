// SPDX-License-Identifier: Apache-2.0
#include "base/numbers.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "base/nearest.h"
#include "base/sha256.h"
#include "base/text_table.h"
#include "test_options.h"

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

TEST(Numbers, ErrorsTellRangeAndText) {
  try {
    ParseCount("--jobs", "65", 1, 64);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "--jobs: expected a whole number from 1 to 64, got '65'");
  }
  EXPECT_EQ(ParseCount("--jobs", "64", 1, 64), 64u);
  EXPECT_EQ(ParseCount("--jobs", "1", 1, 64), 1u);
  EXPECT_THROW(ParseCount("--jobs", "0", 1, 64), InputError);
}

TEST(Numbers, SuffixesAndExponentsAreExact) {
  const auto any = [](const char* text) { return ParseCount("n", text, 0, ~std::uint64_t{0}); };
  EXPECT_EQ(any("0"), 0u);
  EXPECT_EQ(any("0e99"), 0u);
  EXPECT_EQ(any("1K"), 1000u);
  EXPECT_EQ(any("1E3"), 1000u);
  EXPECT_EQ(any("1e+3"), 1000u);
  EXPECT_EQ(any("1.25k"), 1250u);
  EXPECT_EQ(any(".5k"), 500u);
  EXPECT_EQ(any("5.k"), 5000u);
  EXPECT_EQ(any("1.000"), 1u);
  EXPECT_EQ(any("1e3k"), 1000000u);
  EXPECT_EQ(any("18.446744073709551615e18"), 18446744073709551615u) << "no double can";
  EXPECT_THROW(any("18.446744073709551616e18"), InputError);
  EXPECT_THROW(any("1.2345k"), InputError) << "not whole";
}

TEST(Numbers, AnyNumberWithAnyFractionComesBack) {
  std::mt19937_64 random(GetTestOptions().seed);
  SCOPED_TRACE("--seed=" + std::to_string(GetTestOptions().seed));
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t value = random() >> random() % 64;
    std::string digits = std::to_string(value);
    ASSERT_EQ(ParseCount("n", digits, 0, ~std::uint64_t{0}), value);
    const std::size_t places = random() % (digits.size() + 1);
    digits.insert(digits.size() - places, ".");
    digits += "e" + std::to_string(places);
    ASSERT_EQ(ParseCount("n", digits, 0, ~std::uint64_t{0}), value) << digits;
  }
}

TEST(Numbers, PartsComeBackTogether) {
  EXPECT_EQ(Split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(Split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(Join({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(Join({}), "");
  EXPECT_EQ(Join({"a"}, "/"), "a");
  for (const char* text : {"", ",", "a", "a,b", ",,x,", "lbm+sgemm"}) {
    EXPECT_EQ(Join(Split(text, ','), ","), text);
  }
}

TEST(Numbers, GuessesAreNearOrNone) {
  const std::vector<std::string> policies = {"spatial", "smk", "smk-p", "smk-pw"};
  EXPECT_EQ(Nearest("smk-pw", policies), "smk-pw");
  EXPECT_EQ(Nearest("smk-", policies), "smk") << "the first of equals";
  EXPECT_EQ(Nearest("x", {}), "");
  EXPECT_EQ(DidYouMean("spatail", policies), "; did you mean 'spatial'?");
  EXPECT_EQ(DidYouMean("sm", policies), "; did you mean 'smk'?");
  EXPECT_EQ(DidYouMean("leftover", policies), "");
  EXPECT_EQ(DidYouMean("x", {}), "");
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
