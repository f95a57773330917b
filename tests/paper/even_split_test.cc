// SPDX-License-Identifier: Apache-2.0
// [Warped-Slicer] Table III: TBs of each kernel in half of an SM's resources, column "Even", and
// the pairs of column "Dyn" that share an SM.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paper/slicer_applications.h"

namespace smk {
namespace {

struct Pair {
  const char* first;
  const char* second;
  unsigned first_tbs, second_tbs;
};

constexpr Pair kTable3[] = {
    {"DXT", "MVP", 4, 4}, {"DXT", "NN", 4, 4},  {"HOT", "MVP", 1, 4}, {"HOT", "NN", 1, 4},
    {"IMG", "MVP", 4, 4}, {"IMG", "NN", 4, 4},  {"MM", "MVP", 2, 4},  {"MM", "NN", 2, 4},
    {"DXT", "BFS", 4, 1}, {"DXT", "BLK", 4, 4}, {"DXT", "KNN", 4, 3}, {"DXT", "LBM", 4, 3},
    {"HOT", "BFS", 1, 1}, {"HOT", "BLK", 1, 4}, {"HOT", "KNN", 1, 3}, {"HOT", "LBM", 1, 3},
    {"IMG", "BFS", 4, 1}, {"IMG", "BLK", 4, 4}, {"IMG", "KNN", 4, 3}, {"IMG", "LBM", 4, 3},
    {"MM", "BFS", 2, 1},  {"MM", "BLK", 2, 4},  {"MM", "KNN", 2, 3},  {"MM", "LBM", 2, 3},
    {"DXT", "IMG", 4, 4}, {"HOT", "DXT", 1, 4}, {"HOT", "IMG", 1, 4}, {"MM", "DXT", 2, 4},
    {"MM", "HOT", 2, 1},  {"MM", "IMG", 2, 4},
};

// What a TB takes of an SM.
ResourceVector NeedOn(const SmConfig& sm, const std::string& name) {
  const KernelSpec& kernel = Application(name);
  return TbNeedOn(sm, kernel.threads, kernel.registers_per_thread, kernel.shared_memory);
}

unsigned TbsInHalf(const std::string& name, const SmConfig& sm) {
  const ResourceVector& limits = sm.limits;
  const ResourceVector half{static_cast<std::uint16_t>(limits.registers / 2),
                            static_cast<std::uint16_t>(limits.shared_memory / 2),
                            static_cast<std::uint16_t>(limits.threads / 2),
                            static_cast<std::uint16_t>(limits.tbs / 2)};
  return MaxTbs(NeedOn(sm, name), half);
}

// By both rules of what registers a TB takes, those of whole warps and those of its threads.
TEST(PaperEvenSplit, AllThirtyPairsOfTable3AreReproduced) {
  EXPECT_EQ(std::size(kTable3), 30u);
  for (const char* machine : {"fermi", "fermi-gpgpusim"}) {
    SCOPED_TRACE(machine);
    const SmConfig sm =
        MachineConfig::Load(fmt::format("{}/machines/{}.toml", SMK_SOURCE_DIR, machine)).sm;
    ASSERT_EQ(sm.limits, (ResourceVector{128, 192, 48, 8}));
    for (const Pair& pair : kTable3) {
      SCOPED_TRACE(fmt::format("{}+{}", pair.first, pair.second));
      EXPECT_EQ(TbsInHalf(pair.first, sm), pair.first_tbs);
      EXPECT_EQ(TbsInHalf(pair.second, sm), pair.second_tbs);
    }
  }
}

constexpr Pair kDynamic[] = {
    {"DXT", "MVP", 7, 1}, {"DXT", "NN", 4, 4},  {"HOT", "MVP", 3, 1}, {"HOT", "NN", 2, 4},
    {"IMG", "MVP", 7, 1}, {"IMG", "NN", 3, 5},  {"MM", "MVP", 5, 1},  {"MM", "NN", 3, 5},
    {"DXT", "BFS", 6, 2}, {"DXT", "BLK", 4, 4}, {"DXT", "KNN", 4, 4}, {"DXT", "LBM", 5, 3},
    {"HOT", "BLK", 2, 4}, {"HOT", "KNN", 2, 4}, {"HOT", "LBM", 3, 1}, {"IMG", "BFS", 6, 2},
    {"IMG", "BLK", 5, 3}, {"IMG", "KNN", 4, 4}, {"IMG", "LBM", 7, 1}, {"MM", "BLK", 3, 4},
    {"MM", "KNN", 4, 4},  {"MM", "LBM", 5, 1},  {"DXT", "IMG", 4, 4}, {"HOT", "DXT", 2, 6},
    {"HOT", "IMG", 2, 6}, {"MM", "DXT", 3, 5},  {"MM", "HOT", 2, 2},  {"MM", "IMG", 3, 5},
};

// Whether the TBs of a pair are in an SM together.
bool Together(const Pair& pair, const SmConfig& sm) {
  ResourceVector taken;
  for (const auto& [name, tbs] :
       {std::pair(pair.first, pair.first_tbs), std::pair(pair.second, pair.second_tbs)}) {
    for (unsigned i = 0; i < tbs; ++i) taken += NeedOn(sm, name);
  }
  return FitsIn(taken, sm.limits);
}

// The two pairs that are not here have no SM together.
TEST(PaperSlicerTable3, DynamicPairsFitWhenThreadsTakeTheRegisters) {
  MachineConfig machine = SlicerMachine();
  ASSERT_EQ(machine.sm.register_allocation, "threads");
  for (const Pair& pair : kDynamic) {
    EXPECT_TRUE(Together(pair, machine.sm)) << pair.first << "+" << pair.second;
  }
  machine.sm.register_allocation = "warps";
  std::string too_large;
  for (const Pair& pair : kDynamic) {
    if (!Together(pair, machine.sm)) too_large += std::string(pair.first) + "+" + pair.second + " ";
  }
  EXPECT_EQ(too_large, "HOT+NN MM+NN HOT+BLK MM+BLK ");
}

}  // namespace
}  // namespace smk
