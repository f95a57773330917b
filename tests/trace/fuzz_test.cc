// SPDX-License-Identifier: Apache-2.0
// A short run of what tests/fuzz does at length: seeds are mutated at random and read.
#include "trace/fuzz.h"

#include <gtest/gtest.h>
#include <lzma.h>

#include <random>

#include "test_options.h"

namespace smk {
namespace {

using Random = std::mt19937_64;

std::size_t Below(Random* random, std::size_t count) { return (*random)() % count; }

// Words that a trace is made of.
std::string Word(Random* random) {
  static const char* const kWords[] = {
      "0",          "1",         "2",      "31",       "255",
      "4294967295", "-1",        "0x0",    "0xfff",    "ffffffff",
      "00000000",   "80000000",  "R0",     "R255",     "R256",
      "LDG.E",      "STS",       "EXIT",   "BAR.SYNC", "\n",
      "#END_TB\n",  "#BEGIN_TB", "warp =", "insts =",  "99999999999999999999",
      "(1,1,1)",    " ",         "\r",     ""};
  return kWords[Below(random, std::size(kWords))];
}

void Mutate(std::string* text, Random* random) {
  if (text->empty()) return;
  const std::size_t at = Below(random, text->size());
  const std::size_t n = std::min(Below(random, 40), text->size() - at);
  switch (Below(random, 6)) {
    case 0:
      (*text)[at] = static_cast<char>((*random)());
      break;
    case 1:
      text->erase(at, n);
      break;
    case 2:
      text->insert(at, text->substr(Below(random, text->size()), n));
      break;
    case 3:
      text->insert(at, Word(random));
      break;
    case 4: {  // a word for a word
      const std::size_t begin = text->find_last_of(" \n", at) + 1;
      const std::size_t end = std::min(text->find_first_of(" \n", begin), text->size());
      text->replace(begin, end - begin, Word(random));
      break;
    }
    default: {  // a line twice, or not at all
      const std::size_t begin = text->rfind('\n', at) + 1;
      const std::size_t end = std::min(text->find('\n', begin), text->size() - 1) + 1;
      const std::string line = text->substr(begin, end - begin);
      if (Below(random, 2) == 0) {
        text->erase(begin, end - begin);
      } else {
        text->insert(begin, line);
      }
      break;
    }
  }
}

TEST(TraceFuzz, SeedsAreGood) {
  for (const std::string& seed : TraceSeeds()) EXPECT_GT(ReadHostileTrace(seed, false), 0u) << seed;
}

TEST(TraceFuzz, MutatedTracesAreReadOrRefused) {
  Random random(GetTestOptions().seed);
  std::uint64_t good = 0, refused = 0;
  const std::vector<std::string> seeds = TraceSeeds();
  for (int round = 0; round < 30000; ++round) {
    std::string text = seeds[Below(&random, seeds.size())];
    for (std::size_t n = 1 + Below(&random, 4); n > 0; --n) Mutate(&text, &random);
    ++(ReadHostileTrace(text, false) != 0 ? good : refused);
  }
  EXPECT_GT(good, 500u) << "most mutations would be too coarse";
  EXPECT_GT(refused, 500u);
}

TEST(TraceFuzz, MutatedXzAndIndexes) {
  Random random(GetTestOptions().seed);
  const std::string seed = TraceSeeds()[0];
  std::string packed(4096 + seed.size(), '\0');
  std::size_t size = 0;
  ASSERT_EQ(lzma_easy_buffer_encode(
                6, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(seed.data()),
                seed.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()),
            LZMA_OK);
  packed.resize(size);
  EXPECT_GT(ReadHostileTrace(packed, true), 0u);
  TraceKernel kernel;
  kernel.nodes.resize(3);
  kernel.header.name = "name";
  kernel.unknown.resize(2);
  const std::vector<std::uint8_t> index = EncodeTraceIndex({kernel, kernel});
  for (int round = 0; round < 3000; ++round) {
    std::string text = packed;
    Mutate(&text, &random);
    ReadHostileTrace(text, true);
    text.assign(index.begin(), index.end());
    Mutate(&text, &random);
    ReadHostileIndex(text);
  }
}

}  // namespace
}  // namespace smk
