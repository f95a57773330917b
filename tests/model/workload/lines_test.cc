// SPDX-License-Identifier: Apache-2.0
// The lines of a memory access, for each pattern of lanes.
#include <algorithm>
#include <set>

#include "model/workload/rig.h"

namespace smk {
namespace {

using LineList = std::vector<std::uint64_t>;

// Lines of the program's first access, relative to the array `a`, in numbers of lines.
LineList LinesOf(const std::string& access, unsigned tb = 0, unsigned warp = 0,
                 const std::string& arrays = "arrays = { a = 1_048_576 }", unsigned threads = 128) {
  TestFile file;
  file.arrays = arrays;
  file.threads = "threads = " + std::to_string(threads);
  file.program = "load_global v = " + access;
  const KernelSpec kernel = file.Parse()->kernels[0];
  LineList lines = Walk(kernel, TestWarp(kernel, tb, warp), true)[0].lines;
  for (std::uint64_t& line : lines) {
    EXPECT_EQ(line % kLineBytes, 0u);
    line /= kLineBytes;
  }
  return lines;
}

TEST(WorkloadLines, AlignedUnitStrideIsOneLine) {
  EXPECT_EQ(LinesOf("[a]"), LineList{0});
  EXPECT_EQ(LinesOf("[a + 256]"), LineList{2});
}

TEST(WorkloadLines, UnalignedUnitStrideIsTwoLines) {
  EXPECT_EQ(LinesOf("[a + 4]"), (LineList{0, 1}));
  EXPECT_EQ(LinesOf("[a + 124]"), (LineList{0, 1}));
}

TEST(WorkloadLines, WiderElementsTakeMoreLines) {
  EXPECT_EQ(LinesOf("[a] bytes 8"), (LineList{0, 1}));
  EXPECT_EQ(LinesOf("[a] bytes 16"), (LineList{0, 1, 2, 3}));
  EXPECT_EQ(LinesOf("[a] bytes 1"), LineList{0});
}

TEST(WorkloadLines, FewerLanesTakeFewerLines) {
  EXPECT_EQ(LinesOf("[a + 64] lanes 16"), LineList{0});
  EXPECT_EQ(LinesOf("[a + 64] lanes 17"), (LineList{0, 1}));
  EXPECT_EQ(LinesOf("[a + 124] lanes 1"), LineList{0});
}

TEST(WorkloadLines, OneAddressForAllLanesIsOneLine) {
  EXPECT_EQ(LinesOf("[a + 300] stride 0"), LineList{2});
}

TEST(WorkloadLines, StridesUpToALineAreContiguous) {
  EXPECT_EQ(LinesOf("[a] stride 24"), (LineList{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(LinesOf("[a + 100] stride 24").size(), 7u);
  EXPECT_EQ(LinesOf("[a] stride 128").size(), 32u);
}

TEST(WorkloadLines, LargeStridesTakeALinePerLane) {
  const LineList lines = LinesOf("[a] stride 256");
  ASSERT_EQ(lines.size(), 32u);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(lines[i], 2 * i);
  EXPECT_EQ(LinesOf("[a + 126] stride 256 lanes 2"), (LineList{0, 1, 2, 3}))
      << "a lane across two lines counts twice";
}

TEST(WorkloadLines, StridesBetweenLinesSkipLines) {
  EXPECT_EQ(LinesOf("[a] stride 192 lanes 4"), (LineList{0, 1, 3, 4}));
}

TEST(WorkloadLines, NegativeStridesGoDown) {
  EXPECT_EQ(LinesOf("[a + 1024] stride -4"), (LineList{8, 7}));
}

TEST(WorkloadLines, RowsOfLanesLieAPitchApart) {
  EXPECT_EQ(LinesOf("[a] rows 16 pitch 4224"), (LineList{0, 33}));
  EXPECT_EQ(LinesOf("[a] rows 8 pitch 1024"), (LineList{0, 8, 16, 24}));
  EXPECT_EQ(LinesOf("[a + 112] rows 8 pitch 1024"), (LineList{0, 1, 8, 9, 16, 17, 24, 25}));
  EXPECT_EQ(LinesOf("[a] rows 16 pitch 64"), LineList{0}) << "rows in the same line count once";
  EXPECT_EQ(LinesOf("[a + 4096] rows 16 pitch -1024"), (LineList{32, 24}));
}

TEST(WorkloadLines, OverlappingRowsCountOnce) {
  const LineList lines = LinesOf("[a] stride 64 rows 8 pitch 128");
  EXPECT_EQ(std::set<std::uint64_t>(lines.begin(), lines.end()).size(), lines.size());
  EXPECT_EQ(lines.size(), 7u);
}

TEST(WorkloadLines, NeverGivesMoreThan32) {
  EXPECT_EQ(LinesOf("[a + 120] stride 256 bytes 16").size(), 32u);
  EXPECT_EQ(LinesOf("[a + 4] stride 128").size(), 32u);
  EXPECT_EQ(LinesOf("[a + 4] bytes 128").size(), 32u);
}

TEST(WorkloadLines, AddressesFollowEveryVariable) {
  // The grid is 8 x 4 x 2: TB 45 is x 5, y 1, z 1.
  EXPECT_EQ(LinesOf("[a + tb*128]", 45), LineList{45});
  EXPECT_EQ(LinesOf("[a + tb.x*128 + tb.y*1280 + tb.z*12800]", 45), LineList{115});
  EXPECT_EQ(LinesOf("[a + warp*128 + 2*(3 + 1)*128 - 128]", 0, 3), LineList{10});
}

TEST(WorkloadLines, AddressesFollowLoopCounters) {
  const KernelSpec kernel = CompileTestKernel(
      "loop i 3 {\nloop j 2 {\nload_global v = [a + i*1280 + j*128]\n}\n}\nload_global v = [a]");
  LineList lines;
  for (const WalkedStep& step : Walk(kernel, TestWarp(kernel, 0, 0), true)) {
    for (const auto line : step.lines) lines.push_back(line / kLineBytes);
  }
  EXPECT_EQ(lines, (LineList{0, 1, 10, 11, 20, 21, 0}));
}

TEST(WorkloadLines, AccessesWrapToTheArray) {
  const std::string arrays = "arrays = { a = 1024 }";
  EXPECT_EQ(LinesOf("[a + tb*128] wrap", 9, 0, arrays), LineList{1});
  EXPECT_EQ(LinesOf("[a - 128] wrap", 0, 0, arrays), LineList{7});
  EXPECT_EQ(LinesOf("[a + 1024 - 64] wrap", 0, 0, arrays), (LineList{7, 0}))
      << "a range across the end goes on at the beginning";
  EXPECT_EQ(LinesOf("[a + 768] stride 128 lanes 8 wrap", 0, 0, arrays),
            (LineList{6, 7, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(LinesOf("[a + 896] rows 16 pitch 256 wrap", 0, 0, arrays), (LineList{7, 1}));
}

TEST(WorkloadLines, TheLastWarpHasOnlyItsThreads) {
  const std::string arrays = "arrays = { a = 4096 }";
  EXPECT_EQ(LinesOf("[a + warp*128 + 4]", 0, 2, arrays, 120), (LineList{2, 3}));
  EXPECT_EQ(LinesOf("[a + warp*128 + 4]", 0, 3, arrays, 120), LineList{3}) << "24 lanes";
  EXPECT_EQ(LinesOf("[a] gather 32 window 4K", 0, 3, arrays, 120).size(), 24u);
}

TEST(WorkloadLines, ArraysOfAProgramDoNotShareLines) {
  TestFile file;
  file.arrays = "arrays = { a = 100, b = 4, c = \"1K\" }";
  file.program =
      "load_global v = [a] lanes 25\nload_global v = [b] lanes 1\n"
      "load_global v = [c] bytes 16";
  const KernelSpec kernel = file.Parse()->kernels[0];
  std::set<std::uint64_t> lines;
  unsigned count = 0;
  for (const WalkedStep& step : Walk(kernel, TestWarp(kernel, 0, 0), true)) {
    lines.insert(step.lines.begin(), step.lines.end());
    count += static_cast<unsigned>(step.lines.size());
  }
  EXPECT_EQ(count, 6u);
  EXPECT_EQ(lines.size(), 6u);
}

TEST(WorkloadLines, TheProgramsBaseIsAdded) {
  const KernelSpec kernel = CompileTestKernel("load_global v = [a] gather 8 window 64K");
  WarpIdentity id = TestWarp(kernel, 0, 0);
  const LineList low = Walk(kernel, id, true)[0].lines;
  id.base = std::uint64_t{3} << 36;
  const LineList high = Walk(kernel, id, true)[0].lines;
  ASSERT_EQ(low.size(), high.size());
  for (std::size_t i = 0; i < low.size(); ++i) EXPECT_EQ(high[i], low[i] + id.base);
}

TEST(WorkloadLines, GathersAreDistinctAndInTheirWindow) {
  for (unsigned tb = 0; tb < 64; ++tb) {
    const LineList lines = LinesOf("[a + tb*8K] gather 20.5 window 8K", tb);
    const std::set<std::uint64_t> distinct(lines.begin(), lines.end());
    EXPECT_EQ(distinct.size(), lines.size());
    EXPECT_GE(*distinct.begin(), tb * 64);
    EXPECT_LT(*distinct.rbegin(), tb * 64 + 64);
  }
}

TEST(WorkloadLines, FarGathersAreDistinctToo) {
  for (unsigned tb = 0; tb < 64; ++tb) {
    const LineList lines =
        LinesOf("[a] gather 32 window 4K far 0.5", tb, 0, "arrays = { a = \"8K\" }");
    EXPECT_EQ(lines.size(), 32u);
    EXPECT_EQ(std::set<std::uint64_t>(lines.begin(), lines.end()).size(), lines.size());
  }
}

TEST(WorkloadLines, GathersWithOneSeedMeetAtTheSameLines) {
  const KernelSpec kernel = CompileTestKernel(
      "loop i 2 {\nload_global v = [a] gather 8 window 512K seed 3\n"
      "atomic_global v [a] gather 8 window 512K seed 3\nload_global w = [a] gather 8 window "
      "512K\n}");
  const auto steps = Walk(kernel, TestWarp(kernel, 0, 0), true);
  EXPECT_EQ(steps[0].lines, steps[1].lines);
  EXPECT_NE(steps[0].lines, steps[2].lines);
  EXPECT_NE(steps[0].lines, steps[3].lines) << "another trip, other lines";
  EXPECT_EQ(steps[3].lines, steps[4].lines);
}

TEST(WorkloadLines, AreTheSameWhenAskedAgain) {
  const KernelSpec kernel = CompileTestKernel("load_global v = [a] gather 8 window 64K far 0.1");
  const WarpIdentity id = TestWarp(kernel, 5, 1);
  EXPECT_EQ(Walk(kernel, id, true)[0].lines, Walk(kernel, id, true)[0].lines);
}

constexpr const char* kTiled = "arrays = { a = { width = 40, height = 9, bytes = 2 } }";

// 16 x 4 texels of 2 bytes to a line: three lines to a row of tiles.
TEST(WorkloadLines, TexelsComeInTiles) {
  EXPECT_EQ(LinesOf("[a x 0 y 0]", 0, 0, kTiled), (LineList{0, 1}));
  EXPECT_EQ(LinesOf("[a x 0 y 3] lanes 16", 0, 0, kTiled), LineList{0});
  EXPECT_EQ(LinesOf("[a x 0 y 4] lanes 16", 0, 0, kTiled), LineList{3});
  EXPECT_EQ(LinesOf("[a x 32 y 8] lanes 8", 0, 0, kTiled), LineList{8});
}

TEST(WorkloadLines, TileShapesOfAllTexels) {
  const auto shape = [](unsigned bytes) {
    const TileShape tiles = TileShape::Of(100, 100, bytes);
    return std::pair(1u << tiles.column_bits, 1u << tiles.row_bits);
  };
  EXPECT_EQ(shape(1), std::pair(16u, 8u));
  EXPECT_EQ(shape(2), std::pair(16u, 4u));
  EXPECT_EQ(shape(4), std::pair(8u, 4u));
  EXPECT_EQ(shape(8), std::pair(8u, 2u));
  EXPECT_EQ(shape(16), std::pair(4u, 2u));
}

TEST(WorkloadLines, TexelsOutsideAreThoseOfTheEdge) {
  EXPECT_EQ(LinesOf("[a x -100 y -5]", 0, 0, kTiled), LineList{0});
  EXPECT_EQ(LinesOf("[a x 100 y 100]", 0, 0, kTiled), LineList{8});
  EXPECT_EQ(LinesOf("[a x 8 y 0 - tb] lanes 1", 7, 0, kTiled), LineList{0});
}

TEST(WorkloadLines, LanesWalkThroughAWindow) {
  // Rows of 4 from (14, 2): columns 14 to 17, four rows.
  EXPECT_EQ(LinesOf("[a x 14 y 2] window 4 4", 0, 0, kTiled), (LineList{0, 1, 3, 4}));
  // Position 12 is the last row.
  EXPECT_EQ(LinesOf("[a x 14 y 2] window 4 4 from 12 lanes 2", 0, 0, kTiled), LineList{3});
  EXPECT_EQ(LinesOf("[a x 14 y 2] window 4 4 from 2 step 4", 0, 0, kTiled), (LineList{1, 4}));
  // Lanes behind the window are idle; an instruction touches one line at least.
  EXPECT_EQ(LinesOf("[a x 0 y 0] window 4 1 from 3", 0, 0, kTiled), LineList{0});
  EXPECT_EQ(LinesOf("[a x 30 y 0] window 4 1 from warp*4", 0, 1, kTiled), LineList{0});
}

// Sectors of the lines of the first access, each as four bits.
std::vector<unsigned> SectorsOfAccess(const std::string& access,
                                      const std::string& arrays = "arrays = { a = 1_048_576 }") {
  TestFile file;
  file.arrays = arrays;
  file.program = "load_global v = " + access;
  const KernelSpec kernel = file.Parse()->kernels[0];
  const WarpIdentity id = TestWarp(kernel, 0, 0);
  WarpCursor cursor;
  kernel.program->Start(id, &cursor);
  std::uint64_t lines[kMaxLines], again[kMaxLines];
  SectorMask sectors[kMaxLines];
  const Instruction& load = kernel.program->At(cursor);
  const unsigned n = kernel.program->Lines(load, id, cursor, lines, sectors);
  EXPECT_EQ(kernel.program->Lines(load, id, cursor, again), n) << "with sectors or without";
  EXPECT_TRUE(std::equal(lines, lines + n, again));
  return {sectors, sectors + n};
}

using Masks = std::vector<unsigned>;

TEST(WorkloadSectors, OfRunsAreThoseOfTheirBytes) {
  EXPECT_EQ(SectorsOfAccess("[a]"), Masks{15});
  EXPECT_EQ(SectorsOfAccess("[a + 4]"), (Masks{15, 1}));
  EXPECT_EQ(SectorsOfAccess("[a + 96]"), (Masks{8, 7}));
  EXPECT_EQ(SectorsOfAccess("[a + 40] stride 0"), Masks{2});
  EXPECT_EQ(SectorsOfAccess("[a + 64] lanes 9"), Masks{12});
  EXPECT_EQ(SectorsOfAccess("[a + 120] lanes 1"), Masks{8});
}

TEST(WorkloadSectors, OfStridesAreThoseOfTheLanes) {
  EXPECT_EQ(SectorsOfAccess("[a] stride 256 lanes 3"), (Masks{1, 1, 1}));
  EXPECT_EQ(SectorsOfAccess("[a + 32] stride 64 rows 4 pitch 4096 lanes 4"), (Masks{10, 10}));
  EXPECT_EQ(SectorsOfAccess("[a + 28] bytes 8 stride 4096 lanes 2"), (Masks{3, 3}));
  EXPECT_EQ(SectorsOfAccess("[a] rows 16 pitch 512"), (Masks{3, 3}));
}

TEST(WorkloadSectors, OfTexelsAreTheirPlacesInTheTiles) {
  // A row of a tile of 2-byte texels is a sector.
  EXPECT_EQ(SectorsOfAccess("[a x 0 y 2]", kTiled), (Masks{4, 4}));
  EXPECT_EQ(SectorsOfAccess("[a x 0 y 0] window 2 4", kTiled), Masks{15});
}

// As many sectors as the lanes of a line need side by side.
TEST(WorkloadSectors, OfGathersHoldTheirLanes) {
  for (const unsigned mask : SectorsOfAccess("[a] gather 32 window 64K")) {
    EXPECT_EQ(__builtin_popcount(mask), 1);
  }
  for (const unsigned mask : SectorsOfAccess("[a] gather 2 window 64K")) {
    EXPECT_GE(__builtin_popcount(mask), 2);
    EXPECT_LE(__builtin_popcount(mask), 3);
  }
  EXPECT_EQ(SectorsOfAccess("[a] gather 1 window 64K"), Masks{15});
}

}  // namespace
}  // namespace smk
