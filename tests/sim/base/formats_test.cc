// SPDX-License-Identifier: Apache-2.0
// TOML with errors of one line, gzip, hashes, text tables, and where the cache is.
#include <gmock/gmock.h>
#include <zlib.h>

#include "base/cache_folder.h"
#include "base/gzip.h"
#include "base/sha256.h"
#include "base/text_table.h"
#include "base/toml_file.h"
#include "sim/refusal.h"
#include "sim/scratch.h"

namespace smk::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Gunzip(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK) {
    char buffer[1000];
    stream.next_out = reinterpret_cast<Bytef*>(buffer);
    stream.avail_out = sizeof buffer;
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer, sizeof buffer - stream.avail_out);
  }
  EXPECT_EQ(status, Z_STREAM_END) << "with its checksum";
  EXPECT_EQ(stream.avail_in, 0u) << "nothing comes after it";
  inflateEnd(&stream);
  return text;
}

TEST(GzipTexts, AnyTextComesBack) {
  Chance chance;
  for (int round = 0; round < 60; ++round) {
    std::string text(chance.Below(50'000), '\0');
    const unsigned letters = round % 2 == 0 ? 256 : 3;  // what does not shrink, and what does
    for (char& c : text) c = static_cast<char>(chance.Below(letters));
    ASSERT_EQ(Gunzip(Gzip(text)), text) << "round " << round;
  }
  EXPECT_EQ(Gunzip(Gzip("")), "");
}

TEST(GzipTexts, TheSameTextGivesTheSameBytes) {
  const std::string packed = Gzip("the same");
  EXPECT_EQ(packed, Gzip("the same"));
  EXPECT_EQ(packed.substr(0, 3), "\x1f\x8b\x08");
  EXPECT_EQ(packed[3], 0) << "no name, no comment";
  EXPECT_EQ(packed.substr(4, 4), std::string(4, '\0')) << "no time of day";
}

TEST(GzipTexts, WhatRepeatsShrinks) { EXPECT_LT(Gzip(std::string(1'000'000, 'x')).size(), 5000u); }

class TomlFiles : public ScratchTest {};

TEST_F(TomlFiles, AFileIsReadAsJsonInItsOrder) {
  const auto j = TomlFileAsJson(
      Write("x.toml", "b = 1\na = 'x'\n[t]\nlist = [1, 2.5, true]\n[[row]]\nn = 1\n[[row]]\n"));
  EXPECT_EQ(j["b"], 1);
  EXPECT_EQ(j["a"], "x");
  EXPECT_EQ(j["t"]["list"].dump(), "[1,2.5,true]");
  EXPECT_EQ(j["row"].size(), 2u);
  EXPECT_EQ(j["row"][0]["n"], 1);
}

TEST_F(TomlFiles, ErrorsNameFileAndLineInOneLine) {
  for (const auto& [text, line] :
       std::vector<std::pair<std::string, std::string>>{{"a = 1\nb = \n", "2"},
                                                        {"a = 1\na = 2\n", "2"},
                                                        {"\n\n[t\n", "3"},
                                                        {"a = 'open\n", "1"},
                                                        {"a = 1\nb = 0x\n", "2"}}) {
    const std::string said = Refusal([&text = text] { ParseToml(text, "dir/x.toml"); });
    EXPECT_THAT(said, StartsWith("dir/x.toml:" + line + ": expected TOML: ")) << text;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST_F(TomlFiles, ATextIsInOneLineHoweverLong) {
  for (const std::size_t size : {0, 1, 100, 110, 120, 200, 5000}) {
    const std::string text = std::string(size, 'x') + "],";
    const std::string toml = TomlText(text);
    EXPECT_EQ(toml.find('\n'), std::string::npos) << size;
    EXPECT_EQ(ParseToml("key = " + toml + "\nother = 1\n", "x")["key"].value_or(""), text);
  }
}

TEST_F(TomlFiles, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(Refusal([&] { TomlFileAsJson(Path("no.toml")); }),
            Path("no.toml") + ": cannot be read");
}

TEST_F(TomlFiles, AnEmptyFileIsAnEmptyTable) {
  EXPECT_TRUE(ParseToml("", "x").empty());
  EXPECT_EQ(TomlFileAsJson(Write("x.toml", "# nothing\n")).dump(), "{}");
}

TEST_F(TomlFiles, DamageIsAnInputErrorNeverAnotherOne) {
  Chance chance;
  const std::string good = "a = 1\n[t]\nb = ['x', \"y\\n\"]\n[[r]]\nc = 1.5e3\nd = 1979-05-27\n";
  for (int round = 0; round < 500; ++round) {
    std::string text = good;
    for (std::uint64_t edits = 1 + chance.Below(3); edits > 0; --edits) {
      text[chance.Below(text.size())] = "[]='\"\n.,#0\\"[chance.Below(11)];
    }
    const std::string said = Refusal([&] { ParseToml(text, "x"); });
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

class Hashes : public ScratchTest {};

TEST_F(Hashes, AFileHasTheHashOfItsText) {
  EXPECT_EQ(HashFile(Write("abc", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HashFile(Write("empty", "")), HashText(""));
  Chance chance;
  for (const std::size_t size :
       {65535u, 65536u, 65537u, 200'000u}) {  // around what is read at once
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(chance.Any());
    EXPECT_EQ(HashFile(Write("x", text)), HashText(text)) << size;
  }
}

TEST_F(Hashes, WhatCannotBeReadHasNone) {
  EXPECT_EQ(HashFile(Path("nothing")), "");
  EXPECT_EQ(HashFile(folder().string()), "");
}

TEST(TextTables, ColumnsAreAsWideAsTheirWidestCell) {
  TextTable table({"policy", "stp", "note"}, {0, 2});
  table.Add({"smk", "1.25", "x"});
  table.Add({"spatial-drain", "1", "longer"});
  EXPECT_EQ(table.ToString(),
            "policy          stp  note\n"
            "smk            1.25  x\n"
            "spatial-drain     1  longer\n");
}

TEST(TextTables, MissingCellsAreEmptyAndNoLineEndsWithSpaces) {
  TextTable table({"a", "b", "c"}, {0, 1, 2});
  table.Add({"x"});
  table.Add({"x", "", "z"});
  EXPECT_EQ(table.ToString(), "a  b  c\nx\nx     z\n");
}

TEST(TextTables, AHeaderAloneIsOneLine) { EXPECT_EQ(TextTable({"a", "b"}).ToString(), "a  b\n"); }

TEST(CacheFolders, TheFirstOfThreeThatIsThere) {
  const Environment home("HOME", "/h");
  {
    const Environment own("SMK_CACHE_DIR", "/own"), cache("XDG_CACHE_HOME", "/xdg");
    EXPECT_EQ(CacheFolder(), "/own");
  }
  {
    const Environment own("SMK_CACHE_DIR", std::nullopt), cache("XDG_CACHE_HOME", "/xdg");
    EXPECT_EQ(CacheFolder(), "/xdg/smk");
  }
  {
    const Environment own("SMK_CACHE_DIR", ""), cache("XDG_CACHE_HOME", "");
    EXPECT_EQ(CacheFolder(), "/h/.cache/smk") << "empty is not there";
  }
  const Environment own("SMK_CACHE_DIR", std::nullopt), cache("XDG_CACHE_HOME", std::nullopt);
  const Environment nobody("HOME", std::nullopt);
  EXPECT_EQ(CacheFolder(), "");
}

TEST(TomlFile, LeavesHaveTheirValuesAndPlaces) {
  const toml::table root =
      ParseToml("a = 1\n[b]\nc.d = [2,\n 3]\n\"e.f\" = 4\n[b.g]\nh = 5\n[i]\n", "x.toml");
  std::string all;
  for (const TomlLeaf& leaf : TomlLeaves(root, "x.toml", "k.")) {
    all += leaf.name + "=" + leaf.value + " " + leaf.place + "; ";
  }
  EXPECT_EQ(all,
            "a=1 x.toml:1: k.a; b.c.d=[ 2, 3 ] x.toml:3: k.b.c.d; b.e.f=4 x.toml:5: k.b.e.f; "
            "b.g.h=5 x.toml:7: k.b.g.h; ");
}

}  // namespace
}  // namespace smk::sim
