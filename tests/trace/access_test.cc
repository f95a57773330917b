// SPDX-License-Identifier: Apache-2.0
// Lines and sectors of an instruction of a trace.
#include "trace/access.h"

#include <gtest/gtest.h>

#include <set>

namespace smk {
namespace {

// One word at an offset of local memory, in the lanes of the mask.
TraceInstruction LocalWord(std::uint32_t mask, std::uint64_t offset = 0) {
  TraceInstruction instruction;
  instruction.mask = mask;
  instruction.lanes = static_cast<unsigned>(__builtin_popcount(mask));
  instruction.width = 4;
  instruction.address.fill(offset);
  return instruction;
}

// The word of lane n is the n-th of its line, whichever other lanes are active.
TEST(TraceAccess, ALaneHasItsOwnPlaceInALineOfLocalMemory) {
  const auto sectors = [](std::uint32_t mask) {
    const TraceLineSet lines = LinesOf(LocalWord(mask), TraceSpace::kLocal, 0, false);
    EXPECT_EQ(lines.count, 1u);
    return lines.sectors[0];
  };
  EXPECT_EQ(sectors(0xffffffff), kAllSectors);
  EXPECT_EQ(sectors(0x000000ff), 1u);
  EXPECT_EQ(sectors(0xff000000), 8u);
  EXPECT_EQ(sectors(0x80000000), 8u);
  EXPECT_EQ(sectors(0x00010100), 2u | 4u);
}

// Lanes that change the same word are in different transactions of its line, each with its sectors.
TEST(TraceAccess, AtomicsOnOneWordAreTransactionsOfTheirOwn) {
  TraceInstruction atomic = LocalWord(0xffffffff, 0x1000);
  const auto lines = [&atomic](bool is_atomic) {
    return LinesOf(atomic, TraceSpace::kGlobal, 0, is_atomic);
  };
  EXPECT_EQ(lines(false).count, 1u);
  EXPECT_EQ(lines(true).count, 32u) << "all on one word";
  for (unsigned i = 0; i < 32; ++i) atomic.address[i] = 0x1000 + i * 4;
  EXPECT_EQ(lines(true).count, 1u) << "each its own";
  EXPECT_EQ(lines(true).sectors[0], kAllSectors);
  for (unsigned i = 0; i < 32; ++i) atomic.address[i] = 0x1000 + i % 8 * 16;
  EXPECT_EQ(lines(true).count, 4u) << "four lanes on each of eight words";
  for (unsigned i = 0; i < 32; ++i) atomic.address[i] = 0x1000 + i % 31 * 128;
  EXPECT_EQ(lines(true).count, 32u) << "31 lines, one of them twice";
  EXPECT_EQ(lines(true).line[31], 0x1000u / 128);
  atomic = LocalWord(7, 0x1000);
  atomic.address[1] = 0x1040;
  const TraceLineSet two = lines(true);
  ASSERT_EQ(two.count, 2u) << "lane 2 wants the word of lane 0";
  EXPECT_EQ(two.sectors[0], 1u | 4u);
  EXPECT_EQ(two.sectors[1], 1u);
  atomic.width = 8;
  atomic.address[1] = 0x1004;
  EXPECT_EQ(lines(true).count, 3u) << "lane 1 overlaps both others";
}

TEST(TraceAccess, LocalMemoriesOf16384WarpsAreApart) {
  constexpr std::uint64_t kBytes = 16384;
  std::set<std::uint32_t> lines;
  for (std::uint64_t warp = 0; warp < 16384; ++warp) {
    for (const std::uint64_t offset : {std::uint64_t{0}, kBytes - 4}) {
      const TraceInstruction word = LocalWord(1, offset);
      const TraceLineSet found = LinesOf(word, TraceSpace::kLocal, warp, false);
      ASSERT_EQ(found.count, 1u);
      EXPECT_TRUE(lines.insert(found.line[0]).second) << warp << " " << offset;
      EXPECT_LT(found.line[0], std::uint32_t{1} << 29) << "64 GB";
      EXPECT_GE(found.line[0], std::uint32_t{7} << 26) << "the last 8 GB";
    }
  }
}

}  // namespace
}  // namespace smk
